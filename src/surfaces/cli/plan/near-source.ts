/** Which ApplicationSet or Application a sourceRef most likely means that finds none. Called by `plan-inputs.ts`. */
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { isRecord, recordOf } from "../../../core/base/is-record.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import { isSlip } from "../../../core/base/slip.ts";
import { selectorTypos } from "../../../core/plan/selector-typos.ts";
import { parseRollouts } from "../../../core/spec/parse/parse.ts";
import type { Rollout, SourceRef } from "../../../core/spec/rollout.ts";
import { isRolloutFile } from "../../../engine/config-repo/project.ts";
import { type Scan, scanRepo } from "../../../engine/onboarding/scan.ts";
import type { Checkout } from "../lint/lint-checkout.ts";

/** Scans a checkout once, though lint asks for each rollout. */
export function scanCheckout(checkout: RepoFiles): Scan {
  return madeOnce(checkout, scanRepo);
}

interface Named {
  kind: SourceRef["kind"];
  /** Absent: it goes where it is applied. */
  namespace: string | undefined;
  name: string;
  labels: Record<string, string>;
  /** Absent: the inventory has it. */
  file?: string | undefined;
}

/** What a sourceRef most likely means. */
interface NearSource {
  /** `ApplicationSet argocd/payments`, or of a selector the label that some Application has. */
  near: string;
  /** Of sourceRef, what is mistyped. */
  field: "name" | "namespace" | "kind" | "selector";
  /** Nothing else can be meant. */
  isSure: boolean;
}

/** undefined: nothing is near. */
export function nearSource(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): NearSource | undefined {
  const { source } = rollout;
  const there = sourcesThere(checkout, inventory);
  if (source.name === "") {
    const near = source.selector && nearLabel(source.selector, there, source.kind);
    return near === undefined ? undefined : { near, field: "selector", isSure: false };
  }
  const alike = there.filter(({ kind }) => kind === source.kind);
  const same = alike.find(({ name }) => name === source.name) ?? there.find(({ name }) => name === source.name);
  const near = nearest(
    source.name,
    alike.map(({ name }) => name),
  );
  const meant = same ?? alike.find(({ name }) => name === near);
  if (meant === undefined) return undefined;
  const { kind, namespace = source.namespace, name } = meant;
  const field = name !== source.name ? "name" : kind !== source.kind ? "kind" : "namespace";
  // What is there and cannot be told from another, or not be read, is not what was mistyped.
  if (field === "namespace" && namespace === source.namespace) return undefined;
  const isSure = isPinned(rollout, meant) || isKnownAll(inventory, source) || isOnlyOneLeft(rollout, meant, checkout, there);
  return { near: `${kind} ${namespace}/${name}`, field, isSure };
}

/** The rollout writes into the very file that declares it. */
function isPinned({ pins }: Rollout, { file }: Named): boolean {
  return pins.some((pin) => "file" in pin && pin.file === file);
}

/** The inventory lists what Argo CD has of this kind. */
function isKnownAll(inventory: Inventory | undefined, { kind }: SourceRef): boolean {
  return ((kind === "ApplicationSet" ? inventory?.applicationSets : inventory?.applications) ?? []).length > 0;
}

/** The repo holds what its other rollouts are about, and nobody else means this one. */
function isOnlyOneLeft({ name, source }: Rollout, meant: Named, checkout: Checkout, there: readonly Named[]): boolean {
  if (meant.name !== source.name && !isSlip(source.name, meant.name)) return false;
  const others = madeOnce(checkout, sourcesAsked).filter((one) => one.rollout !== name);
  const isThere = (asked: string) => there.some((one) => one.name === asked);
  return others.length > 0 && others.every(({ asked }) => isThere(asked) && asked !== meant.name);
}

/** The names that rollouts of the repo ask for. */
function sourcesAsked(files: RepoFiles): { rollout: string; asked: string }[] {
  const read = files
    .paths()
    .filter(isRolloutFile)
    .map((file) => ({ file, text: readOrNull(files, file) ?? "" }));
  const rollouts = read.flatMap(({ file, text }) => parseRollouts(text, file).rollouts);
  return rollouts.flatMap(({ name, source }) =>
    [...(source.names ?? []), ...(source.name === "" ? [] : [source.name])].map((asked) => ({ rollout: name, asked })),
  );
}

function nearLabel(selector: NonNullable<SourceRef["selector"]>, there: readonly Named[], of: SourceRef["kind"]): string | undefined {
  const [typo] = selectorTypos(
    selector,
    there.filter(({ kind }) => kind === of),
  );
  if (typo === undefined) return undefined;
  return typo.value === undefined ? typo.near : `${typo.key}=${typo.near}`;
}

/** What the repo and the inventory declare. */
export function sourcesThere(checkout: Checkout, inventory: Inventory | undefined): Named[] {
  const { sets, applications } = scanCheckout(checkout);
  return [
    ...(inventory?.applicationSets ?? []).flatMap((object) => namedAs("ApplicationSet", { object })),
    ...sets.flatMap((manifest) => namedAs("ApplicationSet", manifest)),
    ...(inventory?.applications ?? []).flatMap((object) => namedAs("Application", { object })),
    ...applications.flatMap((manifest) => namedAs("Application", manifest)),
  ];
}

function namedAs(kind: Named["kind"], { object, file }: { object: unknown; file?: string }): Named[] {
  const metadata = recordOf(recordOf(object)["metadata"]);
  const { name, namespace, labels } = metadata;
  // What is a template of Helm's still has no name.
  if (typeof name !== "string" || name.includes("{{")) return [];
  const texts = Object.entries(isRecord(labels) ? labels : {}).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  // An Application without one is read as the others of the repo are (`plan-inputs.ts`).
  const elsewhere = kind === "Application" ? "argocd" : undefined;
  return [{ kind, name, namespace: typeof namespace === "string" ? namespace : elsewhere, labels: Object.fromEntries(texts), file }];
}
