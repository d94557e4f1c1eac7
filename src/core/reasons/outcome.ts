/** The reasons of outcome: each code with its data. `core/report/reasons/outcome.ts` says them. */
export type OutcomeReasons = Record<never, never>;
