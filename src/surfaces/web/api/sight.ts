/** What one line of events may tell of, asked again while it is open: who loses access is told nothing more. */
import type { Viewer } from "./viewers.ts";

export interface LineSight {
  allows(repository: string): boolean;
  /** Asks again. `changed`: the reader has to read anew; `gone`: nothing is theirs to see any more, or nobody says. */
  renew(): Promise<"same" | "changed" | "gone">;
}

const ALL: LineSight = { allows: () => true, renew: async () => "same" };

/** Those of the repositories that a viewer may see, in lower case. */
export async function seenBy(viewer: Viewer, repositories: readonly string[]): Promise<ReadonlySet<string>> {
  const names = [...new Set(repositories.map((name) => name.toLowerCase()))];
  // The first alone: of a token that is none GitHub is not told once for each.
  const first = names.length > 0 && (await viewer.sees(names[0] ?? ""));
  const seen = [first, ...(await Promise.all(names.slice(1).map((name) => viewer.sees(name))))];
  return new Set(names.filter((_, index) => seen[index]));
}

export async function sightOfFleet(viewer: Viewer, repositories: () => readonly string[]): Promise<LineSight> {
  if (viewer.seesAll) return ALL;
  let seen = await seenBy(viewer, repositories());
  return {
    allows: (repository) => seen.has(repository.toLowerCase()),
    async renew() {
      const before = seen;
      seen = await seenBy(viewer, repositories()).catch(() => new Set<string>());
      if (seen.size === 0 && before.size > 0) return "gone";
      return before.size === seen.size && [...seen].every((name) => before.has(name)) ? "same" : "changed";
    },
  };
}

/** undefined: it is not theirs to see. */
export async function sightOfOne(viewer: Viewer, repository: string): Promise<LineSight | undefined> {
  if (viewer.seesAll) return ALL;
  if (!(await viewer.sees(repository))) return undefined;
  return { allows: () => true, renew: async () => ((await viewer.sees(repository).catch(() => false)) ? "same" : "gone") };
}
