/** What a checkout itself says of a rollout's Applications: rendered from its ApplicationSet, or as people wrote them. Called by `plan-inputs.ts`. */
import type { RenderResult } from "../../../core/appset/types.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { defined } from "../../../core/base/defined.ts";
import { textAt } from "../../../core/base/is-record.ts";
import { madeOnce, type RepoFiles } from "../../../core/base/repo-files.ts";
import type { OwnWords, Problem, ProblemReason } from "../../../core/reasons/problems/problem.ts";
import type { RenderProblem } from "../../../core/reasons/render.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { generatorCluster } from "../../../engine/config-repo/appset-in-git.ts";
import { flat } from "../../../engine/config-repo/generator-params.ts";
import { changeOf } from "../../../engine/config-repo/kustomize-changes.ts";
import { renderOnce } from "../../../engine/config-repo/render-set.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import { declaredSet, isRefusedByArgo } from "../../../engine/lint/declared-sets.ts";
import { mentionsClusters } from "../../../engine/onboarding/targets.ts";
import { applicationsOf, type SeenApplication } from "../../../engine/resolve/draft.ts";
import { atName } from "../../../engine/resolve/source-sets.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { originOf } from "../lint/origin.ts";
import { nearSource, scanCheckout } from "./near-source.ts";

interface Rendered {
  applications: SeenApplication[];
  problems: Problem[];
  /** Argo CD has no others. */
  whole?: boolean;
}

export function renderSource(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, controlPlane: string): Rendered {
  const { name, namespace } = rollout.source;
  const live = inventory?.applicationSets ?? [];
  const found = declaredSet(rollout, checkout, live).set?.object ?? findIn(live, name, namespace);
  if (found === undefined) {
    return notFound(rollout, checkout, inventory);
  }
  const clusters = (inventory?.clusters ?? []).map((cluster) => generatorCluster(cluster));
  const origin = originOf(checkout.root);
  let elsewhere = false;
  const repo = (url: string, revision: string) => {
    elsewhere ||= isElsewhere(origin, url, revision);
    return checkout;
  };
  const result = renderOnce(found, { clusters, repo });
  if (!result.ok) {
    return {
      applications: [],
      problems: result.problems.map((problem) => {
        const { message, hint } = sayRender(problem);
        const refused = isRefusedByArgo(problem) || (!elsewhere && isBrokenFile(problem));
        const told = aboutSource(rollout, {
          code: problem.code,
          message: `ApplicationSet ${name}, ${problem.where}: ${message}`,
          hint: refused ? hint : `${hint}; or give --inventory with its Applications`,
        });
        return refused ? { ...told, severity: "error" as const } : told;
      }),
    };
  }
  return { applications: madeBySet(result, name, controlPlane), problems: [], whole: !elsewhere && !mentionsClusters(found) };
}

/** A file of this repo that no Argo CD could read either: it stops the set, and so every batch. */
function isBrokenFile(problem: RenderProblem): boolean {
  return problem.code === "PARAM_ERROR" && (problem.kind === "FileNotYaml" || problem.kind === "FileNoMap");
}

const MADE = new WeakMap<RenderResult, Map<string, SeenApplication[]>>();

/** One rendering is looked at for lint, plan and preview. */
function madeBySet(result: RenderResult, name: string, controlPlane: string): SeenApplication[] {
  const known = MADE.get(result) ?? new Map<string, SeenApplication[]>();
  MADE.set(result, known);
  const made = known.get(controlPlane) ?? decodedBySet(result, name, controlPlane);
  known.set(controlPlane, made);
  return made;
}

function decodedBySet({ applications, generators }: RenderResult, name: string, controlPlane: string): SeenApplication[] {
  const params = generators.flatMap((generator) => generator.params);
  const owner = ownersOf(name);
  return applications.flatMap((object, i): SeenApplication[] => {
    const [seen] = decodeAll([owned(object, owner)], controlPlane);
    const own = params.length === applications.length ? params[i] : undefined;
    return seen === undefined ? [] : [{ ...seen, ...defined({ params: own && flat(own) }) }];
  });
}

/** A generator may read another repo or another branch: it is rendered over this one, and yields there what nobody knows here. */
function isElsewhere({ repoURL, defaultBranch }: ReturnType<typeof originOf>, url: string, revision: string): boolean {
  if (repoURL !== undefined && !sameRepo(url, repoURL)) return true;
  return !["", "HEAD", ...(defaultBranch === undefined ? ["main", "master"] : [defaultBranch])].includes(revision);
}

/** Applications as they stand in the repo, written by hand, and those that its ApplicationSets make. */
export function writtenSource(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, controlPlane: string): Rendered {
  const applications = applicationsOf(rollout, decodedOnce(madeOnce(checkout, makerFor(inventory)), controlPlane));
  if (applications.length > 0)
    return { applications, problems: changedOnTheWay(rollout, checkout, applications), whole: rollout.source.name !== "" };
  return notFound(rollout, checkout, inventory);
}

