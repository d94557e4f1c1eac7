import { text } from "../../base/reason.ts";
import { awaitsOutside } from "../checks/end.ts";
import { batchOf, change, type Draft, moveBatch, say } from "../state/draft.ts";
import { batchName, clustersOf, liveTargets, nameList } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import { close } from "./close.ts";

/** Brings an aborted or superseded run to its end: its PRs are closed first, and observed closed. */
export function end(draft: Draft): void {
  const { ending } = draft.run;
  if (ending === undefined) return;
  for (const { number } of draft.run.batches) closeOne(draft, batchOf(draft.run, number));
  const open = draft.run.batches.filter((batch) => batch.phase === "Proposing" || batch.phase === "Open" || batch.phase === "Merging");
  if (open.length > 0) {
    const names = open.map((batch) => (batch.pull === undefined ? batchName(draft.run, batch) : `#${batch.pull.number}`)).join(", ");
    say(draft, `${text(ending.reason)}: waiting for ${names} to be seen closed or merged`, { what: `it is ${ending.phase}` });
    return;
  }
  const flying = ending.phase === "Superseded" ? inFlight(draft.run.batches) : [];
  if (flying.length > 0) {
    say(draft, `${text(ending.reason)}: waiting for ${nameList(draft.run, flying)}, in flight, to be confirmed or to fail`, {
      what: "the newer run starts",
    });
    return;
  }
  if (awaitsOutside(draft)) {
    say(draft, `${text(ending.reason)}: waiting for its hooks and analyses to end`, { what: `it is ${ending.phase}` });
    return;
  }
  finish(draft, ending);
}

function closeOne(draft: Draft, batch: Batch): void {
  const { ending } = draft.run;
  if (ending === undefined || batch.merged !== undefined) return;
  if (batch.phase === "Proposing") {
    // Looked, and there is no PR for its branch. One that is there is seen as Open, and closed below.
    if (!draft.rebuilt.has(batch.number) && draft.world.pulls.get(batch.number) === null)
      moveBatch(draft, batch.number, "Closed", { closing: undefined });
  } else if (batch.phase === "Open" && batch.intention === undefined) {
    close(draft, batch, ending.reason);
  }
}

function inFlight(batches: readonly Batch[]): string[] {
  const moving = batches.flatMap((batch) => liveTargets(batch).filter((target) => target.phase === "Merged" || target.phase === "Syncing"));
  return clustersOf(moving);
}

function finish(draft: Draft, ending: NonNullable<typeof draft.run.ending>): void {
  const { paused: _, ending: __, ...rest } = draft.run;
  draft.run = rest;
  const message = ending.answer ?? "aborted: nothing of it is open any more";
  const commands =
    ending.command === undefined
      ? rest.commands
      : [
          ...rest.commands,
          {
            ...ending.command,
            actor: ending.by,
            at: draft.at,
            outcome: "done" as const,
            message,
          },
        ];
  const patch = { phase: ending.phase, since: draft.at, endedAt: draft.at, why: ending.reason, next: null, commands };
  change(draft, patch, `${ending.phase.toLowerCase()}: ${text(ending.reason)}`);
  if (ending.command !== undefined) {
    draft.effects.push({ kind: "Answer", command: ending.command.id, outcome: "done", message });
  }
}
