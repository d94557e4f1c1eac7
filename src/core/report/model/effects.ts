/** What a command of the whole run would do just now, of all that its verb may mean. Called by `actions.ts`. */
import { count } from "../../base/count.ts";
import { badChecks } from "../../run/checks/judge.ts";
import { promotableWaits, waitNamed } from "../../run/commands/promotable.ts";
import { wantsApproval } from "../../run/gates/approval.ts";
import { failedClusters, unacceptedFailures } from "../../run/outcome/failures.ts";
import { planRollback } from "../../run/outcome/rollback.ts";
import type { PromotableWait } from "../../run/state/promotable-types.ts";
import type { Run } from "../../run/state/run.ts";
import type { CommandName } from "../../spec/commands.ts";
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
  if (wait.kind !== "pull") return { does, effect: `${does.replace(/^end/, "ends")}; its clusters have to be healthy all the same` };
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
    "cluster",
  );
  return { does: `put ${clusters} back`, effect: `ends the run and puts the old values of ${clusters} back, in reverse order` };
}

function aborting(run: Run): Effect {
  const open = run.batches.flatMap(({ phase, pull }) =>
    phase === "Open" && pull !== undefined && pull.number > 0 ? [`#${pull.number}`] : [],
  );
  const closes = open.length === 0 ? "" : ` and closes ${open.join(", ")}`;
  return { does: "end the run", effect: `ends the run${closes}; what is updated stays` };
}