/** What is written may be made into something else before Argo CD has it. */
function changedOnTheWay(rollout: Rollout, checkout: Checkout, taken: readonly SeenApplication[]): Problem[] {
  const names = new Set(taken.flatMap(({ view }) => (view.owner === undefined ? [`${view.namespace}/${view.name}`] : [])));
  const changed = scanCheckout(checkout).applications.flatMap(({ file, object }) => {
    const change = names.has(nameOf(object)) ? changeOf(checkout, file, object) : undefined;
    return change === undefined ? [] : [{ ...change, application: textAt(object, "metadata", "name") ?? "" }];
  });
  const [first] = changed;
  if (first === undefined) return [];
  const { folder, by } = first;
  return [aboutSource(rollout, { code: "APPLICATION_CHANGED", applications: changed.map(({ application }) => application), folder, by })];
}

type Make = (files: RepoFiles) => readonly Record<string, unknown>[];

/** One for each inventory, so that all rollouts of a repo are planned over the same rendering. */
const MAKERS = new WeakMap<object, Make>();
const NO_INVENTORY = {};

function makerFor(inventory: Inventory | undefined): Make {
  const made = MAKERS.get(inventory ?? NO_INVENTORY);
  if (made !== undefined) return made;
  const make: Make = (files) => {
    const written = applicationsInRepo(files);
    const there = new Set(written.map(nameOf));
    return [...written, ...generatedInRepo(files, inventory).filter((object) => !there.has(nameOf(object)))];
  };
  MAKERS.set(inventory ?? NO_INVENTORY, make);
  return make;
}

const DECODED = new WeakMap<object, Map<string, SeenApplication[]>>();

/** All rollouts of a repo are planned over the same Applications. */
function decodedOnce(raw: readonly Record<string, unknown>[], controlPlane: string): SeenApplication[] {
  const known = DECODED.get(raw) ?? new Map<string, SeenApplication[]>();
  DECODED.set(raw, known);
  const found = known.get(controlPlane) ?? decodeAll(raw, controlPlane);
  known.set(controlPlane, found);
  return found;
}

/** What the ApplicationSets of the repo make, the first of each name; those that cannot be rendered here make nothing. */
function generatedInRepo(files: RepoFiles, inventory: Inventory | undefined): Record<string, unknown>[] {
  const clusters = (inventory?.clusters ?? []).map((cluster) => generatorCluster(cluster));
  const first = new Map<string, Record<string, unknown>>();
  for (const { object: set } of scanCheckout(files).sets) {
    const { name } = (set["metadata"] ?? {}) as { name?: unknown };
    const result = typeof name === "string" ? renderOnce(set, { clusters, repo: () => files }) : undefined;
    if (typeof name !== "string" || result?.ok !== true) continue;
    const owner = ownersOf(name);
    for (const one of result.applications) {
      const object = owned(one, owner);
      if (!first.has(nameOf(object))) first.set(nameOf(object), object);
    }
  }
  return [...first.values()];
}

function nameOf({ metadata }: Record<string, unknown>): string {
  const { name, namespace } = (metadata ?? {}) as { name?: unknown; namespace?: unknown };
  return `${typeof namespace === "string" && namespace !== "" ? namespace : "argocd"}/${String(name)}`;
}

/** Of a source that is nowhere here, with what was most likely meant. */
export function notFound(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): Rendered {
  const found = nearSource(rollout, checkout, inventory);
  const [unread] = found === undefined ? scanCheckout(checkout).unread : [];
  const data = { kind: "NotInRepo", source: rollout.source, inventory: inventory !== undefined, near: found?.near, unread } as const;
  const path = ["spec", "sourceRef", found?.field ?? atName(rollout)[2] ?? "name"];
  const severity = found?.isSure === true ? "error" : "warning";
  return { applications: [], problems: [{ ...aboutSource(rollout, { code: "SOURCE_NOT_FOUND", ...data }), path, severity }] };
}

function ownersOf(set: string): Record<string, unknown>[] {
  return [{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name: set, uid: "rendered", controller: true }];
}

function owned(object: RenderResult["applications"][number], ownerReferences: readonly Record<string, unknown>[]): Record<string, unknown> {
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function findIn(objects: readonly unknown[], name: string, namespace: string): Record<string, unknown> | undefined {
  for (const object of objects) {
    if (typeof object !== "object" || object === null) continue;
    const { kind, metadata } = object as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } | null };
    if (kind === "ApplicationSet" && metadata?.name === name && (metadata.namespace === undefined || metadata.namespace === namespace))
      return object as Record<string, unknown>;
  }
  return undefined;
}

export function decodeAll(raw: readonly unknown[], controlPlane: string): SeenApplication[] {
  return raw.flatMap((object) => {
    const view = decodeApplication(object, 0);
    // What carries no namespace was printed from the one Argo CD runs in.
    return view === undefined ? [] : [{ controlPlane, view: view.namespace === "" ? { ...view, namespace: "argocd" } : view }];
  });
}

/** A warning that is about the rollout's source. */
export function aboutSource(rollout: Rollout, reason: ProblemReason | OwnWords): Problem {
  return { ...reason, severity: "warning", file: rollout.file, line: 1, column: 1, path: atName(rollout) };
}

/** Applications that stand in the repo as such, the first of each name and namespace. `{{` templates and broken files have none. */
function applicationsInRepo(checkout: RepoFiles): readonly Record<string, unknown>[] {
  const first = new Map<string, Record<string, unknown>>();
  for (const { object } of scanCheckout(checkout).applications) {
    const { metadata } = object as { metadata?: { name?: unknown } | null };
    if (typeof metadata?.name === "string" && !first.has(nameOf(object))) first.set(nameOf(object), object);
  }
  return [...first.values()];
}
