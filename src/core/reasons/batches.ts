/** The reasons of batches: each code with its data. `core/report/reasons/batches.ts` says them. */
export type BatchesReasons = Record<never, never>;
