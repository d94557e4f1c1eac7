import type { AnyReason } from "../../../core/base/reason.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { createCutter, TooDeep } from "./cut.ts";
import type { Shape } from "./shape.ts";
import { keyOf, type Log } from "./source.ts";

/** One object of a collection. `withheld`: why this is not all of it that is kept of others. */
export interface CutObject {
  raw: unknown;
  withheld?: AnyReason;
}

/**
 * Reads one object among many. Whoever may write one may nest it as deep as they like: of such a one as much as the first of
 * `lesser` that will do is kept, so that it is known to be there and hides no other. Throws SyntaxError where it is no JSON.
 */
export function createObjectCutter(shape: Shape, lesser: readonly Shape[]): (bytes: Uint8Array) => CutObject {
  const whole = createCutter(shape);
  const parts = lesser.map(createCutter);
  return (bytes) => {
    let tooDeep: TooDeep;
    try {
      return { raw: whole(bytes) };
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error;
      tooDeep = error;
    }
    for (const part of parts) {
      try {
        return { raw: part(bytes), withheld: tooDeep.reason };
      } catch (error) {
        if (!(error instanceof TooDeep)) throw error;
      }
    }
    throw tooDeep;
  };
}

const MOST_TOLD = 1000;

/** Tells the log which objects are not read whole: each once, until it is read whole again. */
export function withholdingLog(log: Log, what: string): (object: CutObject) => void {
  const told = new Set<string>();
  return ({ raw, withheld }) => {
    if (withheld === undefined && told.size === 0) return;
    const key = keyOf(raw) ?? "";
    if (withheld === undefined) told.delete(key);
    else if (!told.has(key) && told.size < MOST_TOLD) {
      told.add(key);
      log.warn({ what, object: key, reason: sentenceOf(withheld) }, "an object of Argo CD cannot be read: nothing is concluded from it");
    }
  };
}
