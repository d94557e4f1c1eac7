/** What the options of `explain` name as the change, and what a clone says of it. Called by `explain.ts`. */
import { type Fields, fields, list, own, word } from "../../../core/argocd/decode/lenient.ts";
import { isFullSha } from "../../../core/argocd/liveness/moment.ts";
import type { Change, LivenessInput } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { CommandError } from "../command.ts";
import { changedSince } from "./changed-since.ts";
import { ancestryIn, type Bearer, cloneAmong, commitIn, hydratedIn, repoOf, seenRevisions, tagIn } from "./git.ts";
import type { IntendedSpec } from "./read.ts";

export interface ChangeOptions {
  revision?: string;
  commit?: string;
  repo?: string;
  repoUrl?: string;
}

/** What was read of the Application, and what the commit gives it where that is known. */
interface Given {
  mergedAt: string;
  application: ApplicationView | undefined;
  previous: ApplicationView | undefined;
  rendered: IntendedSpec | undefined;
}

/** What must show, and what a clone says of it. `notes`: further evidence. */
export type Chosen = Pick<LivenessInput, "change" | "also" | "ancestry" | "hydrated" | "seenPinDiffers"> & {
  notes?: Record<string, string>;
};

/** The change that the options name. CommandError 2 where they name none, or one that cannot be in what was given. */
export async function changeOf(options: ChangeOptions, given: Given): Promise<Chosen> {
  const { revision, commit, repo } = options;
  if (revision !== undefined && commit !== undefined) throw new CommandError(2, "give --revision or --commit, not both");
  if (options.repoUrl === "") throw new CommandError(2, "--repo-url is empty: give the repo as the Application spells it");
  if (revision !== undefined) return await byRevision(revision, options, given);
  if (commit === undefined) {
    if (given.rendered !== undefined) return { change: { kind: "generator", mergedAt: given.mergedAt } };
    throw new CommandError(2, "what is the change? give --revision R, --commit SHA --repo DIR, or --intended FILE");
  }
  if (repo === undefined) throw new CommandError(2, "--commit needs --repo DIR, a clone of the config repo");
  return await byCommit(await commitIn(repo, commit), repo, options.repoUrl, given);
}

async function byRevision(revision: string, { repo, repoUrl }: ChangeOptions, given: Given): Promise<Chosen> {
  const { mergedAt, rendered } = given;
  if (revision === "") throw new CommandError(2, "--revision is empty: give a tag, a branch, a commit or a version");
  const bearers = rendered === undefined ? bearersOf(given.application) : bearersIn(rendered.spec);
  const named = bearers.filter((bearer) => bearer.targetRevision === revision);
  if (named.length === 0 && rendered !== undefined) {
    // What no source names got into the spec in another way: the spec itself is the sign.
    if (standsIn(revision, rendered.spec)) return { change: { kind: "generator", mergedAt } };
    throw new CommandError(
      2,
      `--revision ${revision} stands nowhere in the sources of --intended: it is not what the commit gives the Application`,
    );
  }
  const repos =
    repoUrl === undefined ? named.map((bearer) => bearer.repoURL) : [ofRepo(repoUrl, bearers, rendered === undefined ? bearers : named)];
  const tag = await asTag(revision, repo, repoUrl, named, given);
  const changes = [...new Map(repos.map((url) => [normalRepo(url), url])).values()].map((repoURL): Change => {
    const commit = tag !== undefined && normalRepo(tag.repoURL) === normalRepo(repoURL) ? { commit: tag.commit } : {};
    return { kind: "revision", revision, repoURL, mergedAt, ...commit };
  });
  const [change = { kind: "revision", revision, mergedAt } as const, ...also] = changes;
  return defined({ change, also: also.length === 0 ? undefined : also, ancestry: tag?.ancestry, hydrated: tag?.hydrated });
}

/** The repo that was named, if anything there is of it. */
function ofRepo(repoUrl: string, all: readonly Bearer[], fitting: readonly Bearer[]): string {
  if (all.length === 0 || fitting.some((bearer) => normalRepo(bearer.repoURL) === normalRepo(repoUrl))) return repoUrl;
  const there = [...new Set(all.map((bearer) => `${bearer.repoURL} at ${bearer.targetRevision}`))].slice(0, 5).join(", ");
  throw new CommandError(2, `--repo-url ${repoUrl}: no source is of that repo at the revision; there are ${there}`);
}

/** Where the clone is of a repo that the revision is followed in, and knows it as a tag, Argo CD must agree. */
async function asTag(revision: string, repo: string | undefined, repoUrl: string | undefined, named: readonly Bearer[], given: Given) {
  const commit = repo === undefined ? undefined : await tagIn(repo, revision);
  if (repo === undefined || commit === undefined) return undefined;
  const views = viewsOf(given);
  const repoURL = repoUrl ?? (await repoOf(repo, views.flatMap(bearersOf), views.length > 0));
  if (!named.some((bearer) => !bearer.chart && normalRepo(bearer.repoURL) === normalRepo(repoURL))) return undefined;
  const hydrated = await hydratedIn(repo, views, repoURL);
  const seen = [...seenRevisions(views), ...(hydrated?.dry ?? [])];
  return { repoURL, commit, hydrated: hydrated?.at, ancestry: await ancestryIn(repo, [commit], seen) };
}

/**
 * With the spec that the commit gives it, the commit is asked for only in sources of the clone's repo: of others the spec is the
 * sign. One that is pinned to a tag or commit without it can never contain it, and must be at that one.
 */
