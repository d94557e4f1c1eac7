import type { Mirror } from "../../adapters/git/port.ts";
import type { Release } from "../../core/plan/plan-types.ts";
import { VERSION } from "../config-repo/release.ts";
import { branchHeads, isBranchName } from "../round/observe/branch-heads.ts";

/** What branch pins are resolved with: where the release is, and where the branches are. */
export interface BranchPlaces {
  /** The commit that the release's version means; undefined: none in this repo. */
  release: string | undefined;
  /** By branch; those that are not there are left out. */
  heads: ReadonlyMap<string, string>;
  /** Those that no pin moves, whatever gives their names. */
  reserved: Reserved;
}

interface Reserved {
  baseBranch: string;
  journalBranch: string;
}

/** Asks the remote for the release commit and the heads of these branches. */
export async function branchPlaces(
  mirror: Mirror,
  release: Release,
  branches: Iterable<string>,
  reserved: Reserved,
): Promise<BranchPlaces> {
  const names = [...branches].filter((name) => isBranchName(name) && !isReserved(name, reserved));
  return { release: await releaseCommit(mirror, release.values[VERSION] ?? ""), heads: await branchHeads(mirror, names), reserved };
}

/** Says whether a branch holds rollouts, what the bot keeps, or what GitHub merges: moved by a pin, or back, it would undo others' work. */
export function isReserved(branch: string, known?: Reserved): boolean {
  return branch === known?.baseBranch || branch === known?.journalBranch || /^(stagecoach|stagecoach-run|gh-readonly-queue)\//.test(branch);
}

/** The commit that a full commit id, a tag or a branch of the config repo means. undefined: it is none of them. */
async function releaseCommit(mirror: Mirror, version: string): Promise<string | undefined> {
  if (/^[0-9a-f]{40}$/.test(version)) {
    if ((await mirror.commitInfo(version)) === undefined) await mirror.fetch();
    return (await mirror.commitInfo(version)) === undefined ? undefined : version;
  }
  if (version === "" || !isBranchName(version)) return undefined;
  for (const ref of [`refs/tags/${version}`, `refs/heads/${version}`]) {
    await mirror.fetch([ref]);
    const commit = await mirror.resolve(ref);
    if (commit !== undefined) return (await mirror.commitInfo(commit)) === undefined ? undefined : commit;
  }
  return undefined;
}
