import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { compareRenders, type RenderedApplication, type RenderResult } from "../../core/appset/index.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { RepoContext } from "../round/context.ts";
import type { ApplicationSetInGit } from "./appset-in-git.ts";
import { sameRepo } from "./repo-url.ts";

/** What Argo CD itself would make of the change; `kept`: names it would yield after the merge, undefined where that is not known yet. */
export type Generated =
  | { ok: true; before: RenderResult; after: RenderResult; kept: ReadonlySet<string> | undefined }
  | { ok: false; why: string; retry: boolean };

export interface GenerateInput {
  context: RepoContext;
  run: Run;
  batch: Batch;
  base: string;
  head: string;
  baseBranch: string;
}

const EMPTY: RenderResult = { ok: true, applications: [], generators: [], problems: [] };

/**
 * docs/spec.md §9.4: what cannot be rendered offline is rendered by Argo CD's generate endpoint, which writes nothing. A set whose generators read
 * the config repo is asked for at commits: at the batch's commit and at that one's parent, since the merge's own is nowhere
 * to be read. Before the batch's commit is pushed there is nothing to ask about: it is judged once its PR is there, before it is merged.
 */
export async function generateRenders(
  input: GenerateInput,
  plane: ControlPlane,
  before: ApplicationSetInGit,
  after: ApplicationSetInGit,
): Promise<Generated> {
  const { context, run, batch, base, head } = input;
  if (plane.generate === undefined) {
    const why = `control plane ${plane.name} may not generate it either (\`allowGenerate: true\`, and for its account \`applicationsets, create, PROJECT/*\`)`;
    return { ok: false, why, retry: false };
  }
  const ask = (set: ApplicationSetInGit, commit: string) => askOne(input, plane, at(set.object, commit, input), run.spec.source.namespace);
  if (!readsRepo(before.object, input) && !readsRepo(after.object, input)) return together(await ask(before, base), await ask(after, head));
  if (batch.phase === "Proposing") return { ok: true, before: EMPTY, after: EMPTY, kept: undefined };
  const parent = (await context.mirror.commitInfo(head))?.parents[0];
  if (parent === undefined) return { ok: false, why: `the commit ${head.slice(0, 10)} cannot be read`, retry: true };
  const made = together(await ask(before, parent), await ask(after, head));
  if (!made.ok || parent === base) return made;
  // The base has moved since: what it yields now stays, but for what the commit takes away.
  const now = await ask(before, base);
  if (!now.ok) return now;
  const removed = new Set(compareRenders(made.before, made.after).removed);
  return { ...made, kept: new Set([...namesOf(now.result)].filter((name) => !removed.has(name))) };
}

type Asked = { ok: true; result: RenderResult } | { ok: false; why: string; retry: boolean };

function together(before: Asked, after: Asked): Generated {
  if (!before.ok) return before;
  if (!after.ok) return after;
  return { ok: true, before: before.result, after: after.result, kept: namesOf(after.result) };
}

function namesOf(result: RenderResult): Set<string> {
  return new Set(result.applications.map((one) => one.metadata.name));
}

async function askOne({ context }: GenerateInput, plane: ControlPlane, object: Record<string, unknown>, namespace: string): Promise<Asked> {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  const found = await plane.generate?.({ ...object, metadata: { namespace, ...metadata } });
  if (found === undefined) return { ok: false, why: `control plane ${plane.name} may not generate it`, retry: false };
  if (found.kind === "done") return { ok: true, result: { ...EMPTY, applications: found.applications.flatMap(rendered) } };
  context.log.info({ plane: plane.name, kind: found.kind, why: found.why }, "Argo CD did not generate an ApplicationSet");
  const why = `Argo CD (${plane.name}) ${found.kind === "forbidden" ? "may not be asked" : "could not generate it"}: ${sentenceOf(found.why).slice(0, 300)}`;
  return { ok: false, why, retry: found.kind === "failed" };
}

function rendered(object: Record<string, unknown>): RenderedApplication[] {
  const { metadata, spec } = object;
  if (!isRecord(metadata) || typeof metadata["name"] !== "string" || !isRecord(spec)) return [];
  return [
    {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { ...metadata, name: metadata["name"] },
      spec,
    } as RenderedApplication,
  ];
}

type Place = Pick<GenerateInput, "context" | "baseBranch">;

/** Whether a git generator reads the config repo at the base branch. */
function readsRepo(object: Record<string, unknown>, place: Place): boolean {
  let reads = false;
  walk(object["spec"], (git) => {
    reads ||= isOurs(git, place);
    return git;
  });
  return reads;
}

/** The same set with those generators reading this commit. */
function at(object: Record<string, unknown>, commit: string, place: Place): Record<string, unknown> {
  return { ...object, spec: walk(object["spec"], (git) => (isOurs(git, place) ? { ...git, revision: commit } : git)) };
}

function isOurs(git: Record<string, unknown>, { context, baseBranch }: Place): boolean {
  const { repoURL, revision } = git;
  if (typeof repoURL !== "string" || !sameRepo(repoURL, context.repoURL)) return false;
  return revision === undefined || revision === "" || revision === "HEAD" || revision === baseBranch;
}

/** Generators stand in `generators` lists, nested ones in those of a matrix or merge; their `git` is mapped, all else stays. */
function walk(spec: unknown, map: (git: Record<string, unknown>) => Record<string, unknown>): unknown {
  if (!isRecord(spec) || !Array.isArray(spec["generators"])) return spec;
  const generators = spec["generators"].map((generator: unknown) => {
    if (!isRecord(generator)) return generator;
    const mapped: Record<string, unknown> = { ...generator };
    if (isRecord(generator["git"])) mapped["git"] = map(generator["git"]);
    for (const kind of ["matrix", "merge"]) if (kind in generator) mapped[kind] = walk(generator[kind], map);
    return mapped;
  });
  return { ...spec, generators };
}
