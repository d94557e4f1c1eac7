import type { BatchesReasons } from "../../reasons/batches.ts";
import type { Entries } from "./entry.ts";

export const BATCHES: Entries<BatchesReasons> = {};
