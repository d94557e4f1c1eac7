import { scanRepo } from "../../../engine/onboarding/scan.ts";
import type { Manifest } from "../../../engine/onboarding/types.ts";
import type { Checkout } from "../lint/lint-checkout.ts";

/** A checkout does not change while it is looked at, and lint asks once for each rollout. */
const SCANNED = new WeakMap<Checkout, readonly Manifest[]>();

/** Applications that stand in the repo as such, the first of each name and namespace. `{{` templates and broken files have none. */
export function applicationsInRepo(checkout: Checkout): readonly Record<string, unknown>[] {
  const manifests = SCANNED.get(checkout) ?? scanRepo(checkout).applications;
  SCANNED.set(checkout, manifests);
  const first = new Map<string, Record<string, unknown>>();
  for (const { object } of manifests) {
    const { metadata } = object as { metadata?: { name?: unknown; namespace?: unknown } | null };
    if (typeof metadata?.name !== "string") continue;
    const namespace = typeof metadata.namespace === "string" ? metadata.namespace : "argocd";
    const key = `${namespace}/${metadata.name}`;
    if (!first.has(key)) first.set(key, object);
  }
  return [...first.values()];
}
