import { LineCounter, parseAllDocuments } from "yaml";
import { type PinStep, parsePinPath } from "../pins/path.ts";
import type { Found, PinError } from "../pins/types.ts";
import type { Edit } from "../rollout/plan-types.ts";

/** The two clusters-generator entries of one ApplicationSet between which clusters move (SPEC §9.5). */
export interface GeneratorPair {
  /** Names that both post-selectors list. Those are with the `In` entry, all others with the `NotIn` one. */
  listed: ReadonlySet<string>;
  /** Value at `at` of the entry that says `NotIn` (`old` in the pin). */
  notIn: string | null;
  /** Value at `at` of the entry that says `In` (`new` in the pin). */
  inside: string | null;
}

export type ReadPair = { ok: true; pair: GeneratorPair } | { ok: false; error: PinError };
type Result = { ok: true; found: Found } | { ok: false; error: PinError };

/**
 * Which version each cluster has now, in the order of the edits. The release goes into the entry that holds it already, or
 * else into the one without clusters: after one release all clusters are with one entry, and the next moves them back.
 */
export function readGeneratorMove(text: string, edits: readonly Edit[]): Result[] {
  const [first] = edits;
  if (first === undefined) return [];
  const read = readPair(text, first);
  return edits.map((edit): Result => {
    if (!read.ok) return read;
    const value = read.pair.listed.has(edit.cluster ?? "") ? read.pair.inside : read.pair.notIn;
    return { ok: true, found: { value, line: 1, column: 1, start: 0, end: 0 } };
  });
}

/** Reads both entries. Errors: a path that leads nowhere, selectors that are not `In` and `NotIn` of one list over `name`. */
export function readPair(text: string, edit: Pick<Edit, "path" | "entry" | "at">): ReadPair {
  const lines = new LineCounter();
  for (const document of parseAllDocuments(text, { lineCounter: lines, logLevel: "silent", prettyErrors: false })) {
    const [broken] = document.errors;
    if (broken !== undefined)
      return fail("PIN_FILE_NOT_YAML", `not YAML: ${broken.message}`, "Mend the file first.", lines.linePos(broken.pos[0]));
    const data: unknown = document.toJS({ maxAliasCount: 100 });
    const old = walk(data, edit.path);
    const young = walk(data, edit.entry ?? "");
    if (old === undefined && young === undefined) continue;
    if (old === undefined) return fail("PIN_NOT_FOUND", `there is no ${edit.path}`, "Name the generator entry that says NotIn.");
    if (young === undefined) return fail("PIN_NOT_FOUND", `there is no ${edit.entry ?? ""}`, "Name the generator entry that says In.");
    const notIn = namesOf(old, "NotIn");
    const inside = namesOf(young, "In");
    if (notIn === undefined)
      return fail(
        "PIN_NOT_FOUND",
        `${edit.path} has no selector with name NotIn a list`,
        "Give it selector.matchExpressions with key name, operator NotIn.",
      );
    if (inside === undefined)
      return fail(
        "PIN_NOT_FOUND",
        `${edit.entry ?? ""} has no selector with name In a list`,
        "Give it selector.matchExpressions with key name, operator In.",
      );
    if (notIn.size !== inside.size || [...notIn].some((name) => !inside.has(name))) {
      return fail(
        "PIN_AMBIGUOUS",
        "the two entries list different clusters, so some have no Application or two",
        "Make the lists of In and NotIn the same.",
      );
    }
    return { ok: true, pair: { listed: inside, notIn: scalarAt(old, edit.at ?? ""), inside: scalarAt(young, edit.at ?? "") } };
  }
  return fail("PIN_NOT_FOUND", `there is no ${edit.path}`, "Name the generator entry that says NotIn.");
}

function fail(code: PinError["code"], message: string, hint: string, at?: { line: number; col: number }): { ok: false; error: PinError } {
  return { ok: false, error: { code, message, hint, ...(at === undefined ? {} : { line: at.line, column: at.col }) } };
}

function walk(data: unknown, path: string): unknown {
  const parsed = parsePinPath(path);
  if (!parsed.ok) return undefined;
  let here = data;
  for (const step of parsed.value.steps) here = stepInto(here, step);
  return here;
}

function stepInto(here: unknown, step: PinStep): unknown {
  if (typeof here !== "object" || here === null) return undefined;
  if (step.kind === "key") return (here as Record<string, unknown>)[step.key];
  if (!Array.isArray(here)) return undefined;
  if (step.kind === "index") return here[step.index] as unknown;
  if (step.kind === "match")
    return here.find((item: unknown) => String((item as Record<string, unknown> | null)?.[step.key]) === step.value) as unknown;
  return undefined;
}

function namesOf(entry: unknown, operator: "In" | "NotIn"): Set<string> | undefined {
  const expressions = walk(entry, "selector.matchExpressions");
  if (!Array.isArray(expressions)) return undefined;
  const found = expressions.find(
    (one: unknown) => stepInto(one, { kind: "key", key: "key" }) === "name" && stepInto(one, { kind: "key", key: "operator" }) === operator,
  ) as unknown;
  const values = found === undefined ? undefined : (stepInto(found, { kind: "key", key: "values" }) ?? []);
  return Array.isArray(values) ? new Set(values.map(String)) : undefined;
}

function scalarAt(entry: unknown, at: string): string | null {
  const value = walk(entry, `clusters.${at}`);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}
