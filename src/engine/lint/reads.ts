import { posix } from "node:path";
import { GENERATE_PATHS, wholePaths } from "../../core/argocd/generate-paths.ts";
import { hydrationOf, normalRepo } from "../../core/argocd/same.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { filesOf } from "../../core/plan/plan-types.ts";
import type { Finding, ProblemData } from "../../core/reasons/problems/problem.ts";
import { sourcesOf } from "../config-repo/appset-in-git.ts";
import { isBaseRevision, sameRepo } from "../config-repo/repo-url.ts";
import { AT_SOURCE, type Gathered, type ParentApplication, specOf } from "./gathered.ts";
import { isBaseOf, readsFile, sharedFiles } from "./outside-readers.ts";

/** From so many Applications on one repo, or files in it, every push is felt by all of them. */
const MANY_APPLICATIONS = 50;
const MANY_FILES = 2000;

/**
 * Generators, the parent and sources must read the pin files at the branch that batches are written to; else merges would
 * be seen never, or only by a part.
 */
export function baseRevisions(input: Gathered): Finding[] {
  const { base, repoURL } = input;
  if (base === undefined || repoURL === undefined) return [];
  return [
    ...generators(input, repoURL, base),
    ...parent(input, repoURL, base),
    ...sources(input, repoURL, base),
    ...otherRepo(input, repoURL),
  ];
}

function wrong(data: ProblemData<"BASE_REVISION">): Finding {
  return { code: "BASE_REVISION", ...data, path: AT_SOURCE };
}

function generators({ set }: Gathered, repoURL: string, base: string): Finding[] {
  const findings: Finding[] = [];
  for (const git of gitGenerators(specOf(set?.object)?.["generators"])) {
    const { repoURL: url, revision } = git;
    if (typeof url !== "string" || !sameRepo(url, repoURL) || (revision !== undefined && typeof revision !== "string")) continue;
    // A template gives what its parameters give: that is seen in the rendering.
    if (isBaseRevision(revision, base) || revision?.includes("{{")) continue;
    findings.push(wrong({ kind: "Generator", set: set?.file ?? "the ApplicationSet", revision: revision ?? "", base }));
  }
  return findings;
}

/** Of all levels: matrix and merge hold others. */
function gitGenerators(list: unknown, depth = 0): Record<string, unknown>[] {
  if (!Array.isArray(list) || depth > 3) return [];
  return list.filter(isRecord).flatMap((entry) => {
    const own = isRecord(entry["git"]) ? [entry["git"]] : [];
    const inner = [entry["matrix"], entry["merge"]].filter(isRecord);
    return [...own, ...inner.flatMap((one) => gitGenerators(one["generators"], depth + 1))];
  });
}

/** Who applies the ApplicationSet reads it at the base, where batches write into its file. */
function parent(gathered: Gathered, repoURL: string, base: string): Finding[] {
  const { set, edits } = gathered;
  if (set === undefined || ![...edits.values()].some((some) => some.some((edit) => filesOf(edit).includes(set.file)))) return [];
  const readers = appliers(gathered, repoURL);
  const atBase = appliers(gathered, repoURL, base);
  if (atBase.length > 0 && atBase.every((one) => !one.automated))
    return [{ code: "PARENT_BY_HAND", parent: atBase[0]?.name ?? "", set: set.file, severity: "warning", path: AT_SOURCE }];
  if (readers.length === 0 || atBase.length > 0) return [];
  const [first] = readers;
  const revision = first?.sources.find((source) => sameRepo(source.repoURL, repoURL))?.targetRevision ?? "";
  return [wrong({ kind: "Parent", parent: first?.name ?? "", set: set.file, revision, base })];
}

/** Applications that apply the set's manifest, themselves or by a kustomization; of any revision where none is named. */
export function appliers({ set, parents, kustomized }: Gathered, repoURL: string, base?: string): ParentApplication[] {
  const file = set?.file ?? "";
  return parents.filter(({ sources: all }) =>
    all.some((source) => {
      if (!sameRepo(source.repoURL, repoURL) || (base !== undefined && !isBaseRevision(source.targetRevision, base))) return false;
      const folder = posix.join(source.path ?? ".", ".").replace(/^\/+|(?<!\/)\/+$/g, "") || ".";
      return kustomized.get(folder) ?? readsAtAnyRevision([source], file, repoURL);
    }),
  );
}

/** Applications that take a pin's file for their values must take it at the base. */
function sources({ rendered, edits }: Gathered, repoURL: string, base: string): Finding[] {
  const found = new Map<string, string[]>();
  for (const application of rendered ?? []) {
    const views = sourcesOf(application.spec);
    for (const file of (edits.get(application.metadata.name) ?? []).flatMap(filesOf)) {
      if (readsFile(views, file, { repoURL, baseBranch: base }) || !readsAtAnyRevision(views, file, repoURL)) continue;
      const revision =
        views.find((source) => sameRepo(source.repoURL, repoURL) && !isBaseRevision(source.targetRevision, base))?.targetRevision ?? "";
      found.set(revision, [...(found.get(revision) ?? []), application.metadata.name]);
    }
  }
  return [...found].slice(0, 3).map(([revision, applications]) => wrong({ kind: "Source", applications, revision, base }));
}

