import type { OutcomeReasons } from "../../reasons/outcome.ts";
import type { Entries } from "./entry.ts";

export const OUTCOME: Entries<OutcomeReasons> = {};
