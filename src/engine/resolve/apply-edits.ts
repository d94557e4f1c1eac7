import { errorText } from "../../core/base/error-text.ts";
import { type MoveResult, moveInClusterGenerator, moveOutOfClusterGenerator } from "../../core/pins/cluster-generator.ts";
import { splice } from "../../core/pins/splice.ts";
import type { PinError } from "../../core/pins/types.ts";
import { type MadePin, unmake } from "../../core/pins/unmake.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Problem, ProblemReason } from "../../core/reasons/problems/problem.ts";
import { type GeneratorPair, readPair } from "./targets-generator.ts";

type AppliedEdits = { ok: true; files: Map<string, string> } | { ok: false; problem: Problem };

/**
 * The new text of every file that a batch's edits touch; every byte outside the edited values stays. Edits of kind
 * `branch` touch no file, and those of kind `copy` are made of trees when they are committed (`round/act/batch-commit.ts`). A file whose values are already what they should be is given as it is.
 *
 * `toWrite`: what an edit of a value writes; left out: the release's.
 *
 * The problem of the first edit that cannot be made: a file that is not there or must not be read, or what `splice` says.
 */
export function applyEdits(
  edits: readonly Edit[],
  readFile: (path: string) => string | null,
  toWrite = ({ to }: Edit) => to,
): AppliedEdits {
  const files = new Map<string, string>();
  const byFile = Map.groupBy(
    edits.filter((edit) => edit.kind === "value" || edit.kind === "clusterGenerator"),
    (edit) => edit.file,
  );
  for (const [file, group] of byFile) {
    const read = readText(file, readFile);
    if (!read.ok) return { ok: false, problem: read.problem };
    const done = editText(read.text, file, group, toWrite);
    if (!done.ok) return done;
    files.set(file, done.text);
  }
  return { ok: true, files };
}

function readText(file: string, readFile: (path: string) => string | null): { ok: true; text: string } | { ok: false; problem: Problem } {
  try {
    const text = readFile(file);
    if (text !== null) return { ok: true, text };
    return { ok: false, problem: problemIn(file, { code: "PIN_FILE_MISSING", pinFile: file }) };
  } catch (error) {
    const said = errorText(error);
    return { ok: false, problem: problemIn(file, { code: "PIN_FILE_UNREADABLE", pinFile: file, said }) };
  }
}

function editText(
  text: string,
  file: string,
  edits: readonly Edit[],
  toWrite: (edit: Edit) => string,
): { ok: true; text: string } | { ok: false; problem: Problem } {
  const values = edits.filter((edit) => edit.kind === "value" && edit.removes === undefined);
  const written = splice(
    text,
    values.map((edit) => ({ path: edit.path, value: toWrite(edit), part: edit.part, create: edit.create })),
  );
  const gone = edits.flatMap((edit) => madePin(edit) ?? []);
  const spliced = written.ok && gone.length > 0 ? unmake(written.text, gone) : written;
  const moves = edits.filter((edit) => edit.kind === "clusterGenerator");
  const done = spliced.ok && moves.length > 0 ? moveClusters(spliced.text, moves) : spliced;
  return done.ok ? done : { ok: false, problem: problemIn(file, done.error, done.error.line, done.error.column) };
}

/** What a run made, where the edit takes it away. */
export function madePin({ path, removes, made, from }: Edit): MadePin | undefined {
  return removes === undefined || made === undefined || from === null || from === "" ? undefined : { path, made, value: from };
}

function problemIn(file: string, reason: ProblemReason, line = 1, column = 1): Problem {
  return { ...reason, severity: "error", file, line, column, path: [] };
}

type Moved = { ok: true; text: string } | { ok: false; error: PinError };

/**
 * Moves the edits' clusters to the generator entry that is to hold the release, and sets its version where it differs.
 * Clusters that are there already stay. Errors: those of reading the pair and of the moves.
 */
function moveClusters(text: string, edits: readonly Edit[]): Moved {
  let done: Moved = { ok: true, text };
  for (const group of Map.groupBy(edits, ({ path, entry, at, to }) => [path, entry, at, to].join("\n")).values()) {
    if (done.ok) done = moveGroup(done.text, group);
  }
  return done;
}

function moveGroup(text: string, edits: readonly Edit[]): Moved {
  const [first] = edits;
  if (first === undefined) return { ok: true, text };
  const read = readPair(text, first);
  if (!read.ok) return read;
  const names = [...new Set(edits.map((edit) => edit.cluster ?? ""))];
  const into = destinationOf(read.pair, first.to, names);
  const going = names.filter((name) => read.pair.listed.has(name) !== (into === "In"));
  if (going.length === 0) return { ok: true, text };
  const move = { old: first.path, new: first.entry ?? "", names: going, path: first.at ?? "", value: first.to };
  const moved: MoveResult = into === "In" ? moveInClusterGenerator(text, move) : moveOutOfClusterGenerator(text, move);
  return moved.ok ? { ok: true, text: moved.text } : moved;
}

/** The entry that holds the release, else the one without clusters: `NotIn` once all are listed. */
function destinationOf({ listed, inside, notIn }: GeneratorPair, to: string, names: readonly string[]): "In" | "NotIn" {
  if (inside === to) return "In";
  if (notIn === to) return "NotIn";
  return names.every((name) => listed.has(name)) ? "NotIn" : "In";
}
