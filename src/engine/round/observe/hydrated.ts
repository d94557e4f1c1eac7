/** Which Applications are hydrated to one branch, and what tells of the hydration of one. Called by `judge-targets.ts`. */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { Change } from "../../../core/argocd/liveness/types.ts";
import { hydrationOf as branchesOf } from "../../../core/argocd/same.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import type { Facts } from "./facts.ts";

/** The Applications of a plane that are hydrated to one branch, by that branch. Looked up once for all targets of a batch. */
type Hydrated = ReadonlyMap<string, readonly ApplicationView[]>;

/** Looks up, once for all targets of a batch, which Applications of a plane are hydrated to which branch. */
export type LookUpHydrated = (plane: ControlPlane) => Hydrated;

export function openHydrated(): LookUpHydrated {
  const found = new Map<string, Hydrated>();
  return (plane) => {
    const known = found.get(plane.name);
    if (known !== undefined) return known;
    const all = plane.applications().filter(({ spec }) => spec.sourceHydrator !== undefined);
    const made = Map.groupBy(all, ({ spec }) => branchesOf(spec.sourceHydrator)?.to ?? "");
    found.set(plane.name, made);
    return made;
  };
}

interface Looked {
  plane: ControlPlane;
  application: ApplicationView | undefined;
}

/** What tells of the hydration of one that is hydrated. */
export function hydrationOf({ application, plane }: Looked, changes: readonly Change[], facts: Facts, hydrated: LookUpHydrated) {
  if (application?.spec.sourceHydrator === undefined) return undefined;
  return { hydrated: facts.hydrated, sharesBranch: sharesBranch(application, changes, hydrated(plane)) };
}

/**
 * Another Application that is hydrated to the same branch. Where all of them follow one moving dry branch, a new commit of it is hydrated
 * for all at once; anything else one may have, and the status of the other says so as well.
 */
function sharesBranch({ uid, spec }: ApplicationView, changes: readonly Change[], hydrated: Hydrated): string | undefined {
  const own = branchesOf(spec.sourceHydrator);
  if (own === undefined) return undefined;
  const inStep = changes.every(({ kind }) => kind === "commit");
  return hydrated.get(own.to)?.find((one) => one.uid !== uid && !(inStep && branchesOf(one.spec.sourceHydrator)?.from === own.from))?.name;
}