async function byCommit(sha: string, repo: string, repoUrl: string | undefined, given: Given): Promise<Chosen> {
  const { mergedAt, rendered } = given;
  const views = viewsOf(given);
  const bearers = rendered === undefined ? views.flatMap(bearersOf) : bearersIn(rendered.spec);
  const repoURL = repoUrl ?? (rendered === undefined ? await repoOf(repo, bearers, views.length > 0) : await cloneAmong(repo, bearers));
  const hydrated = await hydratedIn(repo, views, repoURL);
  const seen = [...seenRevisions(views), ...(hydrated?.dry ?? [])];
  const own = bearers.filter((bearer) => !bearer.chart && normalRepo(bearer.repoURL) === normalRepo(repoURL));
  const pinned = rendered === undefined ? new Map<string, string>() : await pinnedBefore(repo, sha, own);
  const commit: Change = { kind: "commit", commit: sha, repoURL, mergedAt };
  const asked = rendered === undefined || own.some((bearer) => !pinned.has(bearer.targetRevision));
  const changes: Change[] = asked ? [commit] : [];
  for (const [revision, at] of pinned) changes.push({ kind: "revision", revision, repoURL, commit: at, mergedAt });
  const [change = { kind: "generator", mergedAt } as const, ...also] = changes;
  const told = await ancestryIn(repo, [sha, ...pinned.values()], seen);
  const exempt = seenByPinned(views, repoURL, pinned);
  const contained = seen.filter((revision) => !exempt.has(revision) && told(revision, sha) === "contains");
  const since = asked ? await changedSince(repo, sha, contained) : new Map<string, { commit: string; file: string }>();
  const note = seenRevisions(given.application === undefined ? [] : [given.application])
    .map((revision) => since.get(revision))
    .find(Boolean);
  return {
    change,
    ...defined({
      hydrated: hydrated?.at,
      also: also.length === 0 ? undefined : also,
      notes: note && { changedSince: note.commit, changedFile: note.file },
    }),
    ancestry: (revision, of) => (of === sha && exempt.has(revision) ? "contains" : told(revision, of)),
    seenPinDiffers: (revision) => since.get(revision),
  };
}

/** Revisions that stay what they are and do not contain the commit, with the commits they are. */
async function pinnedBefore(repo: string, sha: string, bearers: readonly Bearer[]): Promise<Map<string, string>> {
  const pinned = new Map<string, string>();
  for (const { targetRevision } of bearers) {
    const at = isFullSha(targetRevision) ? targetRevision.toLowerCase() : await tagIn(repo, targetRevision);
    if (at !== undefined && (await ancestryIn(repo, [sha], [at]))(at, sha) === "missing") pinned.set(targetRevision, at);
  }
  return pinned;
}

/** What only pinned sources have seen: there the commit itself is not asked for. */
function seenByPinned(views: readonly ApplicationView[], repoURL: string, pinned: ReadonlyMap<string, string>): Set<string> {
  const there = new Set<string>();
  const elsewhere = new Set<string>();
  for (const { spec, status } of views) {
    if (spec.sourceHydrator !== undefined) continue;
    for (const [index, source] of spec.sources.entries()) {
      const own = source.chart === undefined && normalRepo(source.repoURL) === normalRepo(repoURL);
      const seen = status.sync.revisions[index];
      if (own && seen !== undefined) (pinned.has(source.targetRevision ?? "HEAD") ? there : elsewhere).add(seen);
    }
  }
  return new Set([...there].filter((seen) => !elsewhere.has(seen)));
}

function viewsOf({ application, previous }: Given): ApplicationView[] {
  return [application, previous].filter((view) => view !== undefined);
}

function bearersOf(view: ApplicationView | undefined): Bearer[] {
  if (view === undefined) return [];
  if (view.spec.sourceHydrator !== undefined) return [bearer(fields(own(fields(view.spec.sourceHydrator), "drySource")))];
  return view.spec.sources.map(({ repoURL, targetRevision, chart }) => ({
    repoURL,
    targetRevision: targetRevision ?? "HEAD",
    chart: chart !== undefined,
  }));
}

function bearersIn(spec: Fields): Bearer[] {
  return sourcesIn(spec).map((source) => bearer(fields(source)));
}

/** As Argo CD: a hydrator wins, then `sources`, then `source`. */
function sourcesIn(spec: Fields): unknown[] {
  const hydrator = own(spec, "sourceHydrator");
  if (typeof hydrator === "object" && hydrator !== null) return [own(fields(hydrator), "drySource")];
  const several = list(spec, "sources");
  return several.length > 0 ? several : [own(spec, "source")];
}

function bearer(source: Fields): Bearer {
  return {
    repoURL: word(source, "repoURL") ?? "",
    targetRevision: word(source, "targetRevision") ?? "HEAD",
    chart: word(source, "chart") !== undefined,
  };
}

/** Whether a value stands in the sources or the destination by itself: `v1.4` is no part of `v1.4.2`, but `1.4.2` is one of `v1.4.2`. */
function standsIn(value: string, spec: Fields): boolean {
  const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const alone = new RegExp(`(?<![A-Za-z0-9]\\.|[A-UW-Za-uw-z0-9]|[A-Za-z0-9][Vv])${escaped}(?![A-Za-z0-9]|[.-][A-Za-z0-9])`);
  return hasText([sourcesIn(spec), own(spec, "destination")], alone, 0);
}

const DEEPEST = 100;

function hasText(value: unknown, pattern: RegExp, depth: number): boolean {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return pattern.test(String(value));
  if (typeof value !== "object" || value === null || depth > DEEPEST) return false;
  return Object.values(value).some((inner) => hasText(inner, pattern, depth + 1));
}
