import { parseBranch } from "../../core/run/state/branch-name.ts";
import type { Forge } from "./port.ts";

/**
 * What shows that a journal has been here, where there is none: an open PR of a run that we ourselves opened. In words, for
 * people; undefined: nothing. A PR that somebody else opened from a branch of such a name shows nothing.
 */
export async function tracesOf(forge: Pick<Forge, "openPulls" | "identity" | "repository">): Promise<string | undefined> {
  const us = await forge.identity();
  for (const pull of await forge.openPulls()) {
    const batch = parseBranch(pull.branch);
    const ours = pull.author === us.login && pull.headRepository?.toLowerCase() === forge.repository.toLowerCase();
    if (batch !== undefined && ours) return `pull request #${pull.number} of run ${batch.rollout} #${batch.run} is open`;
  }
  return undefined;
}
