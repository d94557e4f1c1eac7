import type { Value } from "../../../core/analysis/expr/values.ts";

/** What one measurement gave. `error`: it could not be taken, and why, for people. `outcome`: the provider judges by itself (a Job). */
export type Measured = { value: Value } | { error: string } | { outcome: "Successful" | "Failed"; message: string };
