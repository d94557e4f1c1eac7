/** A run as those who draw Markdown have it: its model, and what says a reason with its commands marked. They see nothing else of the run. */
import type { AnyReason } from "../../base/reason.ts";
import type { Run } from "../../run/state/run.ts";
import { addStop } from "../reasons/phrases.ts";
import { sentenceOf, wholeSentence } from "../reasons/say.ts";
import type { GivenToDraw } from "./context.ts";
import { modelOf } from "./run-model.ts";
import type { ModelNode, RunModel } from "./types.ts";

export interface Shown {
  model: RunModel;
  now: number;
  /** A reason as it stands by itself, in Markdown that is not escaped yet. */
  whole(reason: AnyReason, most?: number): string;
  /** The sentence on a node, in the same way. */
  of(node: Pick<ModelNode, "reason" | "says">, most?: number): string;
  /** A reason within another sentence. */
  sentence(reason: AnyReason): string;
}

export function shownOf(run: Run, now: number, given: GivenToDraw = {}): Shown {
  const whole: Shown["whole"] = (reason, most) => wholeSentence(reason, run, most);
  return {
    model: modelOf(run, now, given),
    now,
    whole,
    of: ({ reason, says }, most) => (reason === undefined ? addStop(says) : whole(reason, most)),
    sentence: (reason) => sentenceOf(reason, run),
  };
}
