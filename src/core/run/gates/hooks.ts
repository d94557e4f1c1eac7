import { runReason } from "../../reasons/run.ts";
import { type HookPlace, hookCallAt, hookRef, isBadHook, isToleratedHook } from "../checks/hooks.ts";
import type { Run } from "../state/run.ts";
import { type Wait, wait } from "./decision.ts";

/** Waits for a hook that has been asked to let the run go on, and for a person where it never will; undefined: it has. */
export function hookGate(run: Run, place: HookPlace): Wait | undefined {
  const call = hookCallAt(run, place);
  if (call === undefined || call.phase === "Done" || call.accepted !== undefined || isToleratedHook(run, call)) return undefined;
  const data = { hook: hookRef(run, call), because: call.why };
  if (isBadHook(call)) return wait(runReason("HOOK_BAD", data), { what: runReason("NEXT_COMMAND") });
  const next = { what: runReason("NEXT_HOOK_ASKED"), eta: call.nextAt };
  if (call.phase === "Held") return wait(runReason("HOOK_HOLDS_STAGE", data), next);
  if (call.phase === "Waiting") return wait(runReason("HOOK_UNCLEAR", data), next);
  return wait(runReason("HOOK_AWAITED", { hook: data.hook }), { what: runReason("NEXT_HOOK_ANSWERS") });
}
