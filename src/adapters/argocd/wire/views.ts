import type { ApplicationSetView, ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import { iso, type Time } from "../../../core/base/time.ts";
import type { Informer } from "./informer.ts";

/** What every adapter reads from: several informers of a kind where several namespaces are watched. */
export interface Parts {
  applications: readonly Informer<ApplicationView>[];
  sets: readonly Informer<ApplicationSetView>[];
  /** Whatever else must be fresh. */
  others: readonly Pick<Informer<unknown>, "ready" | "problem" | "freshSince" | "close">[];
}

export function everyPart({ applications, sets, others }: Parts): Parts["others"] {
  return [...applications, ...sets, ...others];
}

export function stateOf(parts: Parts): { fresh: boolean; why?: string; since: Time } {
  let since = 0;
  for (const part of everyPart(parts)) {
    const problem = part.problem();
    if (problem !== undefined) return { fresh: false, why: problem.why, since: iso(problem.since) };
    since = Math.max(since, part.freshSince());
  }
  return { fresh: true, since: iso(since) };
}

export function find<View>(informers: readonly Informer<View>[], namespace: string, name: string): View | undefined {
  const key = `${namespace}/${name}`;
  for (const informer of informers) {
    const view = informer.items().get(key);
    if (view !== undefined) return view;
  }
  return undefined;
}

/** Hands what was read by its name to the informer that knows it. */
export function offer({ applications }: Parts, key: string, view: ApplicationView | undefined, askedAt: number): void {
  const known = applications.find((informer) => informer.items().has(key));
  known?.offer(key, view, askedAt);
}

export function* each<View>(informers: readonly Informer<View>[]): Generator<View> {
  for (const informer of informers) yield* informer.items().values();
}

export function ownedBy(parts: Parts, owner: { namespace: string; name: string } | undefined): ApplicationView[] {
  const found: ApplicationView[] = [];
  for (const view of each(parts.applications)) if (owner === undefined || isOwnedBy(view, owner)) found.push(view);
  return found;
}

/** An ApplicationSet creates Applications in its own namespace only. */
function isOwnedBy(view: ApplicationView, owner: { namespace: string; name: string }): boolean {
  return view.namespace === owner.namespace && view.owner?.kind === "ApplicationSet" && view.owner.name === owner.name;
}

/** Asked for once a target, and the same until something changes. */
export function remembered(make: () => ClusterView[]): { get: () => ClusterView[]; forget: () => void } {
  let known: ClusterView[] | undefined;
  return {
    get() {
      known ??= make();
      return known;
    },
    forget() {
      known = undefined;
    },
  };
}
