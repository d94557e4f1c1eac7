/** The command `/rollback`: judged and accepted here; what goes back is planned in `../outcome/rollback.ts`. */
import { defined } from "../../base/defined.ts";
import type { RunReason } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import { planRollback } from "../outcome/rollback.ts";
import { change, type Draft, endSoon } from "../state/draft.ts";
import { done, type Reply, reasonOf, refuse } from "../state/reply.ts";
import { isEnded } from "../state/run.ts";
import { mergeUnderWay } from "./steer.ts";

/** By itself no reason, but a version that was meant: going back to another one instead would be done at once. */
const VERSION = /^v?\d+(?:\.\d+)*(?:[-+.][\w.+-]*)?$/;

/** `/rollback [--to VERSION] [reason]`: of a run in progress or of one long over. A run of its own follows, once nothing of this one is open. */
export function rollbackCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (run.kind === "Rollback") return refuse({ code: isEnded(run) ? "ROLLBACK_OF_ENDED_ROLLBACK" : "ROLLBACK_OF_ROLLBACK" });
  if (run.rollback !== undefined) return refuse({ code: "ROLLING_BACK_ALREADY", by: run.rollback.by });
  const { to } = command.flags;
  if (to === true) return refuse({ code: "ROLLBACK_WANTS_VERSION" });
  const [version, ...more] = command.args;
  if (version !== undefined && more.length === 0 && VERSION.test(version)) return refuse({ code: "ROLLBACK_WANTS_TO", given: version });
  const back = planRollback(run, to);
  if ("error" in back) return refuse(back.error);
  if (run.ending !== undefined) return refuse({ code: "RUN_IS_ENDING", because: run.ending.reason });
  if (!isEnded(run) && mergeUnderWay(draft, command)) return "later";
  const reason: RunReason = defined({ code: "ROLLED_BACK_BY" as const, by: command.actor, to, text: reasonOf(command) });
  const asked = { by: command.actor, reason, at: draft.at, ...defined({ to }) };
  const clusters = back.plan.stages.flatMap((stage) => stage.clusters);
  const answer: RunReason = defined({
    code: "ROLLBACK_DONE" as const,
    clusters,
    left: back.left.map((one) => one.cluster),
    because: back.left[0]?.why,
  });
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
  // Answered in ../batches/end.ts, once nothing of the run is open any more.
  return "later";
}
