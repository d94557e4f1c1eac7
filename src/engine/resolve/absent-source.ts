/** What of a rollout's source Argo CD does not have, with what was most likely meant. Called by `plan-now.ts` before anything is resolved. */
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { nearest } from "../../core/base/nearest.ts";
import { selectorTypos } from "../../core/plan/selector-typos.ts";
import { type Problem, problemIn } from "../../core/reasons/problems/problem.ts";
import type { Rollout, SourceRef } from "../../core/spec/rollout.ts";
import { findApplicationSet, generatorClusters } from "../config-repo/appset-in-git.ts";
import { renderApart } from "../config-repo/render-set.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import type { RepoContext } from "../round/context.ts";
import { limitsOf } from "../round/observe/grants.ts";
import { applicationsOf, applicationsOn, type SeenApplication } from "./draft.ts";
import { atName, setRef } from "./source-sets.ts";

interface Question {
  rollout: Rollout;
  planes: readonly ControlPlane[];
  /** What these have of the source, or all there is to select from. */
  applications: readonly SeenApplication[];
  snapshot: Snapshot;
  baseBranch: string;
}

/** Empty: each set that is named is there, and there are Applications. */
export async function absentSources(context: Pick<RepoContext, "repoURL" | "grants">, question: Question): Promise<Problem[]> {
  const { rollout, planes, applications } = question;
  const { source } = rollout;
  const isSeveral = source.kind === "ApplicationSet" && source.name === "";
  const own = isSeveral ? applicationsOf(rollout, applications) : applications;
  const owners = new Set(own.map(({ view }) => view.owner?.name));
  const isSeen = (name: string) => owners.has(name) || planes.some((plane) => plane.applicationSet(source.namespace, name) !== undefined);
  const missing = (source.names ?? []).filter((name) => !isSeen(name)).map((name) => setRef(source, name, source.namespace));
  const absent = missing.length > 0 ? missing : own.length === 0 ? [source] : [];
  return Promise.all(absent.map((one) => notInArgo(context, question, one)));
}

async function notInArgo(
  { repoURL, grants: granted }: Pick<RepoContext, "repoURL" | "grants">,
  { rollout, planes, snapshot, baseBranch }: Question,
  source: SourceRef,
): Promise<Problem> {
  const files = rollout.pins.flatMap((pin) => ("file" in pin ? [pin.file] : []));
  const set = source.kind === "ApplicationSet" && source.name !== "" ? await findApplicationSet(snapshot, source, files) : undefined;
  const clusters = generatorClusters(planes);
  const yields = set && (await snapshot.with((sync) => renderApart(set, clusters, sync, repoURL, baseBranch)));
  const declared = yields?.ok === true && yields.applications.length > 0;
  const grants = limitsOf(
    granted,
    planes.map((plane) => plane.name),
  );
  const data = { kind: "NotInArgo", source, declared, grants, near: declared ? undefined : nearSet(planes, source) } as const;
  return problemIn(rollout.file, { code: "SOURCE_NOT_FOUND", ...data }, atName(rollout, source.name));
}

/** A set that there is, by its Applications; of a selector the label that some such set has. */
function nearSet(planes: readonly ControlPlane[], { kind, namespace, name, selector }: SourceRef): string | undefined {
  if (kind !== "ApplicationSet") return undefined;
  const every = { kind, name: "", namespace, controlPlanes: [], unverified: false, selector: { matchLabels: {}, matchExpressions: [] } };
  const there = new Map<string, Readonly<Record<string, string>>>();
  for (const { view, setLabels = {} } of applicationsOn(planes, { source: every }))
    if (view.owner?.kind === "ApplicationSet" && view.namespace === namespace) there.set(view.owner.name, setLabels);
  if (name !== "") return nearest(name, there.keys());
  const [typo] =
    selector === undefined
      ? []
      : selectorTypos(
          selector,
          [...there].map(([one, labels]) => ({ name: one, labels })),
        );
  return typo && (typo.value === undefined ? typo.near : `${typo.key}=${typo.near}`);
}
