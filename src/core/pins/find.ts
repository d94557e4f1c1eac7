import { endOf, position, type ScalarNode } from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import { openPinFile, type PinFile, type PinOptions } from "./file.ts";
import { inFlow } from "./holes.ts";
import { locate, openInside, outward, type Query, readQuery, type Spot } from "./locate.ts";
import { readPart } from "./part.ts";
import type { Reached } from "./resolve.ts";
import { type Found, type PinPart, type Refused, refuse, type SpliceEdit } from "./types.ts";

export type FindResult = { ok: true; found: Found } | Refused;

/**
 * Finds one pin. `found.value` is the scalar as text, or its part; `start` and `end` span the scalar with its quotes, or the part
 * inside it where that stands in the text as it is read. With `create`, an absent or empty value is found as null.
 *
 * Errors: PIN_PATH_SYNTAX, PIN_NOT_FOUND (with the nearest key), PIN_AMBIGUOUS (with every line), PIN_NOT_SCALAR, PIN_DUPLICATE_KEY,
 * PIN_IS_TEMPLATE, PIN_PART, PIN_FILE_NOT_YAML, PIN_FILE_TOO_LARGE, PIN_ALIAS_BOMB. A value that others share is found, but not spliced.
 */
export function findPin(text: string, pin: Pick<SpliceEdit, "path" | "part" | "create">, options: PinOptions = {}): FindResult {
  const query = readQuery(pin.path, pin.create);
  if (!query.ok) return query;
  const opened = openPinFile(text, options);
  return opened.ok ? findIn(opened.file, query.query, pin.part) : opened;
}

export function findIn(file: PinFile, query: Query, part: PinPart | undefined): FindResult {
  const located = locate(file, query);
  if (!located.ok) return located;
  const { spot } = located;
  const shared = isShared(file, spot.reached) ? { isShared: true as const } : {};
  if (spot.kind !== "inside") {
    const described = describe(file.text, spot, query, part);
    return described.ok ? { ok: true, found: { ...described.found, ...shared } } : described;
  }
  const opened = openInside(spot);
  if (!opened.ok) return { ok: false, error: outward(file.text, spot.inner, opened.error) };
  const found = findIn(opened.file, insideOf(query, spot), part);
  if (!found.ok) return { ok: false, error: outward(file.text, spot.inner, found.error) };
  return { ok: true, found: { ...outwardFound(file.text, spot, found.found), ...shared } };
}

function isShared({ surveys }: PinFile, { document, chain, borrowed }: Reached): boolean {
  const shares = surveys[document.number - 1]?.shares;
  return borrowed || (shares !== undefined && chain.some((node) => shares.has(node)));
}

export function insideOf(query: Query, spot: Spot & { kind: "inside" }): Query {
  return { path: { document: undefined, steps: spot.steps }, create: query.create };
}

export function outwardFound(text: string, spot: Spot & { kind: "inside" }, found: Found): Found {
  const start = spot.inner.outer(found.start);
  return { value: found.value, start, end: spot.inner.outer(found.end), ...position(text, start) };
}

/** What stands at a spot of this very text. */
export function describe(text: string, spot: Exclude<Spot, { kind: "inside" }>, query: Query, part: PinPart | undefined): FindResult {
  if (spot.kind === "hole") {
    const scalar = spot.at?.kind === "scalar" ? spot.at : undefined;
    const start = scalar?.start ?? (spot.at === undefined ? text.length : endOf(spot.at));
    // A file without anything, or a null that is written out, would not come back as it was.
    const isPlain = scalar === undefined ? spot.at !== undefined : scalar.style === "empty" && !inFlow(spot.reached.chain);
    const made = isPlain ? { made: spot.rest.length } : {};
    return { ok: true, found: { value: null, start, end: scalar?.end ?? start, ...position(text, start), ...made } };
  }
  const { node } = spot;
  const whole = scalarText(text, node);
  const read = part === undefined ? { ok: true as const, value: whole } : readPart(whole, part);
  if (!read.ok) return { ok: false, error: { ...read.error, ...position(text, node.start) } };
  if (read.value === null && !query.create) return refuse("PIN_PART", { kind: "Lacks", given: whole, part: part ?? "" }, text, node.start);
  if (read.value?.includes("{{") && read.value.includes("}}"))
    return refuse("PIN_IS_TEMPLATE", { kind: "Value", template: read.value.trim() }, text, node.start);
  const [start, end] = spanOf(text, node, whole, part, read.value);
  return { ok: true, found: { value: read.value, start, end, ...position(text, start) } };
}

function spanOf(text: string, node: ScalarNode, whole: string, part: PinPart | undefined, value: string | null): [number, number] {
  const quotes = node.style === "single" || node.style === "double" ? 1 : 0;
  const asIs = text.slice(node.start + quotes, node.end - quotes) === whole;
  if (part === undefined || value === null || !asIs) return [node.start, node.end];
  const from =
    part === "tag" ? whole.lastIndexOf(`:${value}`, whole.includes("@") ? whole.indexOf("@") : whole.length) + 1 : whole.lastIndexOf(value);
  return [node.start + quotes + from, node.start + quotes + from + value.length];
}
