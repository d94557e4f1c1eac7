import { splice } from "../../core/pins/index.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { OwnWords, Problem, ProblemReason } from "../../core/reasons/problem.ts";
import { moveClusters } from "./pin-move.ts";

export type AppliedEdits = { ok: true; files: Map<string, string> } | { ok: false; problem: Problem };

/**
 * The new text of every file that a batch's edits touch; every byte outside the edited values stays. Edits of kind
 * `branch` touch no file. A file whose values are already what they should be is given as it is.
 *
 * The problem of the first edit that cannot be made: a file that is not there or must not be read, or what `splice` says.
 */
export function applyEdits(edits: readonly Edit[], readFile: (path: string) => string | null): AppliedEdits {
  const files = new Map<string, string>();
  const byFile = Map.groupBy(
    edits.filter((edit) => edit.kind !== "branch"),
    (edit) => edit.file,
  );
  for (const [file, group] of byFile) {
    const read = readText(file, readFile);
    if (!read.ok) return { ok: false, problem: read.problem };
    const done = editText(read.text, file, group);
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
    const said = error instanceof Error ? error.message : "unknown reason";
    return { ok: false, problem: problemIn(file, { code: "PIN_FILE_UNREADABLE", pinFile: file, said }) };
  }
}

function editText(text: string, file: string, edits: readonly Edit[]): { ok: true; text: string } | { ok: false; problem: Problem } {
  const values = edits.filter((edit) => edit.kind === "value");
  const spliced = splice(
    text,
    values.map(({ path, part, create, to }) => ({
      path,
      value: to,
      ...(part === undefined ? {} : { part }),
      ...(create === undefined ? {} : { create }),
    })),
  );
  if (!spliced.ok) {
    const { code, message, hint, line, column } = spliced.error;
    return { ok: false, problem: problemIn(file, { code, message, hint }, line, column) };
  }
  const moves = edits.filter((edit) => edit.kind === "clusterGenerator");
  if (moves.length === 0) return spliced;
  const moved = moveClusters(spliced.text, moves);
  if (moved.ok) return moved;
  const { code, message, hint, line, column } = moved.error;
  return { ok: false, problem: problemIn(file, { code, message, hint }, line, column) };
}

function problemIn(file: string, reason: ProblemReason | OwnWords, line = 1, column = 1): Problem {
  return { ...reason, severity: "error", file, line, column, path: [] };
}
