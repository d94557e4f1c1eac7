import type { Mirror } from "../../adapters/git/port.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import { isRolloutFile } from "../config-repo/project.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";

/** What a judgement has looked at, so that it is made anew only where that has changed. */
export interface Reads {
  paths: Set<string>;
  /** It asked which files there are (a git generator): then any change may matter. */
  listed: boolean;
}

export function noReads(): Reads {
  return { paths: new Set(), listed: false };
}

/** A snapshot that notes what is read of it. Which rollouts there are is asked by everybody and looked at by their names. */
export function noting(snapshot: Snapshot, reads: Reads): Snapshot {
  return {
    id: snapshot.id,
    get kept() {
      return snapshot.kept;
    },
    paths: () => snapshot.paths(),
    links: (folder) => snapshot.links(folder),
    read(path) {
      reads.paths.add(path);
      return snapshot.read(path);
    },
    with: (work) =>
      snapshot.with((files) =>
        work({
          read(path) {
            reads.paths.add(path);
            return files.read(path);
          },
          paths() {
            reads.listed = true;
            return files.paths();
          },
        }),
      ),
  };
}

/** Whether a base that moved leaves what was looked at as it was: one question of Git for all that were judged on it. */
export async function stillHolds(
  mirror: Pick<Mirror, "changedPaths">,
  reads: Reads,
  from: string,
  to: string,
  asked: Map<string, Promise<readonly string[]>>,
): Promise<boolean> {
  if (from === to) return true;
  if (reads.listed) return false;
  const question = asked.get(from) ?? mirror.changedPaths(from, to);
  asked.set(from, question);
  return !(await question).some((path) => reads.paths.has(path) || isRolloutFile(path) || path === SETTINGS_FILE);
}
