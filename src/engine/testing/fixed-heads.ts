import type { Heads, RemoteHeads } from "../config-repo/remote-heads.ts";

/** Heads of the remote that stand as a test says; what is heard and expired is noted. */
export function fixedHeads(over: Partial<Heads> = {}): RemoteHeads & { needsFetch: boolean; hasNews: boolean } {
  const heads = {
    last: { reading: 1, branch: "main", base: undefined, journal: undefined, ...over },
    hasNews: false,
    needsFetch: false,
    hear() {
      heads.hasNews = true;
      heads.needsFetch = true;
    },
    expire() {
      heads.needsFetch = true;
    },
    moveJournal(journal: string | undefined) {
      heads.last = { ...heads.last, journal };
    },
    read: async () => heads.last,
  };
  return heads;
}
