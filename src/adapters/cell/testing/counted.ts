import type { Cell, CellOutcome } from "../port.ts";

/** A cell, and how its jobs ended. */
export function counted(cell: Cell): Cell & { jobs: CellOutcome["kind"][] } {
  const jobs: CellOutcome["kind"][] = [];
  const run: Cell["run"] = async (job) => {
    const outcome = await cell.run(job);
    jobs.push(outcome.kind);
    return outcome;
  };
  return { jobs, run };
}
