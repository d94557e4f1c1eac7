import { CELL_LIMITS, type CellLimits, openCell } from "../../../adapters/cell/cell.ts";
import type { Cell } from "../../../adapters/cell/port.ts";

let shared: Cell | undefined;

/** The cell of this process: one for all repositories, so that what strangers send has one processor at most. */
export function serverCell(): Cell {
  shared ??= openServerCell();
  return shared;
}

export function openServerCell(limits: Partial<CellLimits> = {}): ReturnType<typeof openCell> {
  const file = import.meta.url.endsWith(".ts") ? "./inside.ts" : "./inside.js";
  return openCell(new URL(file, import.meta.url), { ...CELL_LIMITS, ...limits });
}
