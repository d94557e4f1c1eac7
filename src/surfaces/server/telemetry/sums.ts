import type { Gauge } from "prom-client";
import type { RolloutLabels } from "./names.ts";

/** Puts together what falls under the same labels, of which each rollout has one object: the library is told once for each series. */
export class Sums {
  readonly #values = new Map<RolloutLabels, Map<string, number>>();
  readonly #label: string;

  constructor(label: string) {
    this.#label = label;
  }

  add(of: RolloutLabels, value: string, count: number): void {
    const values = this.#of(of);
    values.set(value, (values.get(value) ?? 0) + count);
  }

  atLeast(of: RolloutLabels, value: string, seconds: number): void {
    const values = this.#of(of);
    values.set(value, Math.max(values.get(value) ?? 0, seconds));
  }

  labels(): Iterable<RolloutLabels> {
    return this.#values.keys();
  }

  /** Sets a gauge anew. */
  into(gauge: Gauge): void {
    gauge.reset();
    for (const [of, values] of this.#values) for (const [value, count] of values) gauge.set({ ...of, [this.#label]: value }, count);
  }

  #of(of: RolloutLabels): Map<string, number> {
    const known = this.#values.get(of) ?? new Map<string, number>();
    this.#values.set(of, known);
    return known;
  }
}
