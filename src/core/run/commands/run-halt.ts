import { iso, parseDuration } from "../../base/time.ts";
import type { Command } from "../../spec/command.ts";
import { haltCovers, haltsNow, isOn } from "../gates/halt.ts";
import { type Halt, isEnded, type Run } from "../state/run.ts";
import { change, type Draft } from "../state/run-draft.ts";
import { clustersOf, liveTargets } from "../state/run-names.ts";
import { done, type Reply, refused } from "./run-obey.ts";
import { mergeUnderWay } from "./run-steer.ts";

const MOST_CLUSTERS = 200;

/** `/halt [cluster=A,B] [--for 2h] reason` · `/halt --off [cluster=A,B]`. Written on one rollout's PR, it binds every run of the repo. */
export function haltCommand(draft: Draft, command: Command): Reply {
  const scoped = command.args.filter((arg) => arg.startsWith("cluster="));
  const clusters = [...new Set(scoped.flatMap((arg) => arg.slice("cluster=".length).split(",")).filter((name) => name !== ""))];
  if (clusters.length > MOST_CLUSTERS) return refused(`at most ${MOST_CLUSTERS} clusters in one halt; without cluster= it is for all`);
  if (scoped.length > 0 && clusters.length === 0) return refused("cluster= names no cluster: `/halt cluster=eu-1,eu-2 reason`");
  if (command.flags["off"] !== undefined) return lift(draft, command, clusters);
  const reason = command.args.filter((arg) => !arg.startsWith("cluster=")).join(" ");
  if (reason === "") return refused("say why: `/halt cluster=eu-1 --for 2h network maintenance`");
  const { for: text } = command.flags;
  const ms = text === undefined ? undefined : parseDuration(text === true ? "" : text);
  if (text !== undefined && ms === undefined) return refused(`--for wants a duration such as 30m or 2h, not "${String(text)}"`);
  const known = draft.run.halts?.find((one) => one.command === command.id);
  const ends = ms === undefined ? {} : { until: iso(draft.now + ms) };
  const halt: Halt = known ?? { clusters, reason, by: command.actor, at: draft.at, ...ends, command: command.id };
  if (known === undefined) change(draft, { halts: [...keep(draft.run, draft.now), halt] }, `${named(clusters)} halted by ${command.actor}`);
  // What is being merged cannot be halted any more: it is waited for, so that the answer is true when it is given.
  if (touchesMerge(draft, halt)) {
    mergeUnderWay(draft, command);
    return "later";
  }
  // Runs that were decided before this one learn of it in the next round, and fence their pull requests before it is answered there.
  if (known === undefined && draft.world.others?.some((run) => !isEnded(run)) === true) return "later";
  const until = halt.until === undefined ? "until `/halt --off`" : `until ${halt.until}`;
  return done(`no run of this repo merges a change for ${named(clusters)} ${until}`);
}

/** A merge of what it covers may be under way, in whatever run of the repo. */
function touchesMerge(draft: Draft, halt: Halt): boolean {
  const { others } = draft.world;
  if (others === undefined) return true;
  return [draft.run, ...others].some((run) => {
    const merging = run.batches.filter((batch) => batch.intention !== undefined && batch.merged === undefined);
    return merging.some((batch) => clustersOf(liveTargets(batch)).some((cluster) => haltCovers(halt, run, cluster)));
  });
}

/** Lifts halts that this rollout's PR was used for; with clusters, only what was said of exactly them. */
function lift(draft: Draft, command: Command, clusters: readonly string[]): Reply {
  const mine = keep(draft.run, draft.now);
  const same = (halt: Halt) =>
    clusters.length === 0 || (halt.clusters.length === clusters.length && clusters.every((name) => halt.clusters.includes(name)));
  const left = mine.filter((halt) => !same(halt));
  if (left.length === mine.length) {
    const elsewhere = haltsNow(draft).length > mine.length ? "; one of another rollout is lifted on that rollout's pull request" : "";
    return refused(
      `no halt${clusters.length === 0 ? "" : ` of ${named(clusters)}`} was made on a pull request of ${draft.run.rollout}${elsewhere}`,
    );
  }
  change(draft, { halts: left }, `halt of ${named(clusters)} lifted by ${command.actor}`);
  return done(`the halt of ${named(clusters)} is lifted`);
}

function keep(run: Run, now: number): Halt[] {
  return (run.halts ?? []).filter((halt) => isOn(halt, now));
}

/** The halts that the rollout's next run takes over. */
export function haltsToCarry(run: Pick<Run, "halts"> | undefined, now: number): Halt[] {
  return (run?.halts ?? []).filter((halt) => isOn(halt, now));
}

function named(clusters: readonly string[]): string {
  return clusters.length === 0 ? "every cluster" : clusters.join(", ");
}
