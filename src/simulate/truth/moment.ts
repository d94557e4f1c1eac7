/** What the judges of the truth are handed. */
import type { advance } from "../../core/run/advance.ts";
import type { Entry, Truth } from "../world/world.ts";

/** What decides a step; a planted bug may stand here. */
export type Advance = typeof advance;

/** By run: who said `/promote` while a stage was waiting for approval, and what the stage was made of then. */
export type Approvals = Map<string, { stage: number; by: string; amended: string }[]>;

/** By run and stage: when what it holds last changed. */
export type Amended = Map<string, number>;

export interface Moment {
  truth: Truth;
  entries: readonly Entry[];
  index: number;
  approvals: Approvals;
  amended: Amended;
  now: number;
}
