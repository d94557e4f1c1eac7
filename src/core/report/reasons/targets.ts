import type { TargetsReasons } from "../../reasons/targets.ts";
import type { Entries } from "./entry.ts";

export const TARGETS: Entries<TargetsReasons> = {};
