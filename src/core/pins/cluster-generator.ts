/**
 * Moves clusters between the two generator entries of an ApplicationSet: the names in both lists, one by one and byte-exact elsewhere,
 * then the version of the entry they go to.
 */
import type { SeqNode, YamlNode } from "../base/yaml-scan/model.ts";
import { type Entries, type NameList, NO_CLUSTER, readEntries } from "./cluster-entries.ts";
import { insert, type Layout, layoutOf, lineEnd, type Op } from "./create.ts";
import { encodeLike, encodePlain, quoteOf } from "./encode.ts";
import { openPinFile, type PinFile, readDocuments } from "./file.ts";
import { findIn } from "./find.ts";
import { parsePinPath, printPinPath } from "./path.ts";
import { apply, splice } from "./splice.ts";
import { type Refused, refuse } from "./types.ts";
import { differsElsewhere, type Expect } from "./verify.ts";

interface GeneratorMove {
  /** Pin paths of the two generator entries: `old` says NotIn, `new` says In. */
  old: string;
  new: string;
  /** Clusters by name, as Argo CD knows them. */
  names: readonly string[];
  /** Inside the entry the clusters go to, such as `values.revision` (short for `clusters.values.revision`). */
  path?: string | undefined;
  value?: string | undefined;
}

/** `moved`: names that were not there yet (or, taken out, that were). `from`: what stood at `path`; null: nothing. */
export type MoveResult = { ok: true; text: string; moved: string[]; from: string | null } | Refused;

/**
 * Moves clusters from the `NotIn` entry of an ApplicationSet to the `In` one: adds their names to both lists, and sets `path`
 * in the `In` entry to `value` where it differs. Byte-exact elsewhere; names that are there already stay.
 *
 * Errors: PIN_NOT_FOUND (no such entry, or no such selector), PIN_AMBIGUOUS (the selectors are not complementary; or setting the
 * value would also change clusters that moved before), and those of `splice`.
 */
export function moveInClusterGenerator(text: string, move: GeneratorMove): MoveResult {
  return change(text, move, "in");
}

/**
 * The inverse: takes names out of both lists, so that the clusters are the `NotIn` entry's again. `path` and `value`, where given,
 * are set in that entry. A list that would end up empty, which Kubernetes selectors do not allow, keeps a name that no cluster has.
 */
export function moveOutOfClusterGenerator(text: string, move: GeneratorMove): MoveResult {
  return change(text, move, "out");
}

function change(text: string, move: GeneratorMove, direction: "in" | "out"): MoveResult {
  const opened = openPinFile(text, {});
  if (!opened.ok) return opened;
  const read = readEntries(opened.file, move);
  if (!read.ok) return read;
  const { entries } = read;
  const moved = [...new Set(move.names)].filter((name) => entries.names.includes(name) !== (direction === "in"));
  if (move.names.includes(NO_CLUSTER)) return refuse("PIN_NOT_FOUND", { kind: "NoCluster", name: NO_CLUSTER }, text);
  const listed = moved.length === 0 ? { ok: true as const, text } : editLists(opened.file, entries, moved, direction);
  if (!listed.ok) return listed;
  return setValue(listed.text, move, entries, direction, moved);
}

function editLists(
  file: PinFile,
  entries: Entries,
  moved: readonly string[],
  direction: "in" | "out",
): { ok: true; text: string } | Refused {
  const layout = layoutOf(file.text, { json: file.json, flow: false, quote: quoteOf(file.text) });
  const ops: Op[] = [];
  const expects = new Map<YamlNode, Expect>();
  const kept = entries.names.filter((name) => !moved.includes(name));
  for (const list of [entries.old, entries.young]) {
    const own = list.texts.filter((name) => !moved.includes(name));
    const stays = kept.length > 0 || own.length > 0 ? own : [NO_CLUSTER];
    if (direction === "in") ops.push(addItems(file.text, list, moved, layout));
    else ops.push(...removeItems(file.text, list, moved, own.length > 0 ? undefined : NO_CLUSTER, layout));
    expects.set(list.node, { kind: "list", texts: direction === "in" ? [...list.texts, ...moved] : stays });
  }
  ops.sort((a, b) => a.start - b.start);
  const text = apply(file.text, ops);
  const reading = readDocuments(text, file.json ? "json" : "yaml");
  const offset = reading.ok ? differsElsewhere(file, { text, documents: reading.documents }, ops, expects, undefined) : 0;
  return offset === undefined ? { ok: true, text } : refuse("PIN_VERIFY", { kind: "Lists" }, file.text, offset);
}

