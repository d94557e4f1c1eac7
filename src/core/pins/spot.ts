import type { Inner } from "./inner.ts";
import type { MapNode, ScalarNode } from "./model.ts";
import type { PinStep } from "./path.ts";
import type { Reached } from "./resolve.ts";

/** Where a path leads in one text (a file, or what a block scalar holds). */
export type Spot =
  | { kind: "value"; node: ScalarNode; reached: Reached }
  /** To be written: `rest` below `at`, a mapping or an empty value; no `rest`: the empty value itself. `at` undefined: an empty file. */
  | { kind: "hole"; at: MapNode | ScalarNode | undefined; rest: string[]; reached: Reached }
  | { kind: "inside"; node: ScalarNode; reached: Reached; inner: Inner; steps: PinStep[] };
