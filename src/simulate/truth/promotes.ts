import { epoch } from "../../core/base/time.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Command } from "../../core/spec/commands.ts";
import { pageKey } from "../world/page.ts";
import type { Truth } from "../world/world.ts";

/** What a `/promote` ended had been shown to people when it was written; and on a batch's PR it was that batch's. */
export function promotesWhatWasShown(truth: Truth, before: Run, run: Run): string[] {
  if (run.commands === before.commands) return [];
  const known = new Set(before.commands.map(({ id }) => id));
  const wrong: string[] = [];
  for (const { id, outcome, message } of run.commands) {
    if (known.has(id) || outcome !== "done") continue;
    const said = truth.commands.find(({ command }) => command.id === id);
    if (said === undefined) continue;
    const ended = endedBy(message.code, before, run);
    if (ended.length === 0) continue;
    const own = (batch: Batch) => batch.pull?.number === said.pull;
    const isOnBatch = said.pull !== run.trigger.pull;
    const isRight = ended.some(
      (one) =>
        (!isOnBatch || own(one.batch)) &&
        (wasShown(truth, run, one, said.command) || (one.kind === "pull" && own(one.batch) && isBy(one.since, said.command))),
    );
    if (!isRight)
      wrong.push(
        `truth: ${said.command.text} of ${said.command.createdAt} ended a wait of ${pageKey(run)} that was not shown by then (${message.code})`,
      );
  }
  return wrong;
}

interface Ended {
  kind: "bake" | "step" | "pull";
  batch: Batch;
  since: string;
}

/** The waits that may have been meant by such an answer: those which this step ended. */
function endedBy(code: string, before: Run, run: Run): Ended[] {
  return before.batches.flatMap((batch): Ended[] => {
    const after = run.batches[batch.number - 1];
    const { wait } = batch.step ?? {};
    if (code === "BAKE_ENDED" && batch.bake !== undefined && after?.bake?.from === batch.bake.from && after.bake.until !== batch.bake.until)
      return [{ kind: "bake", batch, since: batch.bake.from }];
    if (code === "STEP_PAUSE_ENDED" && wait?.from !== undefined && wait.at < (after?.step?.wait?.at ?? 0))
      return [{ kind: "step", batch, since: wait.from }];
    const isPull = code === "STAGE_APPROVED" || code === "PROMOTE_DONE";
    return isPull && batch.phase === "Open" && batch.pull !== undefined ? [{ kind: "pull", batch, since: batch.pull.openedAt }] : [];
  });
}

function wasShown(truth: Truth, run: Run, { kind, batch, since }: Ended, command: Command): boolean {
  const edits = truth.pages.edits.get(pageKey(run)) ?? [];
  return edits.some(
    ({ waits, at }) =>
      isBy(at, command) &&
      waits.some((wait) => wait.kind === kind && wait.batch === batch.number && (kind === "pull" || wait.since === since)),
  );
}

/** GitHub's times are whole seconds. */
function isBy(at: string, { createdAt }: Command): boolean {
  return Math.floor(epoch(at) / 1000) * 1000 <= epoch(createdAt);
}
