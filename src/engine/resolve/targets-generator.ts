import { NO_CLUSTER, readEntries } from "../../core/pins/cluster-entries.ts";
import { openPinFile } from "../../core/pins/file.ts";
import { type FindResult, findPin } from "../../core/pins/find.ts";
import { type PinError, pinError } from "../../core/pins/types.ts";
import type { Edit } from "../../core/plan/plan-types.ts";

/** The two clusters-generator entries of one ApplicationSet between which clusters move (docs/spec.md §9.5). */
export interface GeneratorPair {
  /** Names that both post-selectors list. Those are with the `In` entry, all others with the `NotIn` one. */
  listed: ReadonlySet<string>;
  /** Version of the entry that says `NotIn` (`old` in the pin). */
  notIn: string | null;
  /** Version of the entry that says `In` (`new` in the pin). */
  inside: string | null;
}

type ReadPair = { ok: true; pair: GeneratorPair } | { ok: false; error: PinError };

/**
 * Which version each cluster has now, in the order of the edits. The release goes into the entry that holds it already, or
 * else into the one without clusters: after one release all clusters are with one entry, and the next moves them back.
 */
export function readGeneratorMove(text: string, edits: readonly Edit[]): FindResult[] {
  const [first] = edits;
  if (first === undefined) return [];
  const read = readPair(text, first);
  const refused = read.ok ? whyMixed(read.pair, edits) : read;
  if (!read.ok || refused !== undefined)
    return edits.map(() => refused ?? { ok: false, error: pinError("PIN_NOT_FOUND", { kind: "NoEntries" }) });
  return edits.map((edit) => valueIn(read.pair, edit));
}

/** The version of the entry that one cluster stands with, whatever the others have. Errors: those of `readPair`. */
export function readGeneratorPin(text: string, edit: Edit): FindResult {
  const read = readPair(text, edit);
  return read.ok ? valueIn(read.pair, edit) : read;
}

function valueIn({ listed, inside, notIn }: GeneratorPair, edit: Edit): FindResult {
  const value = listed.has(edit.cluster ?? "") ? inside : notIn;
  return { ok: true, found: { value, line: 1, column: 1, start: 0, end: 0 } };
}

/** Clusters with both entries and the release in neither: there is no entry without clusters to put it into. */
function whyMixed({ listed, inside, notIn }: GeneratorPair, edits: readonly Edit[]): { ok: false; error: PinError } | undefined {
  const [first] = edits;
  if (first === undefined || inside === first.to || notIn === first.to || listed.size === 0) return undefined;
  if (edits.every((edit) => listed.has(edit.cluster ?? ""))) return undefined;
  return { ok: false, error: pinError("PIN_AMBIGUOUS", { kind: "BothHold", inside, notIn, to: first.to }) };
}

/** Reads both entries. Errors: those of `readEntries`, and of the version's pin path in either entry. */
export function readPair(text: string, edit: Pick<Edit, "path" | "entry" | "at">): ReadPair {
  const opened = openPinFile(text);
  if (!opened.ok) return opened;
  const young = edit.entry ?? "";
  const read = readEntries(opened.file, { old: edit.path, new: young });
  if (!read.ok) return read;
  const notIn = findPin(text, { path: valuePath(edit.path, edit), create: true });
  if (!notIn.ok) return notIn;
  const inside = findPin(text, { path: valuePath(young, edit), create: true });
  if (!inside.ok) return inside;
  const listed = new Set(read.entries.names.filter((name) => name !== NO_CLUSTER));
  return { ok: true, pair: { listed, notIn: notIn.found.value, inside: inside.found.value } };
}

function valuePath(entry: string, { at = "" }: Pick<Edit, "at">): string {
  return at.startsWith("clusters.") ? `${entry}.${at}` : `${entry}.clusters${at.startsWith("[") ? "" : "."}${at}`;
}
