/** The reasons of gates: each code with its data. `core/report/reasons/gates.ts` says them. */
export type GatesReasons = Record<never, never>;
