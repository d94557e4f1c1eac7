import { createHash } from "node:crypto";
import { maxSatisfying, valid } from "semver";
import { errorText } from "../../../core/base/error-text.ts";
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
 * The default knows every exact chart version, and resolves every revision of a foreign repository to an id made from its name, a digest where it is `oci://`.
 */
export type SyntheticRegistry = (source: ApplicationSource, targetRevision: string) => string | undefined;

/** As Helm's library reads one version: `1`, `1.10` and `v4.5` are no ranges, and Argo CD looks for a chart of that very text. */
const VERSION = /^v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

export const anyVersion: SyntheticRegistry = (source, targetRevision) => {
  if (source.chart !== undefined) return VERSION.test(targetRevision) || valid(targetRevision) !== null ? targetRevision : undefined;
  if (/^(?:[0-9a-f]{40}|sha256:[0-9a-f]{64})$/.test(targetRevision)) return targetRevision;
  // Of an image in a registry, Argo CD shows the digest.
  if (/^oci:/.test(source.repoURL)) return `sha256:${createHash("sha256").update(`${source.repoURL} ${targetRevision}`).digest("hex")}`;
  return createHash("sha1").update(`${source.repoURL} ${targetRevision}`).digest("hex");
};

/** Charts with the versions they are published in, to be asked for exactly or by range; everything else as `anyVersion`. */
export function chartVersions(charts: Readonly<Record<string, readonly string[]>>): SyntheticRegistry {
  return (source, targetRevision) => {
    const published = source.chart === undefined ? undefined : charts[source.chart];
    if (published === undefined) return anyVersion(source, targetRevision);
    if (VERSION.test(targetRevision)) return published.includes(targetRevision) ? targetRevision : undefined;
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

/** A shortened id is shown in full when its manifests are first made, and as it is written from then on. */
function asShown(before: Set<string>, targetRevision: string, found: string): string {
  const isShort = /^[0-9a-f]{7,39}$/.test(targetRevision) && found.startsWith(targetRevision);
  if (!isShort || before.has(targetRevision)) return isShort ? targetRevision : found;
  before.add(targetRevision);
  return found;
}

export function createRepositories(
  sources: readonly GitSource[],
  registry: SyntheticRegistry,
  options: { now: () => number; ttl: number },
): Repositories {
  const looked = new Map<GitSource, number>();
  const shortened = new Map<GitSource, Set<string>>();
  let down = false;

  async function look(source: GitSource, force: boolean): Promise<void> {
    const last = looked.get(source);
    if (!force && last !== undefined && options.now() - last < options.ttl && source.fetched) return;
    if (down) throw new RepoError("rpc error: code = Unavailable desc = failed to list refs: dial tcp: lookup git: i/o timeout");
    const began = options.now();
    try {
      await source.fetch();
    } catch (error) {
      throw new RepoError(`rpc error: code = Unknown desc = failed to list refs: ${errorText(error)}`);
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
      let found = await git.resolve(targetRevision);
      // A commit that it does not have is fetched, whenever it has looked last.
      if (found === undefined && /^[0-9a-f]{40}$/.test(targetRevision)) {
        await look(git, true);
        found = await git.resolve(targetRevision);
      }
      if (found === undefined) throw unresolved(targetRevision, `unable to resolve '${targetRevision}' to a commit SHA`);
      const before = shortened.get(git) ?? new Set();
      shortened.set(git, before);
      return { revision: asShown(before, targetRevision, found), git };
    },
  };
}
