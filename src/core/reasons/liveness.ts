/** The reasons of liveness: each code with its data. `core/report/reasons/liveness.ts` says them. */
export type LivenessReasons = Record<never, never>;
