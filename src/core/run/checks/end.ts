import { reasonsOf } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { CheckReasons } from "../../reasons/checks.ts";
import { change, type Draft, wakeAt } from "../state/draft.ts";
import { analysesOf, callOffAnalyses, endAnalysis } from "./analysis.ts";

const check = reasonsOf<CheckReasons>();

/** How long a run on its way to its end waits for what it has under way outside: a rollback must not wait for a hook that hangs. */
const LAST_WORDS_MS = 10_000;

/** Of a run that is ending: calls its analyses off. True while something it has asked outside may still be heard of. */
export function awaitsOutside(draft: Draft): boolean {
  const { ending } = draft.run;
  if (ending === undefined) return false;
  callOffAnalyses(draft, check("CHECKS_END_WITH_RUN", { ended: false }));
  const measuring = analysesOf(draft.run).filter((record) => record.phase === "Running");
  const asking = (draft.run.hooks ?? []).filter((call) => call.phase === "Calling" && call.when === "onFailure");
  const until = Math.max(epoch(ending.at), ...asking.map((call) => epoch(call.since))) + LAST_WORDS_MS;
  if ((measuring.length > 0 || asking.length > 0) && draft.now < until) {
    wakeAt(draft, until);
    return true;
  }
  for (const record of measuring) endAnalysis(draft, record, "Stopped", check("CHECKS_END_WITH_RUN", { ended: true }));
  const hooks = draft.run.hooks?.map((call) => {
    if (call.phase !== "Calling" && call.phase !== "Waiting" && call.phase !== "Held") return call;
    const { nextAt: _, ...rest } = call;
    const why = call.phase === "Calling" ? check("HOOK_UNANSWERED_AT_END") : check("HOOK_OVER_WITH_RUN", { because: call.why });
    return { ...rest, phase: "Error" as const, why, endedAt: draft.at };
  });
  if (hooks?.some((call, at) => call !== draft.run.hooks?.[at]) === true) change(draft, { hooks });
  askNoMore(draft);
  return false;
}

/** What this round wanted asked of those that have just been given up. */
function askNoMore({ effects }: Draft): void {
  for (let at = effects.length - 1; at >= 0; at--) {
    const kind = effects[at]?.kind;
    if (kind === "CallHook" || kind === "StartAnalysis") effects.splice(at, 1);
  }
}
