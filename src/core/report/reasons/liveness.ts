import type { LivenessReasons } from "../../reasons/liveness.ts";
import type { Entries } from "./entry.ts";

export const LIVENESS: Entries<LivenessReasons> = {};