/** The place of the pin's file, in another repo: Argo CD would never see what a batch changes. */
function otherRepo({ rendered, edits }: Gathered, repoURL: string): Finding[] {
  const found = new Map<string, string[]>();
  for (const application of rendered ?? []) {
    const views = sourcesOf(application.spec);
    const here = views.map((source) => ({ ...source, repoURL, targetRevision: "HEAD" }));
    for (const file of (edits.get(application.metadata.name) ?? []).flatMap(filesOf)) {
      if (readsAtAnyRevision(views, file, repoURL)) continue;
      if (!readsFile(here, file, { repoURL, baseBranch: "HEAD" })) continue;
      const urls = [...new Set(views.filter((source) => source.chart === undefined).map((source) => source.repoURL))].join(", ");
      found.set(urls, [...new Set([...(found.get(urls) ?? []), application.metadata.name])]);
    }
  }
  return [...found].slice(0, 3).map(([urls, applications]) => ({
    ...wrong({ kind: "OtherRepo", applications, reads: urls.slice(0, 300), repoURL }),
    severity: "warning",
  }));
}

function readsAtAnyRevision(views: readonly SourceView[], file: string, repoURL: string): boolean {
  const atBase = views.map((source) => (sameRepo(source.repoURL, repoURL) ? { ...source, targetRevision: "HEAD" } : source));
  return readsFile(atBase, file, { repoURL, baseBranch: "HEAD" });
}

/** docs/spec.md §9.2, before any batch: Applications that read a pin's file, and whose own pin it is not. */
export function outsideReads(gathered: Gathered): Finding[] {
  const { rollout, edits, parents, rendered, set, base, repoURL, declaring, edited, appliers: known = [] } = gathered;
  if (base === undefined || repoURL === undefined || edited === undefined) return [];
  const { before } = edited.sides;
  const owners = new Map<string, Set<string>>();
  for (const [name, own] of edits)
    for (const file of sharedFiles(rollout, own)) owners.set(file, (owners.get(file) ?? new Set<string>()).add(name));
  const others = [
    ...parents.filter(({ name, askable }) => !edits.has(name) && askable !== true),
    ...(rendered ?? []).map(({ metadata, spec }) => ({ name: metadata.name, sources: sourcesOf(spec) })),
  ];
  const applying = new Set<unknown>(known);
  // Offline nobody knows whether Argo CD can be asked what these make of a batch.
  const mayBeAsked = (one: (typeof others)[number]) => applying.has(one) && !("askable" in one);
  return [...owners].flatMap(([changed, mine]): Finding[] => {
    if (changed === set?.file || declaring.has(changed)) return [];
    const all = others.filter((one) => !mine.has(one.name) && readsFile(one.sources, changed, { repoURL, baseBranch: base }, before));
    const readers = all.filter((one) => !mayBeAsked(one));
    const [first, parent] = [readers[0], all.find(mayBeAsked)];
    if (first === undefined && parent === undefined) return [];
    if (first === undefined)
      return [{ code: "PARENT_READS", changed, parent: parent?.name ?? "", severity: "warning", path: ["spec", "pins"] }];
    return [{ code: "READ_OUTSIDE", changed, application: first.name, others: readers.length - 1, path: ["spec", "pins"] }];
  });
}

/** In a large monorepo without the annotation every push makes Argo CD render everything anew. */
export function generatePaths({ rendered, repoURL, base, files, edits, set }: Gathered): Finding[] {
  if (rendered === undefined || repoURL === undefined || (rendered.length < MANY_APPLICATIONS && files < MANY_FILES)) return [];
  const without = rendered.filter(
    ({ metadata, spec }) =>
      metadata.annotations?.[GENERATE_PATHS] === undefined &&
      sourcesOf(spec).some((source) => sameRepo(source.repoURL, repoURL) && isBaseRevision(source.targetRevision, base ?? "HEAD")),
  );
  const [first] = without;
  if (first === undefined) return [];
  const edited = (edits.get(first.metadata.name) ?? []).flatMap(filesOf).filter((file) => file !== set?.file);
  const isBase = isBaseOf({ repoURL, baseBranch: base ?? "HEAD" });
  return [
    {
      code: "NO_GENERATE_PATHS",
      applications: without.length,
      files,
      annotation: GENERATE_PATHS,
      right: wholePaths({ sources: sourcesOf(first.spec), files: edited, isBase }),
      severity: "warning",
      path: AT_SOURCE,
    },
  ];
}

/** Of a branch that is not in the config repo nobody sees here what it was made from: then what Argo CD says of a hydration must do. */
export function hydratedElsewhere({ rendered, repoURL }: Gathered): Finding[] {
  if (rendered === undefined || repoURL === undefined) return [];
  const branches = new Map<string, string[]>();
  for (const { metadata, spec } of rendered) {
    const to = hydrationOf(spec["sourceHydrator"])?.to;
    if (to === undefined || to.startsWith(`${normalRepo(repoURL)} `)) continue;
    branches.set(to, [...(branches.get(to) ?? []), metadata.name]);
  }
  const applications = [...branches.values()].flat();
  if (applications.length === 0) return [];
  const shared = [...branches].find(([, names]) => names.length > 1)?.[0];
  return [{ code: "HYDRATED_ELSEWHERE", applications: applications.slice(0, 5), shared, severity: "warning", path: AT_SOURCE }];
}

/** Batches in an ApplicationSet that nobody applies from Git change nothing in the cluster. */
export function notApplied(gathered: Gathered): Finding[] {
  const { set, parents, seesAll, repoURL } = gathered;
  if (set === undefined || repoURL === undefined) return [];
  const candidates = parents.filter((one) => !one.owned);
  if (candidates.some((one) => one.patched === true) || (candidates.length === 0 && !seesAll)) return [];
  if (appliers(gathered, repoURL).length > 0) return [];
  return [{ code: "NOT_APPLIED", set: set.file, severity: "warning", path: AT_SOURCE }];
}
