import type { Time } from "../../base/time.ts";
import type { Next, Run } from "../../run/state/run.ts";
import { clockTime } from "../words.ts";
import { sentenceOf } from "./say.ts";

/** What comes next as a view shows it: when it is expected, or when it counts as over. */
interface NextView {
  what: string;
  eta?: Time | undefined;
  deadline?: Time | undefined;
}

export function nextView(next: Next | null, run: Run): NextView | null {
  if (next === null) return null;
  return { ...next, what: sentenceOf(next.what, run) };
}

/** Says when: `, expected at 14:05:09 UTC`, or `, at the latest 14:05:09 UTC`. */
export function nextTime({ eta, deadline }: Pick<NextView, "eta" | "deadline">, now: number): string {
  const expected = eta === undefined ? "" : `, expected at ${clockTime(eta, now)}`;
  return deadline === undefined ? expected : `${expected}, at the latest ${clockTime(deadline, now)}`;
}
