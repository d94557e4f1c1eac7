import type { Mirror } from "../git/port.ts";
import type { Guard } from "../rollout/world.ts";
import type { RenderedSpecs } from "./appset-in-git.ts";
import type { RefusedRelease } from "./refused-releases.ts";
import { type Snapshot, snapshotCache } from "./snapshot.ts";

/**
 * What a process remembers of a repo between rounds. All of it may be lost at any moment: it saves work and widens what
 * can be shown, and nothing is decided by it that could not be found out again.
 */
export interface RepoMemory {
  snapshot(id: string): Snapshot;
  /**
   * Heads of the remote as last asked for. `dirty`: something was heard that may have moved them. Between words of the
   * remote a round works with these; a merge asks anew right before it.
   */
  remote: { dirty: boolean; at: number; branch: string | undefined; base: string | undefined; journal: string | undefined };
  /** The base the last round looked at. */
  previousBase: string | undefined;
  /** Comments on their way, by PR: they follow the rounds and hold none up. */
  publishing: Map<number, Promise<void>>;
  /** `branch@head` → the last refusal of a merge call. */
  refusals: Map<string, { kind: "Retry" | "Wait" | "Human"; message: string }>;
  /** Answers of pure questions about commits, by question. Commits never change, so neither do these. */
  facts: Map<string, boolean>;
  /** Branch → the last answer of the render guard, and what it was an answer to. */
  guards: Map<string, { key: string; guard: Guard }>;
  /** `base branch` → pins of a batch's targets at that base. */
  pins: Map<string, Map<string, (string | null)[]>>;
  /** `rollout commit` → what the ApplicationSet yields there, for the fleet it was rendered with. */
  renders: Map<string, { fleet: string; specs: RenderedSpecs | undefined }>;
  /** PR → body last rendered for its sticky comment, and when it was sent. */
  comments: Map<string, { body: string; at: number }>;
  /** Branches whose PR was asked for by this process. */
  proposed: Set<string>;
  /** Releases that cannot start because of an error on this base. */
  refused: { base: string | undefined; found: readonly RefusedRelease[] };
  /** Rollout → effects that failed in a row, and when they may be tried again. */
  troubles: Map<string, { count: number; until: number }>;
  /** Rollout → when an observation was last recorded. */
  observedAt: Map<string, number>;
}

export function repoMemory(mirror: Mirror): RepoMemory {
  return {
    snapshot: snapshotCache(mirror),
    remote: { dirty: true, at: 0, branch: undefined, base: undefined, journal: undefined },
    previousBase: undefined,
    publishing: new Map(),
    refusals: new Map(),
    facts: new Map(),
    guards: new Map(),
    pins: new Map(),
    renders: new Map(),
    comments: new Map(),
    proposed: new Set(),
    refused: { base: undefined, found: [] },
    troubles: new Map(),
    observedAt: new Map(),
  };
}

/** Remembers the answer of a question about immutable things; bounded. */
export async function fact(memory: RepoMemory, question: string, ask: () => Promise<boolean>): Promise<boolean> {
  const known = memory.facts.get(question);
  if (known !== undefined) return known;
  const answer = await ask();
  if (memory.facts.size > 10_000) memory.facts.clear();
  memory.facts.set(question, answer);
  return answer;
}
