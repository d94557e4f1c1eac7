import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { placesOf } from "../../core/argocd/source-places.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { matcher } from "../../core/base/selector.ts";
import type { TemplateValues } from "../../core/base/template.ts";
import type { Cluster, Edit, Release } from "../../core/plan/plan-types.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

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
  const { name, namespace, labels, spec } = seen.view;
  const application = { name, namespace, labels, ...placesOf(spec.sources) };
  const controlPlane = { name: seen.controlPlane, labels: seen.planeLabels ?? {} };
  return { cluster, application, destination: spec.destination, controlPlane, params: seen.params ?? {}, release: release.values };
}

/** An Application and the control plane it was seen on. */
export interface SeenApplication {
  controlPlane: string;
  /** The control plane's own labels, which its clusters have, too. */
  planeLabels?: Readonly<Record<string, string>> | undefined;
  view: ApplicationView;
  /** Parameters the generator gave it; known only where the ApplicationSet was rendered. */
  params?: Readonly<Record<string, string>>;
}

/** What these control planes have of a rollout's source, and of one by selector all there is to select from. */
export function applicationsOn(planes: readonly ControlPlane[], { source }: Pick<Rollout, "source">): SeenApplication[] {
  const owner = source.kind === "ApplicationSet" ? { namespace: source.namespace, name: source.name } : undefined;
  return planes.flatMap((plane) =>
    plane.applications(owner).map((view) => ({ controlPlane: plane.name, planeLabels: plane.labels, view })),
  );
}

/** Those that belong to a rollout's source: owned by the ApplicationSet, or matching the selector. Ones being deleted do not. */
export function applicationsOf(rollout: Pick<Rollout, "source">, applications: readonly SeenApplication[]): SeenApplication[] {
  const { source } = rollout;
  const planes = source.controlPlanes;
  const selects = source.selector === undefined ? () => true : matcher(source.selector);
  return applications.filter(({ controlPlane, view }) => {
    if (view.deletionTimestamp !== undefined) return false;
    if (planes.length > 0 && !planes.includes(controlPlane)) return false;
    if (view.namespace !== source.namespace) return false;
    if (source.kind === "ApplicationSet") return view.owner?.kind === "ApplicationSet" && view.owner.name === source.name;
    return selects({ name: view.name, labels: view.labels }) && (source.name === "" || source.name === view.name);
  });
}
