/** One measured value of a benchmark. */
export interface BenchRow {
  name: string;
  value: number;
  unit: string;
  /** What was promised: the value is at most, or with `atLeast` at least, this. */
  limit?: number;
  atLeast?: boolean;
}
