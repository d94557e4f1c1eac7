import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { compareRenders } from "../../../core/appset/compare.ts";
import type { RenderedApplication, RenderResult } from "../../../core/appset/types.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { SourceRef } from "../../../core/spec/rollout.ts";
import type { ApplicationSetInGit } from "../../config-repo/appset-in-git.ts";
import { isBaseRevision, sameRepo } from "../../config-repo/repo-url.ts";
import type { RepoContext } from "../context.ts";

/** What the merge would be of. */
export interface GuardedAt {
  base: string;
  baseBranch: string;
  head: string;
  /** `head` is here alone: Argo CD cannot be asked about it. */
  unpushed?: true | undefined;
}

interface NotGenerated {
  ok: false;
  why: AnyReason;
  retry: boolean;
}

/** What Argo CD itself would make of the change; `kept`: names it would yield after the merge, undefined where that is not known yet. */
type Generated = { ok: true; before: RenderResult; after: RenderResult; kept: ReadonlySet<string> | undefined } | NotGenerated;

type Generate = (
  ref: Pick<SourceRef, "namespace">,
  at: GuardedAt,
  plane: ControlPlane,
  before: ApplicationSetInGit,
  after: ApplicationSetInGit,
) => Promise<Generated>;

type Asked = { ok: true; result: RenderResult } | NotGenerated;

const EMPTY: RenderResult = { ok: true, applications: [], generators: [], problems: [] };

/**
 * docs/spec.md §9.4: what cannot be rendered offline is rendered by Argo CD's generate endpoint, which writes nothing. A set whose generators read
 * the config repo is asked for at commits: at the batch's commit and at that one's parent, since the merge's own is nowhere
 * to be read. Before the batch's commit is pushed there is nothing to ask about: it is judged once its PR is there, before it is merged.
 */
export function openGenerator({
  mirror,
  log,
  repoURL,
}: Pick<RepoContext, "log" | "repoURL"> & { mirror: Pick<Mirror, "commitInfo"> }): Generate {
  async function ask(plane: ControlPlane, object: Record<string, unknown>, namespace: string): Promise<Asked> {
    const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
    const found = await plane.generate?.({ ...object, metadata: { namespace, ...metadata } });
    if (found === undefined) return notAllowed(plane);
    if (found.kind === "done") return { ok: true, result: { ...EMPTY, applications: found.applications.flatMap(rendered) } };
    log.info({ plane: plane.name, kind: found.kind, why: found.why }, "Argo CD did not generate an ApplicationSet");
    const data = { plane: plane.name, forbidden: found.kind === "forbidden", because: found.why };
    return { ok: false, why: engineReason("GENERATE_FAILED", data), retry: found.kind === "failed" };
  }

  return async (ref, { base, head, baseBranch, unpushed }, plane, before, after) => {
    if (plane.generate === undefined) return notAllowed(plane);
    const isOurs = (git: Record<string, unknown>): boolean =>
      typeof git["repoURL"] === "string" &&
      sameRepo(git["repoURL"], repoURL) &&
      (git["revision"] === undefined || (typeof git["revision"] === "string" && isBaseRevision(git["revision"], baseBranch)));
    const at = ({ object }: ApplicationSetInGit, commit: string) =>
      ask(plane, { ...object, spec: mapGit(object["spec"], (git) => (isOurs(git) ? { ...git, revision: commit } : git)) }, ref.namespace);
    if (!readsRepo(before, isOurs) && !readsRepo(after, isOurs)) return together(await at(before, base), await at(after, head));
    if (unpushed === true) return { ok: true, before: EMPTY, after: EMPTY, kept: undefined };
    const parent = (await mirror.commitInfo(head))?.parents[0];
    if (parent === undefined) return { ok: false, why: engineReason("COMMIT_UNREADABLE", { commit: head }), retry: true };
    const made = together(await at(before, parent), await at(after, head));
    if (!made.ok || parent === base) return made;
    // The base has moved since: what it yields now stays, but for what the commit takes away.
    const now = await at(before, base);
    if (!now.ok) return now;
    const removed = new Set(compareRenders(made.before, made.after).removed);
    return { ...made, kept: new Set([...namesOf(now.result)].filter((name) => !removed.has(name))) };
  };
}

function notAllowed({ name }: ControlPlane): NotGenerated {
  return { ok: false, why: engineReason("GENERATE_NOT_ALLOWED", { plane: name }), retry: false };
}

function together(before: Asked, after: Asked): Generated {
  if (!before.ok) return before;
  if (!after.ok) return after;
  return { ok: true, before: before.result, after: after.result, kept: namesOf(after.result) };
}

function namesOf(result: RenderResult): Set<string> {
  return new Set(result.applications.map((one) => one.metadata.name));
}

function rendered({ metadata, spec }: Record<string, unknown>): RenderedApplication[] {
  if (!isRecord(metadata) || typeof metadata["name"] !== "string" || !isRecord(spec)) return [];
  const kind = { apiVersion: "argoproj.io/v1alpha1", kind: "Application" };
  return [{ ...kind, metadata: { ...metadata, name: metadata["name"] }, spec } as RenderedApplication];
}

/** Whether a git generator reads the config repo at the base branch. */
function readsRepo({ object }: ApplicationSetInGit, isOurs: (git: Record<string, unknown>) => boolean): boolean {
  let reads = false;
  mapGit(object["spec"], (git) => {
    reads ||= isOurs(git);
    return git;
  });
  return reads;
}

/** Generators stand in `generators` lists, nested ones in those of a matrix or merge; their `git` is mapped, all else stays. */
function mapGit(spec: unknown, map: (git: Record<string, unknown>) => Record<string, unknown>): unknown {
  if (!isRecord(spec) || !Array.isArray(spec["generators"])) return spec;
  const generators = spec["generators"].map((generator: unknown) => {
    if (!isRecord(generator)) return generator;
    const mapped: Record<string, unknown> = { ...generator };
    if (isRecord(generator["git"])) mapped["git"] = map(generator["git"]);
    for (const kind of ["matrix", "merge"]) if (kind in generator) mapped[kind] = mapGit(generator[kind], map);
    return mapped;
  });
  return { ...spec, generators };
}
