import type { CommandsReasons } from "../../reasons/commands.ts";
import type { Entries } from "./entry.ts";

export const COMMANDS: Entries<CommandsReasons> = {};
