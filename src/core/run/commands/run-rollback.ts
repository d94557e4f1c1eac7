import { text } from "../../base/reason.ts";
import type { Command } from "../../spec/command.ts";
import { planRollback } from "../outcome/rollback.ts";
import { endSoon } from "../start.ts";
import { isEnded } from "../state/run.ts";
import { change, type Draft } from "../state/run-draft.ts";
import { nameList } from "../state/run-names.ts";
import { done, type Reply, refused } from "./run-obey.ts";
import { mergeUnderWay } from "./run-steer.ts";

/** `/rollback [--to VERSION]`: of a run in progress or of one long over. A run of its own follows, once nothing of this one is open. */
export function rollbackCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (run.kind === "Rollback")
    return refused("this run is a rollback itself; `/abort` ends it, and a release of the version you want goes forward again");
  if (run.rollback !== undefined) return refused(`it is being rolled back already, as asked by ${run.rollback.by}`);
  const { to } = command.flags;
  if (to === true) return refused("--to wants a version: `/rollback --to v1.4.1`");
  const back = planRollback(run, to);
  if ("error" in back) return refused(back.error);
  if (run.ending !== undefined) return refused(`the run is ending: ${text(run.ending.reason)}`);
  if (!isEnded(run) && mergeUnderWay(draft, command)) return "later";
  const reason = `@${command.actor} rolled it back${to === undefined ? "" : ` to ${to}`}`;
  const asked = { by: command.actor, reason, at: draft.at, ...(to === undefined ? {} : { to }) };
  const clusters = back.plan.stages.flatMap((stage) => stage.clusters);
  const left =
    back.left.length === 0
      ? ""
      : `; left as they are: ${nameList(
          run,
          back.left.map((one) => one.cluster),
        )} (${text(back.left[0]?.why ?? "")})`;
  const answer = `${nameList(run, clusters, 20)} go back, in reverse order, as a run of its own${left}`;
  if (isEnded(run)) {
    change(draft, { rollback: asked }, reason);
    return done(answer);
  }
  const ending = {
    phase: "Aborted" as const,
    by: command.actor,
    reason,
    at: draft.at,
    command: { id: command.id, text: command.text },
    answer,
  };
  change(draft, { ...endSoon(run, ending), rollback: asked }, reason);
  // Answered in run-end.ts, once nothing of the run is open any more.
  return "later";
}
