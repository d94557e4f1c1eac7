/** The reasons of engine: each code with its data. `core/report/reasons/engine.ts` says them. */
export type EngineReasons = Record<never, never>;
