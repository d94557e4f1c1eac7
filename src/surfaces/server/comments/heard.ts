/**
 * What was read of commands and answered so far, for whoever has just written one and watches the page. It is told by this process alone: what
 * was done or refused of a run stands in its journal. Called by `answers.ts`.
 */
import { BoundedMap } from "../../../core/base/bounded.ts";
import { type Clock, iso } from "../../../core/base/time.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { WrittenLine } from "./refusals.ts";

export type Heard = RunDocument["commands"][number] & { pull: number };

const MOST_HEARD = 200;

/** `tell`: something is to be told. */
export function openHeard(clock: Clock, tell: () => void = () => undefined) {
  const known = new BoundedMap<string, Heard>(MOST_HEARD);
  return {
    heard: (): Heard[] => [...known.values()],
    /** `message`: what its author is answered, as Markdown. */
    hear({ pull, comment, author, text }: WrittenLine, state: Heard["state"], message = ""): void {
      const before = known.get(comment);
      const says = message.replaceAll("`", "").replace(/\.$/, "");
      // It is read again in every round, until it is answered.
      if (before !== undefined && (state === "Read" || (before.state === state && before.says === says))) return;
      known.set(comment, { pull, comment, text, by: `@${author}`, at: iso(clock.now()), state, says });
      tell();
    },
  };
}
