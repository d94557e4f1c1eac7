import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { placesOf } from "../../core/argocd/source-places.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { matcher } from "../../core/base/selector.ts";
import type { TemplateValues } from "../../core/base/template.ts";
import type { Cluster, Edit, Release } from "../../core/plan/plan-types.ts";
import type { Rollout, SourceRef } from "../../core/spec/rollout.ts";

/** A target whose pins are being resolved. */
export interface Draft {
  seen: SeenApplication;
  cluster: Cluster;
  /** What is counted for it: its cluster, unless the rollout counts something else. */
  counted: Cluster;
  /** One a pin, in the order of the rollout; a hole where it could not be resolved. */
  edits: (Edit | undefined)[];
}

/** What templates of pins are filled in with for one target. */
export function valuesOf({ cluster, seen }: Draft, release: Release): TemplateValues {
  const { name, namespace, labels, spec, owner } = seen.view;
  const set = owner?.kind === "ApplicationSet" ? owner.name : undefined;
  const application = { name, namespace, labels, ...placesOf(spec.sources), ...defined({ set }) };
  const controlPlane = { name: seen.controlPlane, labels: seen.planeLabels ?? {} };
  return { cluster, application, destination: spec.destination, controlPlane, params: seen.params ?? {}, release: release.values };
}

/** An Application and the control plane it was seen on. */
export interface SeenApplication {
  controlPlane: string;
  /** The control plane's own labels, which its clusters have, too. */
  planeLabels?: Readonly<Record<string, string>> | undefined;
  view: ApplicationView;
  /** Of the ApplicationSet that made it; known only where sets are chosen by theirs. */
  setLabels?: Readonly<Record<string, string>>;
  /** Parameters the generator gave it; known only where the ApplicationSet was rendered. */
  params?: Readonly<Record<string, string>>;
}

/** Lists what these control planes have of a rollout's source, or all there is for one by selector. */
export function applicationsOn(planes: readonly ControlPlane[], { source }: Pick<Rollout, "source">): SeenApplication[] {
  const isSet = source.kind === "ApplicationSet";
  const owner = isSet && source.name !== "" ? { namespace: source.namespace, name: source.name } : undefined;
  const byLabels = isSet && source.selector !== undefined;
  return planes.flatMap((plane) =>
    plane.applications(owner).map((view) => {
      const set = byLabels && view.owner?.kind === "ApplicationSet" ? plane.applicationSet(view.namespace, view.owner.name) : undefined;
      const setLabels = set && (set.labels ?? {});
      return { controlPlane: plane.name, planeLabels: plane.labels, view, ...defined({ setLabels }) };
    }),
  );
}

/** Those that belong to a rollout's source: owned by its ApplicationSets, or matching the selector. Ones being deleted do not. */
export function applicationsOf(rollout: Pick<Rollout, "source">, applications: readonly SeenApplication[]): SeenApplication[] {
  const { source } = rollout;
  const planes = source.controlPlanes;
  const isOwn = source.kind === "ApplicationSet" ? ofSets(source) : ofApplications(source);
  return applications.filter((seen) => {
    const { controlPlane, view } = seen;
    if (view.deletionTimestamp !== undefined) return false;
    if (planes.length > 0 && !planes.includes(controlPlane)) return false;
    return view.namespace === source.namespace && isOwn(seen);
  });
}

function ofApplications({ name, selector }: SourceRef): (seen: SeenApplication) => boolean {
  const selects = selector === undefined ? () => true : matcher(selector);
  return ({ view }) => selects({ name: view.name, labels: view.labels }) && (name === "" || name === view.name);
}

function ofSets(source: SourceRef): (seen: SeenApplication) => boolean {
  const takes = setTaker(source);
  return ({ view: { owner }, setLabels }) => owner?.kind === "ApplicationSet" && takes({ name: owner.name, labels: setLabels });
}

/** Tells the ApplicationSets that a source is about; of one whose labels are not known a selector takes none. */
export function setTaker({ name, names, selector }: SourceRef): (set: { name: string; labels?: SeenApplication["setLabels"] }) => boolean {
  if (name !== "") return (set) => set.name === name;
  if (names !== undefined) return (set) => names.includes(set.name);
  const selects = selector === undefined ? () => true : matcher(selector);
  return (set) => set.labels !== undefined && selects({ name: set.name, labels: set.labels });
}
