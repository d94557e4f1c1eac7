import type { AnyReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { prose } from "../escape.ts";
import type { ModelNode } from "../model/types.ts";
import { clockTime } from "../words.ts";

interface Ahead {
  model: Pick<ModelNode, "waitsFor" | "deadline">;
  now: number;
  sentence(reason: AnyReason): string;
}

/** Says what comes next, with when it is expected or counts as over, in Markdown; "" where nothing does. */
export function nextLine({ model: { waitsFor, deadline }, now, sentence }: Ahead): string {
  if (waitsFor === undefined) return "";
  const at = waitsFor.at === undefined || epoch(waitsFor.at) <= now ? "" : `, expected at ${clockTime(waitsFor.at, now)}`;
  // A time that is over is none that anybody waits for.
  const late = deadline === undefined || epoch(deadline) <= now ? "" : `, at the latest ${clockTime(deadline, now)}`;
  return `**Next:** ${prose(sentence(waitsFor.reason))}${at}${late}.`;
}
