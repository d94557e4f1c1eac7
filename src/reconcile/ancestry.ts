import type { Ancestry } from "../argocd/liveness.ts";
import type { RepoContext } from "./context.ts";
import { fact, type RepoMemory } from "./memory.ts";

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

const ANSWERS = { true: "contains", false: "missing", undefined: "unknown" } as const;

/** Runs a synchronous judgement that asks whether one commit contains another; what is not known yet is asked for, and it is run again. */
export async function withAncestry<T>(
  context: RepoContext,
  memory: RepoMemory,
  judge: (ancestry: (change: string, seen: string) => Ancestry) => T,
): Promise<T> {
  const asked = new Map<string, [string, string]>();
  const known = new Map<string, Ancestry>();
  const ancestry = (change: string, seen: string): Ancestry => {
    if (!/^[0-9a-f]{40}$/.test(seen)) return "unknown";
    const key = `${change} in ${seen}`;
    const answer = known.get(key) ?? remembered(memory, key);
    if (answer === undefined) asked.set(key, [change, seen]);
    return answer ?? "unknown";
  };
  const first = judge(ancestry);
  if (asked.size === 0) return first;
  for (const [key, [change, seen]] of asked) known.set(key, ANSWERS[`${await contains(context, memory, seen, change)}`]);
  return judge(ancestry);
}

function remembered(memory: RepoMemory, key: string): Ancestry | undefined {
  const known = memory.facts.get(key);
  return known === undefined ? undefined : known ? "contains" : "missing";
}
