/** The reasons of targets: each code with its data. `core/report/reasons/targets.ts` says them. */
export type TargetsReasons = Record<never, never>;
