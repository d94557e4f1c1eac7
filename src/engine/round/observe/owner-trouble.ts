import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { OwnerTrouble } from "../../../core/argocd/liveness/types.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";

/** uids of ApplicationSets that a plane has shown: only one that was there can be gone, since not every bot may see them. */
const shown = new WeakMap<ControlPlane, Set<string>>();

/** What is wrong with the ApplicationSet that owns an Application; undefined: nothing, or it cannot be told. */
export function ownerTrouble(plane: ControlPlane, application: ApplicationView): OwnerTrouble | undefined {
  const { owner, namespace } = application;
  if (owner === undefined) return undefined;
  const known = shown.get(plane) ?? new Set<string>();
  shown.set(plane, known);
  const set = plane.applicationSet(namespace, owner.name);
  const { name } = owner;
  // One of the same name made anew does not own it: garbage collection goes by uid.
  if (set === undefined || set.uid !== owner.uid) return known.has(owner.uid) ? { name, state: "gone" } : undefined;
  known.add(owner.uid);
  if (set.deletionTimestamp !== undefined) return { name, state: "deleting" };
  if (set.unreadable !== undefined)
    return { name, state: "failing", because: livenessReason("OWNER_UNREADABLE", { because: set.unreadable }) };
  const error = set.conditions.find((condition) => condition.type === "ErrorOccurred" && condition.status === "True");
  if (error === undefined) return undefined;
  const message = (error.message ?? error.reason ?? "no message").slice(0, 300);
  return { name, state: "failing", because: livenessReason("OWNER_SAYS", { message }) };
}
