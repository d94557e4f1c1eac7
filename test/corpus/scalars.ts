import { type Document, isAlias, isMap, isScalar, isSeq, parseAllDocuments } from "yaml";
import { type PinStep, printPinPath } from "../../src/core/pins/path.ts";

/** One scalar of a file, as the `yaml` package reads it, with two spellings of its pin path. */
export interface Scalar {
  /** By keys and indexes. */
  byIndex: string;
  /** With `[name=…]` and the like in place of indexes, where that picks the item for certain. */
  byName: string;
  /** Its text, whatever its type. */
  value: string;
  style: string;
  /** Where the `yaml` package says it starts. */
  start: number;
  viaAlias: boolean;
}

export interface Scalars {
  scalars: Scalar[];
  /** What the `yaml` package has against the file. */
  error: string | undefined;
  documents: Document[];
}

const NAMES = ["name", "cluster", "key", "id"];

/** Every scalar value of a YAML or JSON text. */
export function scalarsOf(whole: string): Scalars {
  // The package counts a byte order mark as a column, and so misreads the first line. A line break keeps all offsets.
  const text = whole.replace(/^\ufeff/, "\n");
  const parsed = parseAllDocuments(text, { schema: "failsafe", logLevel: "silent", prettyErrors: false, uniqueKeys: true });
  const documents: Document[] = Array.isArray(parsed) ? parsed : [];
  const error = documents.flatMap((document) => document.errors)[0]?.message;
  const scalars: Scalar[] = [];
  if (error !== undefined) return { scalars, error, documents };
  for (const [at, document] of documents.entries()) {
    const number = documents.length > 1 ? at + 1 : undefined;
    walk(document.contents, [], [], (index, name, node) => {
      const value = isScalar(node) ? String(node.value ?? "") : "";
      const style = isScalar(node) ? String(node.type) : "alias";
      const start = isScalar(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
      const byIndex = printPinPath({ document: number, steps: index });
      scalars.push({ byIndex, byName: printPinPath({ document: number, steps: name }), value, style, start, viaAlias: isAlias(node) });
    });
  }
  return { scalars, error, documents };
}

type Visit = (byIndex: PinStep[], byName: PinStep[], node: unknown) => void;

function walk(node: unknown, byIndex: PinStep[], byName: PinStep[], visit: Visit): void {
  if (isMap(node)) {
    for (const pair of node.items) {
      if (!isScalar(pair.key)) continue;
      const step: PinStep = { kind: "key", key: String(pair.key.value ?? "") };
      walk(pair.value, [...byIndex, step], [...byName, step], visit);
    }
    return;
  }
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      walk(item, [...byIndex, { kind: "index", index }], [...byName, selectorOf(node.items, item) ?? { kind: "index", index }], visit);
    }
    return;
  }
  // A document that is a single value has no path to it.
  if (byIndex.length > 0 && (isScalar(node) || isAlias(node))) visit(byIndex, byName, node);
}

/** `[name=…]` where every item of the list has another name. */
function selectorOf(items: readonly unknown[], item: unknown): PinStep | undefined {
  for (const key of NAMES) {
    const values = items.map((one) => (isMap(one) && isScalar(one.get(key, true)) ? String(one.get(key)) : undefined));
    const own = values[items.indexOf(item)];
    if (own !== undefined && own !== "" && values.filter((value) => value === own).length === 1) return { kind: "match", key, value: own };
  }
  return undefined;
}

/** A count by outcome, as a table. */
export function table(title: string, counts: ReadonlyMap<string, number>): string {
  const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `  ${String(count).padStart(7)}  ${name}`);
  return [title, ...rows].join("\n");
}

export function tally(counts: Map<string, number>, name: string, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
