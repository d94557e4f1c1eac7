import type { Pull } from "../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../core/base/bounded.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import type { Time } from "../../core/base/time.ts";
import type { ObservedPull } from "../../core/run/state/world.ts";

const MOST_KEPT = 1000;

type Refusal = NonNullable<ObservedPull["refusal"]>;

/** The PRs of batches as this process last saw them, and what came of its calls. Each is known by the branch of its batch. */
export interface BatchPulls {
  see(branch: string, pull: Pull): void;
  byNumber(number: number): Pull | undefined;
  /** Heads of those that were open. */
  openHeads(): string[];
  /** Whether a merge call at this head was refused with words that hold these. */
  isRefusedFor(head: string, words: string): boolean;
  /** The last refusal of a merge call at this head. */
  refusalOf(branch: string, head: string): Refusal | undefined;
  /** undefined takes it back. */
  refuse(branch: string, head: string, refusal: Refusal | undefined): void;
  /** Its PR, or its move, was asked for by this process. */
  isProposed(branch: string): boolean;
  /** Why GitHub refused to have its PR opened when it was last asked, and since when. */
  unopened(branch: string): Unopened | undefined;
  refuseOpening(branch: string, because: AnyReason, at: Time): void;
  /** It was opened, or somebody is to look at it first. */
  forgetOpening(branch: string): void;
  propose(branch: string): void;
}

interface Unopened {
  since: Time;
  because: AnyReason;
}

export function openBatchPulls(): BatchPulls {
  const unopened = new BoundedMap<string, Unopened>(MOST_KEPT);
  const seen = new BoundedMap<string, Pull>(MOST_KEPT);
  const refusals = new BoundedMap<string, Refusal>(MOST_KEPT);
  const proposed = new BoundedSet<string>(MOST_KEPT);
  return {
    see: (branch, pull) => void seen.set(branch, pull),
    byNumber: (number) => [...seen.values()].find((pull) => pull.number === number),
    openHeads: () => [...seen.values()].flatMap((pull) => (pull.state === "open" ? [pull.head] : [])),
    isRefusedFor: (head, words) =>
      [...seen.values()].some((pull) => pull.head === head && refusals.get(`${pull.branch}@${head}`)?.message.includes(words) === true),
    refusalOf: (branch, head) => refusals.get(`${branch}@${head}`),
    refuse(branch, head, refusal) {
      if (refusal === undefined) refusals.delete(`${branch}@${head}`);
      else refusals.set(`${branch}@${head}`, refusal);
    },
    unopened: (branch) => unopened.get(branch),
    refuseOpening: (branch, because, at) => void unopened.set(branch, { since: unopened.get(branch)?.since ?? at, because }),
    forgetOpening: (branch) => void unopened.delete(branch),
    isProposed: (branch) => proposed.has(branch),
    propose: (branch) => void proposed.add(branch),
  };
}
