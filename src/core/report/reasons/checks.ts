import type { ChecksReasons } from "../../reasons/checks.ts";
import type { Entries } from "./entry.ts";

export const CHECKS: Entries<ChecksReasons> = {};
