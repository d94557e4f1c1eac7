/** What a command would do just now, of all that its verb may mean. Called by `actions.ts`. */
import { count } from "../../base/count.ts";
import { badChecks } from "../../run/checks/judge.ts";
import { movedPlace, type Place, placeOf } from "../../run/commands/clusters.ts";
import { promotableWaits, waitNamed } from "../../run/commands/promotable.ts";
import { wantsApproval } from "../../run/gates/approval.ts";
import { failedClusters, unacceptedFailures } from "../../run/outcome/failures.ts";
import { planRollback } from "../../run/outcome/rollback.ts";
import { clusterKey, stageOf } from "../../run/state/names.ts";
import type { PromotableWait } from "../../run/state/promotable-types.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import type { CommandName } from "../../spec/commands.ts";
import { countedWord, countedWords } from "../counted.ts";
import { endPhrase } from "../reasons/phrases.ts";
import { namesOf } from "../reasons/say.ts";
import type { Action } from "./types.ts";

type Effect = Pick<Action, "effect"> & Partial<Pick<Action, "does" | "needs" | "pull">>;

/** undefined: what the table of commands says of it is as near as one can come. */
export function effectNow(run: Run, verb: CommandName): Effect | undefined {
  switch (verb) {
    case "promote":
      return promoting(run);
    case "retry":
      return retrying(run);
    case "resume":
      return resuming(run);
    case "pause":
      return { does: "pause the run", effect: "nothing merges until /resume" };
    case "rollback":
      return goingBack(run);
    case "abort":
      return aborting(run);
    default:
      return undefined;
  }
}

/** Of `/skip` and `/requeue`, cluster by cluster. `after`: the run as it is once that is done. */
export function effectOnClusters(run: Run, verb: CommandName, args: readonly string[], after: Run): Effect {
  const keys = args.flatMap((name) => {
    const found = clusterKey(run, name);
    return "error" in found ? [] : [found.key];
  });
  const places = keys.map((cluster) => movedPlace(run, placeOf(run, cluster)));
  const names = namesOf(run).clusters(keys, keys.length);
  const goesOn = run.paused === undefined ? "" : after.paused === undefined ? "; then the run goes on" : "; the run stays paused";
  const closes = closing(places);
  if (verb === "skip") {
    const effect = `leaves ${names} out of this run${standing(places)}${closes}${goesOn}`;
    return { does: `leave ${names} out`, effect };
  }
  const back = after.batches.slice(run.batches.length).filter(({ kind }) => kind === "Revert");
  const by = run.spec.delivery.strategy === "Commit" ? "in a batch of its own" : "by a pull request of its own";
  const first = back.length === 0 ? "" : `puts ${namesOf(run).clusters(clustersIn(back), keys.length)} back to what it had, ${by}, and `;
  const stages = [...new Set(places.map(({ cluster, batch }) => run.plan.stages[batch?.stage ?? stageOf(run, cluster) ?? 0]?.name ?? ""))];
  const end = stages.map((name) => `stage "${name}"`).join(", ");
  const effect = `${first}tries ${back.length === 0 ? names : "the release there again"} at the end of ${end}${closes}${goesOn}`;
  return { does: `${back.length === 0 ? "put off" : "put back"} ${names} and try it last`, effect };
}

/** What stands there from then on. */
function standing(places: readonly Place[]): string {
  const merged = places.filter(({ batch }) => batch?.merged !== undefined).length;
  if (merged === 0) return "";
  const each = places.length === 1 ? "it keeps" : merged === places.length ? "they keep" : "those that are merged keep";
  return `: ${each} what is merged, and nothing waits for ${places.length === 1 ? "it" : "them"} any more`;
}

/** Their open pull requests are made again without them. */
function closing(places: readonly Place[]): string {
  const open = places.flatMap(({ batch }) =>
    batch?.merged === undefined && batch?.pull !== undefined && batch.pull.number > 0 ? [`#${batch.pull.number}`] : [],
  );
  return open.length === 0
    ? ""
    : `; ${[...new Set(open)].join(", ")} is closed and made again without ${places.length === 1 ? "it" : "them"}`;
}

function clustersIn(batches: readonly Batch[]): string[] {
  return [...new Set(batches.flatMap(({ targets }) => targets.map(({ cluster }) => cluster)))];
}

function promoting(run: Run): Effect | undefined {
  const [wait] = promotableWaits(run);
  if (wait === undefined) return undefined;
  const batch = run.batches[wait.batch - 1];
  const does = endPhrase(waitNamed(run, wait));
  // There it is for this batch alone, whatever was over a moment ago.
  const pull = batch?.pull === undefined || batch.pull.number === 0 ? undefined : batch.pull.number;
  return { ...promotingAt(run, wait, does), pull };
}

function promotingAt(run: Run, wait: PromotableWait, does: string): Effect {
  const batch = run.batches[wait.batch - 1];
  if (wait.kind !== "pull")
    return { does, effect: `${does.replace(/^end/, "ends")}; its ${countedWords(run.plan)} have to be healthy all the same` };
  if (batch === undefined || wantsApproval(run, batch) === undefined)
    return { does, effect: `${does.replace(/^let/, "lets")} once GitHub allows it` };
  const stage = run.plan.stages[batch.stage]?.name ?? "";
  return {
    does: `approve stage "${stage}"`,
    effect: `approves stage "${stage}" for this run; health, windows and halts hold all the same`,
  };
}

function retrying(run: Run): Effect {
  const failed = failedClusters(run);
  if (failed.size === 0) return { does: "ask again what failed", effect: "the run goes on, and what failed is asked again" };
  const names = namesOf(run).clusters(failed);
  return {
    does: `look at ${names} again`,
    effect: `the run goes on where it failed: ${names} ${failed.size === 1 ? "is" : "are"} looked at anew`,
  };
}

function resuming(run: Run): Effect {
  const failed = run.paused?.kind === "Failure" ? unacceptedFailures(run) : [];
  const gates = run.paused?.kind === "Failure" ? badChecks(run).length : 0;
  if (failed.length + gates === 0) return { does: "go on", effect: "the run goes on" };
  const names = failed.length === 0 ? "what was measured" : namesOf(run).clusters(failed);
  return {
    does: `go on, with ${names} as failed`,
    effect: `the run goes on, and ${names} ${failed.length > 1 ? "stay" : "stays"} as failed`,
    needs: "maintain",
  };
}

function goingBack(run: Run): Effect | undefined {
  const back = planRollback(run);
  if ("error" in back) return undefined;
  const clusters = count(
    back.plan.stages.reduce((sum, stage) => sum + stage.clusters.length, 0),
    countedWord(run.plan),
  );
  return { does: `put ${clusters} back`, effect: `ends the run and puts the old values of ${clusters} back, in reverse order` };
}

function aborting(run: Run): Effect {
  const open = run.batches.flatMap(({ phase, pull }) =>
    phase === "Open" && pull !== undefined && pull.number > 0 ? [`#${pull.number}`] : [],
  );
  const closes = open.length === 0 ? "" : ` and closes ${open.join(", ")}`;
  return { does: "end the run", effect: `ends the run${closes}; nothing is put back` };
}
