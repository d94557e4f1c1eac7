import { CELL_LIMITS, type CellLimits, openCell, type SharedCell } from "../../../adapters/cell/cell.ts";

interface ServerCells {
  /** Judges what strangers send. */
  judging: SharedCell;
  /** Reads and renders what takes long of what is merged: it waits for no stranger. */
  reading: SharedCell;
}

let shared: ServerCells | undefined;

/** The cells of this process: one of each kind for all repositories, so that each has one processor at most. Each repository has its turn. */
export function serverCells(): ServerCells {
  shared ??= { judging: openServerCell(), reading: openServerCell() };
  return shared;
}

export function openServerCell(limits: Partial<CellLimits> = {}): SharedCell {
  const file = import.meta.url.endsWith(".ts") ? "./inside.ts" : "./inside.js";
  return openCell(new URL(file, import.meta.url), { ...CELL_LIMITS, ...limits });
}