function setValue(text: string, move: GeneratorMove, entries: Entries, direction: "in" | "out", moved: string[]): MoveResult {
  const { path, value } = move;
  if (path === undefined || value === undefined) return { ok: true, text, moved, from: null };
  const entry = direction === "in" ? move.new : move.old;
  const full = `${entry}${path.startsWith("clusters.") ? "" : ".clusters"}${path.startsWith("clusters.") || !path.startsWith("[") ? "." : ""}${path}`;
  const opened = openPinFile(text, {});
  const parsed = parsePinPath(full);
  if (!opened.ok) return opened;
  if (!parsed.ok) return parsed;
  const found = findIn(opened.file, { path: parsed.value, create: true }, undefined);
  if (!found.ok) return found;
  const from = found.found.value;
  if (from === value) return { ok: true, text, moved, from };
  const others = entries.names.filter((name) => name !== NO_CLUSTER && !move.names.includes(name));
  if (direction === "in" && others.length > 0) {
    const data = { kind: "OthersHave", pinPath: printPinPath(parsed.value), from, some: others.slice(0, 5), of: others.length } as const;
    return refuse("PIN_AMBIGUOUS", data, text, found.found.start);
  }
  const done = splice(text, [{ path: full, value, create: true }]);
  return done.ok ? { ok: true, text: done.text, moved, from } : { ok: false, error: done.error };
}

/** Adds names at a list's end, quoted as its last one is. */
function addItems(text: string, list: NameList, names: readonly string[], layout: Layout): Op {
  const { node } = list;
  const last = node.kind === "seq" ? node.items.at(-1) : undefined;
  const encoded = names.map((name) => encodeName(text, last, name, { ...layout, flow: node.kind !== "seq" || node.flow }));
  if (node.kind !== "seq") return insert(node.start, ` [${encoded.join(", ")}]`);
  if (last === undefined) return insert(node.start + 1, encoded.join(", "));
  if (node.flow) {
    const before = /[[,](\s*)$/.exec(text.slice(node.start, last.start))?.[1] ?? " ";
    const gap = before.includes("\n") ? before : " ";
    return insert(last.end, encoded.map((name) => `,${gap}${name}`).join(""));
  }
  const lead = `${layout.eol}${" ".repeat(node.column)}-${text.slice((node.dashes.at(-1) ?? 0) + 1, last.start)}`;
  return insert(lineEnd(text, last.end), encoded.map((name) => lead + name).join(""));
}

/** Takes names out. `instead`: the one name that stays where none would. */
function removeItems(text: string, list: NameList, names: readonly string[], instead: string | undefined, layout: Layout): Op[] {
  const { node } = list;
  if (node.kind !== "seq") return [];
  const gone = node.items.flatMap((_, at) => (names.includes(list.texts[at] ?? "") ? [at] : []));
  const [first, ...others] = gone;
  const kept = first === undefined ? undefined : node.items[first];
  if (instead === undefined || first === undefined || kept === undefined) return cut(text, node, gone);
  const source = encodeName(text, kept, instead, { ...layout, flow: node.flow });
  return [{ start: kept.start, end: kept.end, text: source }, ...cut(text, node, others)];
}

function cut(text: string, node: SeqNode, gone: readonly number[]): Op[] {
  return gone.flatMap((at) => {
    const item = node.items[at];
    if (item === undefined) return [];
    return node.flow ? cutFlow(text, node, at, gone) : cutLine(text, node.dashes[at] ?? item.start, item.end);
  });
}

/** The item's own line goes, with the comment on it and the line break before it, so that a file without a last one stays so. */
function cutLine(text: string, dash: number, end: number): Op[] {
  const lineStart = text.lastIndexOf("\n", dash - 1) + 1;
  return [{ start: lineStart - (text[lineStart - 2] === "\r" ? 2 : 1), end: lineEnd(text, end), text: "" }];
}

/** With the comma and the space before it; those of the items that open the list, with what comes after them. */
function cutFlow(text: string, node: SeqNode, at: number, gone: readonly number[]): Op[] {
  const item = node.items[at];
  if (item === undefined) return [];
  const opens = gone.slice(0, at + 1).length === at + 1 && gone[at] === at;
  const next = node.items[at + 1];
  if (opens && next !== undefined) return [{ start: item.start, end: next.start, text: "" }];
  const previous = node.items[at - 1];
  const start = previous === undefined ? item.start : text.indexOf(",", previous.end);
  return [{ start, end: item.end, text: "" }];
}

function encodeName(text: string, like: YamlNode | undefined, name: string, layout: Layout): string {
  if (like?.kind !== "scalar" || (like.style !== "single" && like.style !== "double")) return encodePlain(name, layout, undefined);
  return encodeLike(text, like, "", name, layout) ?? encodePlain(name, layout, undefined);
}
