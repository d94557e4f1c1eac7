import { runReason } from "../../reasons/run.ts";
import { type Scene, type Wait, wait } from "./decision.ts";

/** Nobody tells when a clock is set right. */
const AGAIN_MS = 15_000;

/** Waits until our clock and GitHub's agree: a wait that a wrong clock has ended is not over. */
export function clockGate({ world, now }: Scene): Wait | undefined {
  const { clockAheadMs: ms } = world;
  if (ms === undefined) return undefined;
  const why = runReason("CLOCKS_DIFFER", { seconds: Math.round(Math.abs(ms) / 1000), ahead: ms > 0 });
  return wait(why, { what: runReason("NEXT_CLOCKS_AGREE") }, now + AGAIN_MS);
}
