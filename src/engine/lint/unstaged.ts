import { compareRenders, type RenderResult } from "../../core/appset/index.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { compareText } from "../../core/base/compare-text.ts";
import type { PlannedTarget } from "../../core/plan/plan-types.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { sameRepo } from "../config-repo/repo-url.ts";
import { readsFile } from "./outside-readers.ts";

/** The code by which people look it up. */
export const UNSTAGED = "UNSTAGED";

/** An Application that a PR would change past the stages, the moment it is merged. */
interface Unstaged {
  application: string;
  /** Cluster key; "" where it is not known. */
  cluster: string;
  why: string;
}

/** A target as it is before the PR. */
export interface TargetBefore extends PlannedTarget {
  /** Of its live Application. */
  sources: readonly SourceView[];
}

export interface UnstagedInput {
  rollout: Pick<Rollout, "release" | "pins">;
  targets: readonly TargetBefore[];
  /** The ApplicationSet rendered at the base and with the PR merged; undefined: it has none, or cannot be rendered. */
  renders?: { before: RenderResult; after: RenderResult };
  /** Target key → values of its pins with the PR merged, in the order of its edits; undefined: the PR touches no pin. */
  pinsAfter?: ReadonlyMap<string, readonly (string | null)[]>;
  /** Files the PR changes. */
  touched: readonly string[];
  /** It asks for another release: then no target may read what it changes from the base branch either. */
  isRelease: boolean;
  repoURL: string;
  baseBranch: string;
}

/** docs/spec.md §9.6: what the PR itself would change, each Application once, with the first reason. In the order of names. */
export function unstagedBy(input: UnstagedInput): Unstaged[] {
  const found = new Map<string, Unstaged>();
  const clusters = new Map(input.targets.map((target) => [target.application, target.cluster]));
  const add = (application: string, why: string) => {
    if (!found.has(application)) found.set(application, { application, cluster: clusters.get(application) ?? "", why });
  };
  for (const { application, why } of byRender(input)) add(application, why);
  for (const { application, why } of byPins(input)) add(application, why);
  if (input.isRelease) for (const { application, why } of byFiles(input)) add(application, why);
  return [...found.values()].sort((a, b) => compareText(a.application, b.application));
}

type Found = Pick<Unstaged, "application" | "why">;

function byRender({ renders }: UnstagedInput): Found[] {
  if (renders === undefined || !renders.before.ok || !renders.after.ok) return [];
  const { removed, changed } = compareRenders(renders.before, renders.after);
  return [
    ...removed.map((application) => ({ application, why: "it would be deleted, with its workloads" })),
    ...changed.map(({ name, paths }) => ({ application: name, why: `its ${paths.slice(0, 2).join(" and ")} would change` })),
  ];
}

function byPins({ targets, pinsAfter }: UnstagedInput): Found[] {
  if (pinsAfter === undefined) return [];
  return targets.flatMap((target): Found[] => {
    const after = pinsAfter.get(target.key);
    const at = target.edits.findIndex((edit, index) => after !== undefined && edit.kind !== "branch" && after[index] !== edit.from);
    const edit = target.edits[at];
    if (edit === undefined) return [];
    const why = `its pin in ${edit.file} would go from ${edit.from ?? "nothing"} to ${after?.[at] ?? "nothing"}`;
    return [{ application: target.application, why }];
  });
}

/** Targets that read from the base branch what the PR changes, and with `commit` those that follow that branch at all. */
function byFiles({ rollout, targets, touched, repoURL, baseBranch }: UnstagedInput): Found[] {
  const files = touched.filter((file) => !/^(rollouts|\.github)\//.test(file));
  const commit = rollout.release?.kind === "commit";
  // Hundreds of Applications have the same sources but for the revision.
  const reads = new Map<string, string | undefined>();
  return targets.flatMap((target): Found[] => {
    if (commit && target.sources.some((source) => tracksBase(source, repoURL, baseBranch)))
      return [{ application: target.application, why: `it follows ${baseBranch}, so every merge reaches it at once` }];
    if (commit && !followsPin(target, repoURL))
      return [{ application: target.application, why: "none of its pins is the revision that it follows" }];
    const key = JSON.stringify(target.sources);
    if (!reads.has(key)) {
      reads.set(
        key,
        files.find((file) => readsFile(target.sources, file, { repoURL, baseBranch })),
      );
    }
    const file = reads.get(key);
    return file === undefined ? [] : [{ application: target.application, why: `it reads ${file} from ${baseBranch}, which this changes` }];
  });
}

function tracksBase(source: SourceView, repoURL: string, baseBranch: string): boolean {
  if (source.chart !== undefined || !sameRepo(source.repoURL, repoURL)) return false;
  const revision = (source.targetRevision ?? "").replace(/^refs\/heads\//, "");
  return revision === "" || revision === "HEAD" || revision === baseBranch;
}

function followsPin(target: TargetBefore, repoURL: string): boolean {
  return target.sources.some(
    ({ repoURL: url, targetRevision }) =>
      sameRepo(url, repoURL) && target.edits.some((edit) => (edit.kind === "branch" ? edit.path : edit.from) === targetRevision),
  );
}
