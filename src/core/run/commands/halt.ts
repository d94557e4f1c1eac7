import { defined } from "../../base/defined.ts";
import { iso, parseDuration } from "../../base/time.ts";
import type { Command } from "../../spec/commands.ts";
import { change, type Draft } from "../state/draft.ts";
import { haltCovers, haltsNow, haltsOn } from "../state/halts.ts";
import { clustersOf, liveTargets } from "../state/names.ts";
import { done, type Reply, refuse, tooEarly } from "../state/reply.ts";
import { type Halt, isEnded } from "../state/run.ts";
import { commentOf } from "./order.ts";
import { mergeUnderWay } from "./steer.ts";

const MOST_CLUSTERS = 200;

/** `/halt [cluster=A,B] [--for 2h] reason` · `/halt --off [cluster=A,B]`. Written on one rollout's PR, it binds every run of the repo. */
export function haltCommand(draft: Draft, command: Command): Reply {
  const scoped = command.args.filter((arg) => arg.startsWith("cluster="));
  const clusters = [...new Set(scoped.flatMap((arg) => arg.slice("cluster=".length).split(",")).filter((name) => name !== ""))];
  if (clusters.length > MOST_CLUSTERS) return refuse({ code: "HALT_TOO_MANY", most: MOST_CLUSTERS });
  if (scoped.length > 0 && clusters.length === 0) return refuse({ code: "HALT_NAMES_NONE" });
  if (command.flags["off"] !== undefined) return lift(draft, command, clusters);
  const reason = command.args.filter((arg) => !arg.startsWith("cluster=")).join(" ");
  if (reason === "") return refuse({ code: "HALT_WANTS_REASON" });
  const { for: text } = command.flags;
  const ms = text === undefined ? undefined : parseDuration(text === true ? "" : text);
  if (text !== undefined && ms === undefined) return refuse({ code: "DURATION_INVALID", text: String(text) });
  const known = draft.run.halts?.find((one) => one.command === command.id);
  const ends = ms === undefined ? {} : { until: iso(draft.now + ms) };
  const halt: Halt = known ?? { clusters, reason, by: command.actor, at: draft.at, ...ends, command: command.id };
  if (known === undefined)
    change(draft, { halts: [...haltsOn(draft.run, draft.now), halt] }, { code: "HALTED_BY", clusters, by: command.actor });
  // What is being merged cannot be halted any more: it is waited for, so that the answer is true when it is given.
  if (touchesMerge(draft, halt)) {
    mergeUnderWay(draft, command);
    return "later";
  }
  // Runs that were decided before this one learn of it in the next round, and fence their pull requests before it is answered there.
  if (known === undefined && draft.world.others?.some((run) => !isEnded(run)) === true) return "later";
  return done(defined({ code: "HALT_DONE" as const, clusters, until: halt.until }));
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
  const mine = haltsOn(draft.run, draft.now);
  const same = (halt: Halt) =>
    clusters.length === 0 || (halt.clusters.length === clusters.length && clusters.every((name) => halt.clusters.includes(name)));
  const left = mine.filter((halt) => !same(halt) || isLater(draft, halt, command));
  if (left.length === mine.length) {
    if (mine.some(same)) return refuse({ code: "COMMAND_TOO_EARLY", before: "halt" });
    const elsewhere = haltsNow(draft).length > mine.length;
    return refuse({ code: "HALT_NOT_FOUND", clusters, rollout: draft.run.rollout, elsewhere });
  }
  change(draft, { halts: left }, { code: "HALT_LIFTED_BY", clusters, by: command.actor });
  return done({ code: "HALT_LIFTED", clusters });
}

/** Whether a halt was said after the command that would lift it, which may have waited long to be judged. */
function isLater({ world }: Draft, halt: Halt, command: Command): boolean {
  const { command: id } = halt;
  if (id !== undefined && commentOf({ id }) === commentOf(command)) return placeOf(id) > placeOf(command.id);
  return tooEarly(command, world.commands.find((one) => one.id === id)?.createdAt ?? halt.at);
}

/** Of a command within its comment. */
function placeOf(id: string): number {
  return Number(id.slice(id.lastIndexOf("#") + 1));
}
