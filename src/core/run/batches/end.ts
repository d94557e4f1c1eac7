/** Brings an aborted or superseded run to its end. Its PRs are closed first and observed closed, then what it asked outside is given up. */
import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { analysesOf, endAnalysis, stopAnalysis } from "../checks/analysis.ts";
import { isProposed } from "../state/batch.ts";
import { batchOf, change, type Draft, moveBatch, say, wakeAt } from "../state/draft.ts";
import { batchRef, clustersOf, liveTargets } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import { close } from "./close.ts";

type Ending = NonNullable<Run["ending"]>;

/** How long it waits for what it has under way outside: a rollback must not wait for a hook that hangs. */
const LAST_WORDS_MS = 10_000;

export function end(draft: Draft): void {
  const { ending } = draft.run;
  if (ending === undefined) return;
  const because = ending.reason;
  const next = { what: runReason("NEXT_PHASE", { phase: ending.phase }) };
  for (const { number } of draft.run.batches) closeOne(draft, batchOf(draft.run, number), ending);
  const open = draft.run.batches.filter(isProposed).map((batch) => batch.pull?.number ?? batchRef(draft.run, batch));
  if (open.length > 0) {
    say(draft, runReason("END_AWAITS_PULLS", { because, open }), next);
    return;
  }
  const clusters = ending.phase === "Superseded" ? inFlight(draft.run.batches) : [];
  if (clusters.length > 0) say(draft, runReason("END_AWAITS_CLUSTERS", { because, clusters }), { what: runReason("NEXT_NEWER_RUN") });
  else if (awaitsOutside(draft, ending)) say(draft, runReason("END_AWAITS_CHECKS", { because }), next);
  else finish(draft, ending);
}

function closeOne(draft: Draft, batch: Batch, ending: Ending): void {
  if (batch.merged !== undefined) return;
  if (batch.phase === "Proposing") {
    // Looked, and there is no PR for its branch. One that is there is seen as Open, and closed below.
    if (!draft.rebuilt.has(batch.number) && draft.world.pulls.get(batch.number) === null)
      moveBatch(draft, batch.number, "Closed", { closing: undefined });
  } else if (batch.phase === "Open" && batch.intention === undefined) {
    close(draft, batch, ending.reason);
  }
}

function inFlight(batches: readonly Batch[]): string[] {
  return clustersOf(batches.flatMap(liveTargets).filter(({ phase }) => phase === "Merged" || phase === "Syncing"));
}

/** Calls its analyses off. True while something it has asked outside may still be heard of. */
function awaitsOutside(draft: Draft, ending: Ending): boolean {
  const { run } = draft;
  for (const record of analysesOf(run)) stopAnalysis(draft, record, runReason("CHECKS_END_WITH_RUN", { ended: false }), true);
  const measuring = analysesOf(draft.run).filter((record) => record.phase === "Running");
  const asking = (run.hooks ?? []).filter((call) => call.phase === "Calling" && call.when === "onFailure");
  const until = Math.max(epoch(ending.at), ...asking.map((call) => epoch(call.since))) + LAST_WORDS_MS;
  if ((measuring.length > 0 || asking.length > 0) && draft.now < until) {
    wakeAt(draft, until);
    return true;
  }
  for (const record of measuring) endAnalysis(draft, record, "Stopped", runReason("CHECKS_END_WITH_RUN", { ended: true }));
  const hooks = run.hooks?.map((call) => {
    if (call.phase !== "Calling" && call.phase !== "Waiting" && call.phase !== "Held") return call;
    const { nextAt: _, ...rest } = call;
    const why = call.phase === "Calling" ? runReason("HOOK_UNANSWERED_AT_END") : runReason("HOOK_OVER_WITH_RUN", { because: call.why });
    return { ...rest, phase: "Error" as const, why, endedAt: draft.at };
  });
  if (hooks?.some((call, at) => call !== run.hooks?.[at]) === true) change(draft, { hooks });
  // What this round wanted asked of those that have just been given up.
  const kept = draft.effects.filter(({ kind }) => kind !== "CallHook" && kind !== "StartAnalysis");
  draft.effects.splice(0, draft.effects.length, ...kept);
  return false;
}

function finish(draft: Draft, { phase, reason, by, command, answer }: Ending): void {
  const { paused: _, ending: __, ...rest } = draft.run;
  draft.run = rest;
  const reply = { outcome: "done" as const, message: answer ?? runReason("ABORT_DONE") };
  const handled = command === undefined ? [] : [{ ...command, actor: by, at: draft.at, ...reply }];
  change(
    draft,
    { phase, since: draft.at, endedAt: draft.at, why: reason, next: null, commands: [...rest.commands, ...handled] },
    runReason("RUN_ENDED", { phase, because: reason }),
  );
  if (command !== undefined) draft.effects.push({ kind: "Answer", command: command.id, ...reply });
}
