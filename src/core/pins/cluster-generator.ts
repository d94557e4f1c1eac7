import { type Entries, NO_CLUSTER, readEntries, refuse } from "./cluster-entries.ts";
import { layoutOf, type Op } from "./create.ts";
import { openPinFile, type PinOptions, readDocuments } from "./file.ts";
import { findIn } from "./find.ts";
import { addItems, removeItems } from "./list-edit.ts";
import type { PinNode } from "./model.ts";
import { position } from "./model.ts";
import { parsePinPath, printPinPath } from "./path.ts";
import { apply, quoteOf, splice } from "./splice.ts";
import type { PinError } from "./types.ts";
import { differsElsewhere, type Expect } from "./verify.ts";

export interface GeneratorMove {
  /** Pin paths of the two generator entries: `old` says NotIn, `new` says In. */
  old: string;
  new: string;
  /** Clusters by name, as Argo CD knows them. */
  names: readonly string[];
  /** Inside the entry the clusters go to, such as `values.revision` (short for `clusters.values.revision`). */
  path?: string;
  value?: string;
}

export type MoveResult =
  | {
      ok: true;
      text: string /** Names that were not there yet (or, taken out, that were). */;
      moved: string[] /** What stood at `path`; null: nothing. */;
      from: string | null;
    }
  | { ok: false; error: PinError };

/**
 * Moves clusters from the `NotIn` entry of an ApplicationSet to the `In` one: adds their names to both lists, and sets `path`
 * in the `In` entry to `value` where it differs. Byte-exact elsewhere; names that are there already stay.
 *
 * Errors: PIN_NOT_FOUND (no such entry, or no such selector), PIN_AMBIGUOUS (the selectors are not complementary; or setting the
 * value would also change clusters that moved before), and those of `splice`.
 */
export function moveInClusterGenerator(text: string, move: GeneratorMove, options: PinOptions = {}): MoveResult {
  return change(text, move, options, "in");
}

/**
 * The inverse: takes names out of both lists, so that the clusters are the `NotIn` entry's again. `path` and `value`, where given,
 * are set in that entry. A list that would end up empty, which Kubernetes selectors do not allow, keeps a name that no cluster has.
 */
export function moveOutOfClusterGenerator(text: string, move: GeneratorMove, options: PinOptions = {}): MoveResult {
  return change(text, move, options, "out");
}

function change(text: string, move: GeneratorMove, options: PinOptions, direction: "in" | "out"): MoveResult {
  const opened = openPinFile(text, options);
  if (!opened.ok) return opened;
  const read = readEntries(opened.file, move);
  if (!read.ok) return read;
  const { entries } = read;
  const moved = [...new Set(move.names)].filter((name) => entries.names.includes(name) !== (direction === "in"));
  if (move.names.includes(NO_CLUSTER))
    return refuse("PIN_NOT_FOUND", `${NO_CLUSTER} stands for no cluster`, "Name clusters.", opened.file.text, 0);
  const listed = moved.length === 0 ? { ok: true as const, text } : editLists(opened.file, entries, moved, direction);
  if (!listed.ok) return listed;
  return setValue(listed.text, move, entries, options, direction, moved);
}

type Edited = { ok: true; text: string } | { ok: false; error: PinError };

function editLists(file: Parameters<typeof readEntries>[0], entries: Entries, moved: readonly string[], direction: "in" | "out"): Edited {
  const layout = layoutOf(file.text, { json: file.json, flow: false, quote: quoteOf(file.text) });
  const ops: Op[] = [];
  const expects = new Map<PinNode, Expect>();
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
  if (offset === undefined) return { ok: true, text };
  return refuse(
    "PIN_VERIFY",
    "the result would differ in more than the two lists",
    "Write the lists one name a line, with nothing but names in them.",
    file.text,
    offset,
  );
}

function setValue(
  text: string,
  move: GeneratorMove,
  entries: Entries,
  options: PinOptions,
  direction: "in" | "out",
  moved: string[],
): MoveResult {
  const { path, value } = move;
  if (path === undefined || value === undefined) return { ok: true, text, moved, from: null };
  const entry = direction === "in" ? move.new : move.old;
  const full = `${entry}${path.startsWith("clusters.") ? "" : ".clusters"}${path.startsWith("clusters.") || !path.startsWith("[") ? "." : ""}${path}`;
  const opened = openPinFile(text, options);
  const parsed = parsePinPath(full);
  if (!opened.ok) return opened;
  if (!parsed.ok) return parsed;
  const found = findIn(opened.file, { path: parsed.value, create: true }, undefined);
  if (!found.ok) return found;
  const from = found.found.value;
  if (from === value) return { ok: true, text, moved, from };
  const others = entries.names.filter((name) => name !== NO_CLUSTER && !move.names.includes(name));
  if (direction === "in" && others.length > 0) {
    const message = `${printPinPath(parsed.value)} is ${from ?? "not set"}, and ${others.length} other clusters have it (${others.slice(0, 5).join(", ")}${others.length > 5 ? ", …" : ""})`;
    const hint = "Setting it would change them too; take them out of the entry first.";
    return { ok: false, error: { code: "PIN_AMBIGUOUS", message, hint, ...position(text, found.found.start) } };
  }
  const done = splice(text, [{ path: full, value, create: true }], options);
  return done.ok ? { ok: true, text: done.text, moved, from } : { ok: false, error: done.error };
}
