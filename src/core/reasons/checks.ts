/** The reasons of checks: each code with its data. `core/report/reasons/checks.ts` says them. */
export type ChecksReasons = Record<never, never>;
