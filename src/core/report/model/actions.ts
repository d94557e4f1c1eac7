/**
 * What a person may do now. The core judges each command as if somebody with every right had just given it, so that what is offered is what
 * will be done, and what is not says why in the words of the refusal. Called by `run-model.ts`.
 */
import { causesOf } from "../../base/reason.ts";
import { iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { applyCommands } from "../../run/commands/apply-commands.ts";
import { promotableWaits } from "../../run/commands/promotable.ts";
import { notApprovers } from "../../run/gates/approval.ts";
import { openDraft } from "../../run/state/draft.ts";
import { clusterName } from "../../run/state/names.ts";
import { isEnded, type Run } from "../../run/state/run.ts";
import type { World } from "../../run/state/world.ts";
import { type Command, type CommandName, commandSpec } from "../../spec/commands.ts";
import { plainSentence } from "../reasons/say.ts";
import { type Context, saidOf } from "./context.ts";
import { effectNow, effectOnClusters } from "./effects.ts";
import type { Action } from "./types.ts";

/** Of the whole run, in the order in which they are offered. */
const OF_RUN: readonly CommandName[] = ["promote", "retry", "resume", "pause", "rollback", "abort"];
const OF_CLUSTER: readonly CommandName[] = ["requeue", "skip"];
/** Of more clusters a person names them. */
const MOST_NAMED = 5;
/** Somebody who may approve has to say it: that is no reason not to offer it. */
const WANTS_APPROVER: ReadonlySet<string> = new Set([
  "APPROVER_TEAMS_UNSEEN",
  "APPROVER_IN_NO_TEAM",
  "APPROVER_RELEASED",
  "APPROVER_MERGED",
]);

const NOTHING_SEEN: World = {
  base: { commit: "" },
  pulls: new Map(),
  guards: new Map(),
  targets: new Map(),
  clusters: new Map(),
  clustersKnown: false,
  commands: [],
};

/** `failed`: its clusters that have, as people call them: whoever steers it may leave them out, or put them off. */
export function actionsOfRun(context: Context, failed: readonly string[]): Action[] {
  const { run } = context;
  // What stands still can be held besides, which nobody wants who looks for a way on.
  const verbs = OF_RUN.filter((verb) => verb !== "pause" || run.phase !== "Paused");
  const ofClusters = failed.length === 0 || failed.length > MOST_NAMED || isEnded(run) ? [] : OF_CLUSTER;
  return [...verbs.map((verb) => actionOf(context, verb, [])), ...ofClusters.map((verb) => actionOf(context, verb, [...failed]))];
}

/** Of a cluster that is not where it shall be; nothing once the run is over. */
export function actionsOfCluster(context: Context, cluster: string): Action[] {
  return isEnded(context.run) ? [] : OF_CLUSTER.map((verb) => actionOf(context, verb, [clusterName(context.run, cluster)]));
}

function actionOf(context: Context, verb: CommandName, args: string[]): Action {
  const { who, summary } = commandSpec(verb);
  const { run: after, answer } = triedOut(context.run, verb, args, context.now);
  const refusal = refusalIn(answer);
  const base = { verb, args, effect: summary.replaceAll("`", ""), needs: who };
  if (refusal !== undefined) return { ...base, allowed: false, whyNot: saidOf(context, refusal) };
  const effect = OF_CLUSTER.includes(verb) ? effectOnClusters(context.run, verb, args, after) : effectNow(context.run, verb);
  const notBy = verb === "promote" ? notByOf(context) : [];
  return { ...base, ...effect, allowed: true, ...(notBy.length > 0 && { notBy }) };
}

/** Of an approval that is waited for. What has been approved waits for something else, which they may end. */
function notByOf({ run }: Context): NonNullable<Action["notBy"]> {
  const batch = run.batches[(promotableWaits(run)[0]?.batch ?? 0) - 1];
  if (batch === undefined || !causesOf(batch.why).some(({ code }) => code === "APPROVAL_WANTED")) return [];
  return notApprovers(run, batch.stage).map(({ by, code }) => ({ login: by, says: plainSentence(runReason(code, { by }), run) }));
}

/** The run as it would be by it, and what its author would be answered. */
function triedOut(run: Run, name: CommandName, args: string[], now: number) {
  const at = iso(now);
  const command: Command = { id: "offered#0", name, args, flags: {}, text: "", actor: "", permission: "admin", createdAt: at };
  // What is offered is shown by that.
  const shown = promotableWaits(run).map((wait) => ({ ...wait, shownAt: run.startedAt }));
  const draft = openDraft({ ...run, shown }, { ...NOTHING_SEEN, commands: [command] }, now);
  applyCommands(draft);
  return { run: draft.run, answer: draft.effects.find((effect) => effect.kind === "Answer") };
}

function refusalIn(answer: ReturnType<typeof triedOut>["answer"]) {
  return answer?.outcome !== "refused" || WANTS_APPROVER.has(answer.message.code) ? undefined : answer.message;
}
