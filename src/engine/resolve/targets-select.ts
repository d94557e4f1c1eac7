import type { ApplicationView } from "../../core/argocd/views.ts";
import { matcher } from "../../core/base/selector.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

/** An Application and the control plane it was seen on. */
export interface SeenApplication {
  controlPlane: string;
  view: ApplicationView;
  /** Parameters the generator gave it; known only where the ApplicationSet was rendered. */
  params?: Readonly<Record<string, string>>;
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
