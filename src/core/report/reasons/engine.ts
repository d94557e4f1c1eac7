import type { EngineReasons } from "../../reasons/engine.ts";
import type { Entries } from "./entry.ts";

export const ENGINE: Entries<EngineReasons> = {};
