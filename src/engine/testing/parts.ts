import type { Heads } from "../config-repo/remote-heads.ts";
import type { RepoContext } from "../round/context.ts";
import { openShared } from "../round/open-repo.ts";
import { fixedHeads } from "./fixed-heads.ts";

/** Everything that a repo's loop is made of, with heads of the remote that stand as a test says. */
export type Parts = Omit<ReturnType<typeof openShared>, "remote"> & { remote: ReturnType<typeof fixedHeads> };

export function partsOf(context: Partial<RepoContext>, heads: Partial<Heads> = {}): Parts {
  const remote = fixedHeads(heads);
  return { ...openShared(context as RepoContext, remote), remote };
}
