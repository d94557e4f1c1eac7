/** Which ApplicationSet or Application a sourceRef most likely means that finds none. Called by `plan-inputs.ts`. */
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { isRecord, recordOf } from "../../../core/base/is-record.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { madeOnce, type RepoFiles } from "../../../core/base/repo-files.ts";
import { selectorTypos } from "../../../core/plan/selector-typos.ts";
import type { SourceRef } from "../../../core/spec/rollout.ts";
import { type Scan, scanRepo } from "../../../engine/onboarding/scan.ts";
import type { Checkout } from "../lint/lint-checkout.ts";

/** Lint asks once for each rollout. */
export function scanned(checkout: RepoFiles): Scan {
  return madeOnce(checkout, scanRepo);
}

interface Named {
  kind: SourceRef["kind"];
  /** Absent: it goes where it is applied. */
  namespace: string | undefined;
  name: string;
  labels: Record<string, string>;
}

/** `ApplicationSet argocd/payments`, or of a selector the label that some Application has; undefined: nothing is near. */
export function nearSource(source: SourceRef, checkout: Checkout, inventory: Inventory | undefined): string | undefined {
  const there = sourcesThere(checkout, inventory);
  if (source.name === "") return source.selector && nearLabel(source.selector, there);
  const alike = there.filter(({ kind }) => kind === source.kind);
  const same = alike.find(({ name }) => name === source.name) ?? there.find(({ name }) => name === source.name);
  const near = nearest(
    source.name,
    alike.map(({ name }) => name),
  );
  const meant = same ?? alike.find(({ name }) => name === near);
  if (meant === undefined) return undefined;
  const { kind, namespace = source.namespace, name } = meant;
  // What is there and cannot be told from another, or not be read, is not what was mistyped.
  const isAsked = kind === source.kind && namespace === source.namespace && name === source.name;
  return isAsked ? undefined : `${kind} ${namespace}/${name}`;
}

function nearLabel(selector: NonNullable<SourceRef["selector"]>, there: readonly Named[]): string | undefined {
  const applications = there.filter(({ kind }) => kind === "Application");
  const [typo] = selectorTypos(selector, applications);
  if (typo === undefined) return undefined;
  return typo.value === undefined ? typo.near : `${typo.key}=${typo.near}`;
}

function sourcesThere(checkout: Checkout, inventory: Inventory | undefined): Named[] {
  const { sets, applications } = scanned(checkout);
  return [
    ...[...(inventory?.applicationSets ?? []), ...sets.map(({ object }) => object)].flatMap(namedAs("ApplicationSet")),
    ...[...(inventory?.applications ?? []), ...applications.map(({ object }) => object)].flatMap(namedAs("Application")),
  ];
}

function namedAs(kind: Named["kind"]): (object: unknown) => Named[] {
  return (object) => {
    const metadata = recordOf(recordOf(object)["metadata"]);
    const { name, namespace, labels } = metadata;
    // What is a template of Helm's still has no name.
    if (typeof name !== "string" || name.includes("{{")) return [];
    const texts = Object.entries(isRecord(labels) ? labels : {}).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    // An Application without one is read as the others of the repo are (`plan-inputs.ts`).
    const elsewhere = kind === "Application" ? "argocd" : undefined;
    return [{ kind, name, namespace: typeof namespace === "string" ? namespace : elsewhere, labels: Object.fromEntries(texts) }];
  };
}
