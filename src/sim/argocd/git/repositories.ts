import { createHash } from "node:crypto";
import { maxSatisfying, valid } from "semver";
import type { ApplicationSource } from "../types.ts";
import type { GitSource } from "./git-source.ts";

/** A revision that a source's targetRevision means now. */
interface Resolved {
  /** A full commit id, or the version of a chart. */
  revision: string;
  /** Absent where there is no repository behind it: what it holds is then told from the revision alone. */
  git?: GitSource;
}

/** The repository or the revision is not to be had; the message is Argo CD's. */
export class RepoError extends Error {
  override name = "RepoError";
}

/**
 * Answers for sources whose repository the simulator does not hold: charts, and code in other repositories. undefined: no such version.
 * The default knows every exact chart version, and resolves every revision of a foreign repository to an id made from its name.
 */
export type SyntheticRegistry = (source: ApplicationSource, targetRevision: string) => string | undefined;

export const anyVersion: SyntheticRegistry = (source, targetRevision) => {
  if (source.chart !== undefined) return valid(targetRevision) === null ? undefined : targetRevision;
  if (/^[0-9a-f]{40}$/.test(targetRevision)) return targetRevision;
  return createHash("sha1").update(`${source.repoURL} ${targetRevision}`).digest("hex");
};

/** Charts with the versions they are published in, to be asked for exactly or by range; everything else as `anyVersion`. */
export function chartVersions(charts: Readonly<Record<string, readonly string[]>>): SyntheticRegistry {
  return (source, targetRevision) => {
    const published = source.chart === undefined ? undefined : charts[source.chart];
    if (published === undefined) return anyVersion(source, targetRevision);
    return maxSatisfying([...published], targetRevision === "" ? "*" : targetRevision) ?? undefined;
  };
}

export interface Repositories {
  /**
   * Resolves the targetRevision of a source. With `force` the repository is asked in any case; otherwise a look younger than the
   * reconciliation interval serves. Throws RepoError.
   */
  resolve(source: ApplicationSource, targetRevision: string, force: boolean): Promise<Resolved>;
  sourceOf(repoURL: string): GitSource | undefined;
  /** While it is down every look fails. */
  setDown(down: boolean): void;
}

function unresolved(targetRevision: string, why: string): RepoError {
  return new RepoError(`rpc error: code = Unknown desc = failed to resolve revision "${targetRevision}": ${why}`);
}

export function createRepositories(
  sources: readonly GitSource[],
  registry: SyntheticRegistry,
  options: { now: () => number; ttl: number },
): Repositories {
  const looked = new Map<GitSource, number>();
  let down = false;

  async function look(source: GitSource, force: boolean): Promise<void> {
    const last = looked.get(source);
    if (!force && last !== undefined && options.now() - last < options.ttl && source.fetched) return;
    if (down) throw new RepoError("rpc error: code = Unavailable desc = failed to list refs: dial tcp: lookup git: i/o timeout");
    const began = options.now();
    try {
      await source.fetch();
    } catch (error) {
      throw new RepoError(
        `rpc error: code = Unknown desc = failed to list refs: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    looked.set(source, began);
  }

  const sourceOf = (repoURL: string) => sources.find((source) => source.matches(repoURL));

  return {
    sourceOf,
    setDown(value) {
      down = value;
    },
    async resolve(source, targetRevision, force) {
      const git = source.chart === undefined ? sourceOf(source.repoURL) : undefined;
      if (git === undefined) {
        const revision = registry(source, targetRevision);
        if (revision === undefined)
          throw unresolved(
            targetRevision,
            source.chart === undefined
              ? `unable to resolve '${targetRevision}' to a commit SHA`
              : `chart ${source.chart} has no such version`,
          );
        return { revision };
      }
      await look(git, force);
      const revision = await git.resolve(targetRevision);
      if (revision === undefined) throw unresolved(targetRevision, `unable to resolve '${targetRevision}' to a commit SHA`);
      return { revision, git };
    },
  };
}
