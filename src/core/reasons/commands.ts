/** The reasons of commands: each code with its data. `core/report/reasons/commands.ts` says them. */
export type CommandsReasons = Record<never, never>;
