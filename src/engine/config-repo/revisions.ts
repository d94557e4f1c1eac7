/**
 * What tags and branches of Git repositories stand for now: of the config repo by Git, of others of the same host by its API, where the App
 * sees them. Nothing else is asked: a `repoURL` is what anybody may have written. Called by whoever plans a release, and by each round.
 */
import { normalRepo } from "../../core/argocd/same.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { NamedRevision } from "../../core/run/state/world.ts";
import type { RepoContext } from "../round/context.ts";

export type Named = Pick<NamedRevision, "repoURL" | "revision">;

/** Answers are at most so old. undefined: what should have answered did not. */
export type RevisionsNow = (named: readonly Named[], mostMs: number) => Promise<NamedRevision[] | undefined>;

/** The API is asked no more often: each question counts against the hour's. */
const API_MS = 10_000;
const MOST_KEPT = 1000;
/** Of one round. */
const MOST_ASKED = 50;

type Context = Pick<RepoContext, "mirror" | "forge" | "clock" | "log" | "repoURL">;

export function openRevisions({ mirror, forge, clock, log, repoURL }: Context): RevisionsNow {
  const kept = new BoundedMap<string, { at: number; commit: NamedRevision["commit"] }>(MOST_KEPT);

  async function askGit(names: readonly string[]): Promise<Map<string, string | null>> {
    const refs = names.flatMap((name) => (name.startsWith("refs/") ? [name] : [`refs/tags/${name}`, `refs/heads/${name}`]));
    const found = await mirror.remoteCommits(refs);
    // Of a tag and a branch of one name the tag: it is what was released.
    return new Map(
      names.map((name) => [name, found.get(name) ?? found.get(`refs/tags/${name}`) ?? found.get(`refs/heads/${name}`) ?? null]),
    );
  }

  function askHost({ repoURL: url, revision }: Named): Promise<NamedRevision["commit"]> | "hidden" {
    const ours = normalRepo(repoURL);
    const host = ours.slice(0, ours.indexOf("/") + 1);
    const repository = url.startsWith(host) ? url.slice(host.length) : "";
    if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || !isName(revision) || forge.commitOf === undefined) return "hidden";
    return forge.commitOf(repository, revision);
  }

  return async (named, mostMs) => {
    const now = clock.now();
    const known = ({ repoURL: url, revision }: Named, most: number) => {
      const one = kept.get(`${url} ${revision}`);
      return one !== undefined && now - one.at < most ? one : undefined;
    };
    const keep = ({ repoURL: url, revision }: Named, commit: NamedRevision["commit"]) =>
      kept.set(`${url} ${revision}`, { at: now, commit });
    const asked = named
      .slice(0, MOST_ASKED)
      .map((one) => ({ ...one, isOurs: one.repoURL === normalRepo(repoURL) && isName(one.revision) }));
    try {
      const mine = asked.filter((one) => one.isOurs && known(one, mostMs) === undefined);
      const answers = mine.length === 0 ? new Map() : await askGit(mine.map(({ revision }) => revision));
      for (const one of mine) keep(one, answers.get(one.revision) ?? null);
      for (const one of asked) if (!one.isOurs && known(one, Math.max(mostMs, API_MS)) === undefined) keep(one, await askHost(one));
    } catch (error) {
      log.warn({ error: String(error) }, "what the revisions of a release stand for could not be asked; trying again");
      return undefined;
    }
    return asked.map(({ repoURL: url, revision }) => {
      const found = kept.get(`${url} ${revision}`);
      return { repoURL: url, revision, commit: found === undefined ? "hidden" : found.commit };
    });
  };
}

/** What Git takes for the name of a ref, and Argo CD for no range of versions. */
function isName(revision: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._/+@-]{0,200}$/.test(revision) && !/\.\.|\/\/|\.lock(\/|$)|[./]$/.test(revision);
}
