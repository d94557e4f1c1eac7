/** A person's clone is asked about commits, tags and ancestry; nothing in it is changed. Called by `change.ts` and `changed-since.ts`. */
import { execFile } from "node:child_process";
import { drySHAOf, metadataOf } from "../../../core/argocd/hydrator-metadata.ts";
import { isFullSha } from "../../../core/argocd/liveness/moment.ts";
import type { Ancestry, LivenessInput } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { CommandError } from "../command.ts";

/** Something that follows a revision of a repo: a source, or a hydrator's dry source. */
export interface Bearer {
  repoURL: string;
  targetRevision: string;
  chart: boolean;
}

const MOST_OUTPUT = 256 * 1024 * 1024;

/** Runs git in a clone of the user's; resolves to its exit code and output. */
export function git(dir: string, args: string[]): Promise<{ code: number; out: string; raw: string; error: string }> {
  return new Promise((resolve) => {
    execFile("git", ["--literal-pathspecs", "-C", dir, ...args], { encoding: "utf8", maxBuffer: MOST_OUTPUT }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 128;
      // Where git said nothing the exit code says all: execFile's own message is the command line again. A number is git's, a word is the system's.
      const unsaid = error === null || typeof error.code === "number" ? "" : error.message;
      resolve({ code, out: out.trim(), raw: out, error: err.trim() || unsaid });
    });
  });
}

/** The full id of a commit; throws where the clone has none by that name. */
export async function commitIn(dir: string, name: string): Promise<string> {
  const { code, out, error } = await git(dir, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  if (code !== 0)
    throw new CommandError(2, `--commit ${name}: no such commit in ${dir}${error === "" ? "; fetch it first" : `: ${error}`}`);
  return out;
}

/** The commit that a tag of the clone means; undefined: it has no such tag. */
export async function tagIn(dir: string, tag: string): Promise<string | undefined> {
  const { code, out, error } = await git(dir, ["rev-parse", "--verify", "--quiet", "--end-of-options", `refs/tags/${tag}^{commit}`]);
  if (code !== 0 && error !== "") throw new CommandError(2, `--repo ${dir}: ${error}`);
  return code === 0 ? out : undefined;
}

/** How the Applications spell the repo of the clone: its origin, or the one Git repo they read where that is no help. `any`: there is an Application. */
export async function repoOf(dir: string, bearers: readonly Bearer[], any = true): Promise<string> {
  const origin = await originOf(dir);
  const known = spellings(bearers);
  if (origin !== undefined && known.has(normalRepo(origin))) return origin;
  // Which commit a revision is stays proven by the clone, so a wrong guess here cannot make anything live.
  const [only] = known.values();
  if (only !== undefined && known.size === 1) return only;
  if (origin !== undefined && known.size === 0) return origin;
  if (!any) return "";
  throw new CommandError(2, `which of ${[...known.values()].join(", ")} is the clone ${dir}? say it by --repo-url`);
}

/**
 * The same where it may be a repo that none of them reads. An origin that is no URL of a host, or that has the path of one they
 * read on another host (an alias of SSH), is not believed to be another repo.
 */
export async function cloneAmong(dir: string, bearers: readonly Bearer[]): Promise<string> {
  const origin = await originOf(dir);
  if (origin === undefined || !/^(?!file:)([a-z][a-z0-9+.-]*:\/\/|[^/]+:)/i.test(origin)) return await repoOf(dir, bearers);
  const path = pathOf(normalRepo(origin));
  return (
    spellings(bearers)
      .values()
      .find((url) => pathOf(normalRepo(url)) === path) ?? origin
  );
}

async function originOf(dir: string): Promise<string | undefined> {
  const { code, out } = await git(dir, ["remote", "get-url", "origin"]);
  return code === 0 ? out : undefined;
}

function spellings(bearers: readonly Bearer[]): Map<string, string> {
  return new Map(bearers.filter((bearer) => !bearer.chart).map((bearer) => [normalRepo(bearer.repoURL), bearer.repoURL]));
}

function pathOf(repo: string): string {
  return repo.slice(repo.indexOf("/") + 1).toLowerCase();
}

/** Every full id that the Applications mention, so that their ancestry can be looked up beforehand. */
export function seenRevisions(views: readonly ApplicationView[]): string[] {
  const found = new Set<string>();
  for (const { status } of views) {
    const { operation, hydrator } = status;
    const all = [...status.sync.revisions, ...(operation?.appliedRevisions ?? []), ...(operation?.requestedRevisions ?? [])];
    for (const dry of [hydrator?.current?.drySHA, hydrator?.last?.drySHA, hydrator?.lastComparedDryRevision])
      if (dry !== undefined) all.push(dry);
    for (const revision of all) if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(revision)) found.add(revision);
  }
  return [...found];
}

/**
 * What stands beside the hydrated manifests that the Applications show, by the clone; undefined: none of them is hydrated to a branch of
 * its repo. What the clone does not have is as of a repo that cannot be read.
 */
export async function hydratedIn(dir: string, views: readonly ApplicationView[], repoURL: string): Promise<Hydrated | undefined> {
  const known = new Map<string, { drySHA: string | undefined }>();
  for (const { spec, status } of views) {
    const [source] = spec.sources;
    const [seen] = status.sync.revisions;
    if (spec.sourceHydrator === undefined || source === undefined || seen === undefined || !isFullSha(seen)) continue;
    if (normalRepo(source.repoURL) !== normalRepo(repoURL)) continue;
    if ((await git(dir, ["cat-file", "-e", `${seen}^{commit}`])).code !== 0) continue;
    const { code, raw } = await git(dir, ["cat-file", "blob", `${seen}:${metadataOf(source.path ?? "")}`]);
    known.set(`${seen} ${source.path ?? ""}`, { drySHA: code === 0 ? drySHAOf(raw) : undefined });
  }
  const dry = [...known.values()].flatMap(({ drySHA }) => (drySHA === undefined || !isFullSha(drySHA) ? [] : [drySHA]));
  return known.size === 0 ? undefined : { dry, at: ({ path }, seen) => known.get(`${seen} ${path ?? ""}`) ?? "unreadable" };
}

interface Hydrated {
  /** The dry commits that are named. */
  dry: string[];
  at: NonNullable<LivenessInput["hydrated"]>;
}

/** Whether revisions contain commits, by the clone; looked up beforehand. */
export async function ancestryIn(
  dir: string,
  commits: readonly string[],
  seen: readonly string[],
): Promise<(revision: string, commit: string) => Ancestry> {
  const known = new Map<string, Ancestry>();
  for (const commit of new Set(commits)) {
    for (const revision of seen) {
      const { code } = await git(dir, ["merge-base", "--is-ancestor", commit, revision]);
      known.set(`${revision} ${commit}`, code === 0 ? "contains" : code === 1 ? "missing" : "unknown");
    }
  }
  return (revision, commit) => known.get(`${revision} ${commit}`) ?? "unknown";
}
