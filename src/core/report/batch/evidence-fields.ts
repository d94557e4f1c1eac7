import type { Evidence } from "../../run/state/run.ts";

/** Fields whose names alone do not say it; all others stand as `name=value`. */
const WORDS: Record<string, (value: string) => string> = {
  clockAheadSeconds: (value) => `the cluster's clock is ${value}s ahead`,
  clockBehindSeconds: (value) => `the cluster's clock is ${value}s behind`,
  syncWindow: (value) => `sync window ${value}`,
  goodSince: (value) => `all well since ${value}`,
  refreshRequested: () => "a refresh is asked for",
};

/** What a verdict was given on, for a reader: the fields and times, those in words first. */
export function evidenceWords({ fields }: Pick<Evidence, "fields">): string {
  const told: string[] = [];
  const plain: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const word = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
    if (word === undefined) plain.push(`${name}=${String(value)}`);
    else told.push(word(String(value)));
  }
  return [...told.map((one) => `${one};`), ...plain].join(" ");
}
