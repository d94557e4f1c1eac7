/** What of a schedule cannot be read, and what was meant. Called by `windows.ts` where the library refuses one: its own words name no field. */
import { Cron } from "croner";
import { nearest } from "../base/nearest.ts";
import type { CronField, ScheduleFault } from "../reasons/problems/pace.ts";

interface FieldValues {
  least: number;
  most: number;
  /** In their order; the first stands for the least. */
  names: readonly string[];
}

/** In their order. */
export const CRON_FIELDS: Record<CronField, FieldValues> = {
  minute: { least: 0, most: 59, names: [] },
  hour: { least: 0, most: 23, names: [] },
  day: { least: 1, most: 31, names: [] },
  month: { least: 1, most: 12, names: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"] },
  weekday: { least: 0, most: 7, names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] },
};
const FIELDS = Object.keys(CRON_FIELDS) as CronField[];

/** Returns the first part of a schedule's five fields that cannot be read; undefined: each can. */
export function scheduleFault(texts: readonly string[]): ScheduleFault | undefined {
  for (const [at, field] of FIELDS.entries()) {
    const isRefused = (text: string) => !isReadable(FIELDS.map((_, i) => (i === at ? text : "*")).join(" "));
    const text = texts[at] ?? "";
    if (!isRefused(text)) continue;
    const part = text.split(",").find(isRefused);
    return part === undefined || part === "" ? { fault: "Part", field, given: text } : faultOf(part, field);
  }
  return undefined;
}

/** Of what stands between commas: a value or a range, with a step or not. */
function faultOf(part: string, field: CronField): ScheduleFault {
  const { least, most, names } = CRON_FIELDS[field];
  const [span = ""] = part.split("/");
  // Which of a month's weekdays, or the last: `FRI#2`, `5L`.
  const ends = span.split("-").map((end) => end.replace(/#.*$|(?<=\d)[lw]$/i, ""));
  const values = ends.map((end) => (/^\d+$/.test(end) ? Number(end) : least + (indexOf(end, names) ?? Number.NaN)));
  const wrong = ends.find((end, i) => !/^[*?]?$/.test(end) && !((values[i] ?? Number.NaN) >= least && (values[i] ?? Number.NaN) <= most));
  if (wrong !== undefined) {
    const near = names.find((name) => wrong.toUpperCase().startsWith(name)) ?? (/\d/.test(wrong) ? undefined : nearest(wrong, names));
    return { fault: "Value", field, given: wrong, near };
  }
  const [from = 0, to = 0] = values;
  if (ends.length !== 2 || from <= to) return { fault: "Part", field, given: part };
  const [first = "", last = ""] = ends;
  const highest = (/\d/.test(first) ? undefined : names.at(-1)) ?? String(most);
  const lowest = (/\d/.test(last) ? undefined : names[0]) ?? String(least);
  return { fault: "Range", field, given: part, near: part === span ? `${rangeOf(first, highest)},${rangeOf(lowest, last)}` : undefined };
}

function rangeOf(from: string, to: string): string {
  return from.toUpperCase() === to ? to : from === to.toUpperCase() ? from : `${from}-${to}`;
}

function indexOf(name: string, names: readonly string[]): number | undefined {
  const at = names.indexOf(name.toUpperCase());
  return at < 0 ? undefined : at;
}

function isReadable(schedule: string): boolean {
  try {
    new Cron(schedule, { mode: "5-part" });
    return true;
  } catch {
    return false;
  }
}
