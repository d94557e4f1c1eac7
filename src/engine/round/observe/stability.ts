import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { OwnerTrouble } from "../../../core/argocd/liveness/types.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import type { Assessment } from "../../../core/run/state/world.ts";

type StableSince = NonNullable<Assessment["held"]>;

const MOST = 50_000;

/**
 * Since when, by our own clock, a target's reads have all been well or bad. Since when they were bad is kept in memory only: after a restart
 * grace is counted anew, which delays by as much and decides nothing wrongly. Since when they were well is journalled, too.
 */
export interface Stability {
  of(question: string): StableSince;
  note(question: string, since: StableSince | undefined): void;
}

export function openStability(): Stability {
  const all = new BoundedMap<string, StableSince>(MOST);
  return {
    of: (question) => all.get(question) ?? {},
    note(question, since) {
      if (since?.goodSince === undefined && since?.badSince === undefined) all.delete(question);
      else all.set(question, since);
    },
  };
}

/** Finds what is wrong with the ApplicationSet that owns an Application; undefined: nothing, or it cannot be told. */
export type TroubleOfOwner = (plane: ControlPlane, application: ApplicationView) => OwnerTrouble | undefined;

/** Only a set that was there can be gone, since not every bot may see them. */
export function openOwners(): TroubleOfOwner {
  const shown = new BoundedSet<string>(MOST);
  return (plane, { owner, namespace }) => {
    if (owner === undefined) return undefined;
    const { name, uid } = owner;
    const set = plane.applicationSet(namespace, name);
    // One of the same name made anew does not own it: garbage collection goes by uid.
    if (set === undefined || set.uid !== uid) return shown.has(`${plane.name} ${uid}`) ? { name, state: "gone" } : undefined;
    shown.add(`${plane.name} ${uid}`);
    if (set.deletionTimestamp !== undefined) return { name, state: "deleting" };
    if (set.unreadable !== undefined)
      return { name, state: "failing", because: livenessReason("OWNER_UNREADABLE", { because: set.unreadable }) };
    const error = set.conditions.find((condition) => condition.type === "ErrorOccurred" && condition.status === "True");
    if (error === undefined) return undefined;
    const message = (error.message ?? error.reason ?? "no message").slice(0, 300);
    return { name, state: "failing", because: livenessReason("OWNER_SAYS", { message }) };
  };
}
