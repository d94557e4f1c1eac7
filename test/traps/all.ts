/** Every trap, as `docs/liveness.md` lists them: written down one by one, and played by the tests beside this. */
import { COMPARED_TRAPS } from "./compared-traps.ts";
import { REVISION_TRAPS } from "./revision-traps.ts";
import { RUNNING_TRAPS } from "./running-traps.ts";
import { CONTENT_TRAPS, SPEC_TRAPS } from "./spec-traps.ts";
import { STATUS_TRAPS } from "./status-traps.ts";
import { SYNC_TRAPS } from "./sync-traps.ts";
import type { Trap } from "./trace.ts";

export const TRAPS: readonly Trap[] = [
  ...STATUS_TRAPS,
  ...REVISION_TRAPS,
  ...SPEC_TRAPS,
  ...CONTENT_TRAPS,
  ...RUNNING_TRAPS,
  ...SYNC_TRAPS,
  ...COMPARED_TRAPS,
];
