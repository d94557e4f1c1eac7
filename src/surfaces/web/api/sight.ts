/** What one line of events may tell of, asked again while it is open: who loses access is told nothing more. */
import type { Fleet } from "../../../core/report/model/schema/fleet.ts";
import type { Viewer } from "./viewers.ts";

export interface LineSight {
  seesAll: boolean;
  allows(repository: string): boolean;
  /** Asks again. `changed`: the reader has to read anew; `gone`: nothing is theirs to see any more, or nobody says. */
  renew(): Promise<"same" | "changed" | "gone">;
}

const ALL: LineSight = { seesAll: true, allows: () => true, renew: async () => "same" };

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
    seesAll: false,
    allows: (repository) => seen.has(repository.toLowerCase()),
    async renew() {
      const before = seen;
      seen = await seenBy(viewer, repositories()).catch(() => new Set<string>());
      if (seen.size === 0 && before.size > 0) return "gone";
      return before.size === seen.size && [...seen].every((name) => before.has(name)) ? "same" : "changed";
    },
  };
}

/** What of a fleet somebody may see. */
export function fleetSeen(document: Fleet, allows: LineSight["allows"]): Fleet {
  const theirs = ({ repository }: { repository: string }) => allows(repository);
  const [rollouts, releases] = [document.rollouts.filter(theirs), document.releases.filter(theirs)];
  return { ...document, rollouts, releases, repositories: document.repositories.filter(theirs), isWhole: false };
}

/** undefined: it is not theirs to see. */
export async function sightOfOne(viewer: Viewer, repository: string): Promise<LineSight | undefined> {
  if (viewer.seesAll) return ALL;
  if (!(await viewer.sees(repository))) return undefined;
  return { seesAll: false, allows: () => true, renew: async () => ((await viewer.sees(repository).catch(() => false)) ? "same" : "gone") };
}
