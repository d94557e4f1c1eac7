import type { Heads } from "../config-repo/remote-heads.ts";
import type { RepoContext } from "../round/context.ts";
import { type RepoMemory, repoMemory } from "../round/memory.ts";
import { fixedHeads } from "./fixed-heads.ts";

/** What a process remembers, with heads of the remote that stand as a test says. */
export function memoryOf(
  context: Partial<RepoContext>,
  heads: Partial<Heads> = {},
): RepoMemory & { remote: ReturnType<typeof fixedHeads> } {
  const remote = fixedHeads(heads);
  return { ...repoMemory(context as RepoContext, remote), remote };
}
