import type { GatesReasons } from "../../reasons/gates.ts";
import type { Entries } from "./entry.ts";

export const GATES: Entries<GatesReasons> = {};
