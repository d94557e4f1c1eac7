/**
 * The ApplicationSets that a rollout's Applications come from: those it names, or those that own what its selector takes. Called by whatever
 * looks at what such sets yield: the render guard, the judge of pull requests, and what a run's commits are rendered by.
 */
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { compareText } from "../../core/base/compare-text.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { type Edit, filesOf, targetsOf } from "../../core/plan/plan-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import { planeOf } from "../../core/run/targets/unseen.ts";
import type { Rollout, SourceRef } from "../../core/spec/rollout.ts";
import { setsIn } from "../config-repo/appset-in-git.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { applicationsOf, applicationsOn } from "./draft.ts";
import { applicationSeen, type Planes, planesFor } from "./fleet.ts";

export interface SourceSet {
  ref: SourceRef;
  /** Those on which it has Applications of the rollout. */
  planes: ControlPlane[];
}

/** Of a rollout as it is now. With `keys` those that own these targets are among them, whether or not they still match. In the order of names. */
export function setsOfSource(all: Planes, { source }: Pick<Rollout, "source">, keys: readonly string[] = []): SourceSet[] {
  const planes = planesFor(all, source.controlPlanes);
  if (source.kind === "ApplicationSet" && source.name !== "") return [{ ref: source, planes }];
  const owners = new Map<string, Set<string>>();
  for (const name of source.names ?? [])
    owners.set(name, new Set(planes.flatMap((plane) => (plane.applicationSet(source.namespace, name) === undefined ? [] : plane.name))));
  const own = applicationsOf({ source }, applicationsOn(planes, { source }));
  const kept = keys.map((key) => ({ controlPlane: planeOf(key), view: applicationSeen(all, key) }));
  for (const { controlPlane, view } of [...own, ...kept]) {
    if (view?.owner?.kind !== "ApplicationSet") continue;
    owners.set(view.owner.name, (owners.get(view.owner.name) ?? new Set()).add(controlPlane));
  }
  return [...owners]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, on]) => ({
      ref: setRef(source, name, source.namespace),
      // One that is named and nowhere to be seen is missed on every one.
      planes: on.size === 0 ? planes : planes.filter((plane) => on.has(plane.name)),
    }));
}

/** Of a run: with those of the targets it took before. A plan that nobody runs yet has no batches. */
export function setsOfRun(all: Planes, run: Pick<Run, "spec" | "plan"> & Partial<Pick<Run, "batches">>): SourceSet[] {
  const targets = [...targetsOf(run.plan), ...(run.batches ?? []).flatMap((batch) => batch.targets)];
  return setsOfSource(
    all,
    run.spec,
    targets.map(({ key }) => key),
  );
}

/**
 * Further sets, which stand in what is edited, though a rollout has no Application of them: they shall yield what they did. One that names a
 * single set is judged by that alone.
 */
export async function setsEdited(
  known: readonly SourceSet[],
  planes: readonly ControlPlane[],
  { spec: { source } }: Pick<Run, "spec">,
  edits: readonly Edit[],
  base: Snapshot,
): Promise<SourceSet[]> {
  if (source.kind === "ApplicationSet" && source.name !== "") return [];
  const found = new Map(known.map(({ ref }): [string, SourceSet | undefined] => [keyOf(ref), undefined]));
  for (const file of new Set(edits.flatMap((edit) => filesOf(edit)))) {
    for (const { metadata } of setsIn(await base.read(file))) {
      if (!isRecord(metadata) || typeof metadata["name"] !== "string") continue;
      const { name, namespace = source.namespace } = metadata;
      const ref = setRef(source, name, String(namespace));
      const own = planes.filter((plane) => plane.applicationSet(ref.namespace, ref.name) !== undefined);
      if (!found.has(keyOf(ref)) && own.length > 0) found.set(keyOf(ref), { ref, planes: own });
    }
  }
  return [...found.values()].filter((set) => set !== undefined);
}

/** A set that stands in for the source it was found by. */
export function setRef(source: SourceRef, name: string, namespace: string): SourceRef {
  const { names: _, ...rest } = source;
  return { ...rest, kind: "ApplicationSet", name, namespace, selector: undefined };
}

function keyOf({ namespace, name }: SourceRef): string {
  return `${namespace}/${name}`;
}

/** Where a rollout names one of its sets, or says which it has. */
export function atName({ source: { names, name: only, selector } }: Pick<Rollout, "source">, name?: string): (string | number)[] {
  const at = name === undefined ? -1 : (names?.indexOf(name) ?? -1);
  const field = only === "" && names !== undefined ? "names" : only === "" && selector !== undefined ? "selector" : "name";
  return ["spec", "sourceRef", field, ...(at < 0 ? [] : [at])];
}
