import type { Value } from "../../core/analysis/expr/values.ts";

/** How deep an answer may nest: no measurement is deeper, and what walks or writes it by recursion would otherwise run out of stack. */
const DEEPEST = 100;

/** An answer as JSON. `error`: why it cannot be taken. undefined: it is no JSON. */
export function readJson(text: string): { document: Value } | { error: string } | undefined {
  let document: Value;
  try {
    document = JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
  return isDeeper(document, DEEPEST) ? { error: `the answer nests more than ${DEEPEST} levels deep` } : { document };
}

function isDeeper(value: Value, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const items = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => isDeeper(item, levels - 1));
}
