/** A moment as ISO-8601 text in UTC with milliseconds, as it stands in the journal: `2026-11-21T04:35:42.000Z`. */
export type Time = string;

/** What may be asked for the time. The core never holds one: it is given `now` in epoch milliseconds. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `wake` once, `ms` of this clock's milliseconds from now. Returns how to call it off. */
  after(ms: number, wake: () => void): () => void;
  /** Milliseconds by which it is ahead of GitHub's, where the two are known to differ. */
  ahead?(): number | undefined;
}

export function iso(ms: number): Time {
  const known = LATELY[Math.abs(Math.trunc(ms / 1000)) % LATELY.length];
  if (known === undefined) return new Date(ms).toISOString();
  if (ms !== known.ms) {
    known.text = new Date(ms).toISOString();
    known.ms = ms;
  }
  return known.text;
}

/** A round asks for the texts of its few moments again and again: a place for each second of some minutes. */
const LATELY = Array.from({ length: 256 }, () => ({ ms: Number.NaN, text: "" }));

/** Epoch milliseconds; NaN where the text is no time. */
export function epoch(time: Time): number {
  return Date.parse(time);
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const LONGEST_DURATION = 100;

/** Milliseconds of a Kubernetes-style duration (`90s`, `30m`, `1h30m`, `250ms`); undefined where it is none. `10` alone is none. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > LONGEST_DURATION) return undefined;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    sum += Number(amount) * UNITS[unit as keyof typeof UNITS];
  }
  return Number.isFinite(sum) ? sum : undefined;
}

/** `90_000` → `1m30s`; below a second in `ms`. The inverse of parseDuration for whole milliseconds. */
export function formatDuration(ms: number): string {
  if (ms <= 0) return "0s";
  if (ms < 1000) return `${Math.round(ms)}ms`;
  let rest = Math.round(ms / 1000);
  let text = "";
  for (const [unit, seconds] of [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ] as const) {
    const n = Math.floor(rest / seconds);
    rest -= n * seconds;
    if (n > 0) text += `${n}${unit}`;
  }
  return text;
}
