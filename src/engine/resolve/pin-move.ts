import { type MoveResult, moveInClusterGenerator, moveOutOfClusterGenerator, type PinError } from "../../core/pins/index.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { type GeneratorPair, readPair } from "./targets-generator.ts";

export type Moved = { ok: true; text: string } | { ok: false; error: PinError };

/**
 * Moves the edits' clusters to the generator entry that is to hold the release, and sets its version where it differs.
 * Clusters that are there already stay. Errors: those of reading the pair and of the moves.
 */
export function moveClusters(text: string, edits: readonly Edit[]): Moved {
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
