import type { RepoContext } from "../round/context.ts";
import { fact, type RepoMemory } from "../round/memory.ts";

/**
 * Whether one commit contains another. undefined: the mirror does not have both. Only what it knows for sure is kept: a commit
 * unknown today may be fetched tomorrow.
 */
export async function contains(context: RepoContext, memory: RepoMemory, commit: string, part: string): Promise<boolean | undefined> {
  if (commit === part) return true;
  const question = `${part} in ${commit}`;
  const known = memory.facts.get(question);
  if (known !== undefined) return known;
  const answer = await context.mirror.isAncestor(part, commit);
  return answer === undefined ? undefined : fact(memory, question, async () => answer);
}
