import type { Run } from "../../run/state/run.ts";
import { prose } from "../escape.ts";
import type { ModelNode } from "../model/types.ts";
import { clockTime } from "../words.ts";
import { sentenceOf } from "./say.ts";

/** Says what comes next, with when it is expected or counts as over, in Markdown; "" where nothing does. */
export function nextLine({ waitsFor, deadline }: Pick<ModelNode, "waitsFor" | "deadline">, run: Run, now: number): string {
  if (waitsFor === undefined) return "";
  const at = waitsFor.at === undefined ? "" : `, expected at ${clockTime(waitsFor.at, now)}`;
  const late = deadline === undefined ? "" : `, at the latest ${clockTime(deadline, now)}`;
  return `**Next:** ${prose(sentenceOf(waitsFor.reason, run))}${at}${late}.`;
}
