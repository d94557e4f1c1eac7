/**
 * Who has to act before a spec in the cluster is what Git says: the parent, which applies the ApplicationSet (or the Application) from Git,
 * then the set's controller. Nobody tells a parent of a push but Argo CD's webhook: by itself it looks every few minutes.
 *
 * Asked by the engine for a target whose spec is not as its change wants it; what is asked for follows from the answer.
 */
import { defined } from "../base/defined.ts";
import type { ParentStep } from "../reasons/liveness.ts";
import { normalRepo } from "./same.ts";
import type { ApplicationSetView, ApplicationView } from "./views.ts";

export interface Awaited {
  step: ParentStep;
  parent?: ApplicationView;
  /** Name of the parent, also where it cannot be seen. */
  parentName?: string;
  set?: ApplicationSetView;
}

interface Question {
  application: ApplicationView;
  /** The one that owns the Application. */
  set: ApplicationSetView | undefined;
  repoURL: string;
  find(namespace: string, name: string): ApplicationView | undefined;
  /** Whether a revision that Argo CD has seen contains the change. */
  contains(revision: string): boolean;
}

/** undefined: nobody is known to apply it, and its set reads nothing of Git by itself. */
export function awaitedFor({ application, set, repoURL, find, contains }: Question): Awaited | undefined {
  const generates = set !== undefined && readsGit(set.spec["generators"]) ? ({ step: "generate", set } as const) : undefined;
  const by = (application.owner === undefined ? application : set)?.appliedBy;
  if (by === undefined) return generates;
  const shown = defined({ parentName: by.name, set });
  const parent = find(by.namespace ?? application.namespace, by.name);
  if (parent === undefined) return generates ?? { step: "unseen", ...shown };
  const seen = revisionsOf(parent, repoURL);
  // It applies what stands in another repository: the change cannot be its business.
  if (seen.length === 0 || parent.uid === application.uid) return generates;
  const known = { parent, ...shown };
  if (!seen.some(contains)) return { step: "compare", ...known };
  const { status, spec, operationRequested } = parent;
  const isApplied = status.sync.status === "Synced" && !operationRequested && status.operation?.phase !== "Running";
  if (isApplied) return { step: "generate", ...known };
  const isMoving = spec.automated || operationRequested || status.operation?.phase === "Running";
  return { step: isMoving ? "apply" : "byHand", ...known };
}

/** What it has seen of its sources in this repository; of a hydrated one nothing can be told. */
function revisionsOf({ spec, status }: ApplicationView, repoURL: string): string[] {
  if (spec.sourceHydrator !== undefined) return [];
  const own = normalRepo(repoURL);
  return spec.sources.flatMap((source, index) => (normalRepo(source.repoURL) === own ? [status.sync.revisions[index] ?? ""] : []));
}

const MOST_NESTED = 6;

/** Whether a generator reads Git: such a set changes without anybody applying it. Within matrix and merge, too. */
function readsGit(generators: unknown, depth = 0): boolean {
  if (!Array.isArray(generators) || depth > MOST_NESTED) return false;
  return generators.some((one: unknown) => {
    if (typeof one !== "object" || one === null) return false;
    const { git, matrix, merge } = one as { git?: unknown; matrix?: { generators?: unknown }; merge?: { generators?: unknown } };
    return git != null || readsGit(matrix?.generators, depth + 1) || readsGit(merge?.generators, depth + 1);
  });
}

/** Which of them are worth asking to look again: at most the parent, and a set that reads Git by itself. */
export function worthAsking({ step, parent, set }: Awaited): { parent?: ApplicationView; set?: ApplicationSetView } {
  const mayCompare = step === "compare" && parent !== undefined && !parent.refreshRequested && parent.skipReconcile !== true;
  const mayGenerate = set !== undefined && set.refreshRequested !== true && readsGit(set.spec["generators"]);
  return defined({ parent: mayCompare ? parent : undefined, set: mayGenerate ? set : undefined });
}
