import { said } from "../../core/reasons/run.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { RepoContext } from "./context.ts";

/** An archived repository is looked at this often, to see whether it was taken out of the archive. */
export const ARCHIVED_EVERY_MS = 5 * 60_000;

/** Whether what just failed failed because nothing can be written here any more. Not known counts as no. */
export async function isArchived(context: RepoContext): Promise<boolean> {
  try {
    const { archived } = await context.forge.repo();
    if (archived) context.log.error({ repository: context.repository }, "the repository is archived: its runs stand still until it is not");
    return archived;
  } catch {
    return false;
  }
}

/** As the page shows it: nothing of it can be written to the journal. */
export function standingStill(run: Run): Run {
  const why = said("the repository is archived, so nothing can be written to it: the run stands still");
  return { ...run, why, next: { what: said("somebody takes the repository out of the archive") } };
}
