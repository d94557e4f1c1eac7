import { isDeepStrictEqual } from "node:util";
import type { RenderedApplication } from "../../../core/appset/types.ts";
import { isZeroBlock } from "../../../core/argocd/decode/source.ts";
import { defined } from "../../../core/base/defined.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import type { Store } from "../../kubernetes/store.ts";
import type { KubeObject, OwnerReference } from "../../kubernetes/types.ts";

/** Annotations of others that a set leaves alone, besides those it is told to preserve. */
const KEPT = [/^notified\.notifications\.argoproj\.io/, /^argocd\.argoproj\.io\/refresh$/, /^argocd\.argoproj\.io\/hydrate$/];
const KEPT_FINALIZERS = /^(pre|post)-delete-finalizer\.argocd\.argoproj\.io/;

interface SetSpec {
  preservedFields?: { annotations?: string[]; labels?: string[] };
  ignoreApplicationDifferences?: readonly IgnoredDifference[];
  syncPolicy?: { applicationsSync?: string; preserveResourcesOnDeletion?: boolean };
}

interface Applied {
  created: string[];
  updated: string[];
  deleted: string[];
}

function ownerOf(set: KubeObject): OwnerReference {
  const { name, uid = "" } = set.metadata;
  return { apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid, controller: true, blockOwnerDeletion: true };
}

export function isOwnedBy(app: KubeObject, set: KubeObject): boolean {
  return app.metadata.ownerReferences?.some(({ kind, uid }) => kind === "ApplicationSet" && uid === set.metadata.uid) === true;
}

function kept(live: Record<string, string> | undefined, also: readonly string[] | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(live ?? {}).filter(([key]) => KEPT.some((pattern) => pattern.test(key)) || also?.includes(key) === true),
  );
}

/** Empty maps are left out, so that an object that has none compares equal. */
function filled<T extends Record<string, unknown> | unknown[]>(name: string, value: T): Record<string, T> {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}

/** What the live Application becomes: generated, with what is preserved of the live one. Status and operation are not the set's. */
function merged(live: KubeObject, wanted: RenderedApplication, set: KubeObject, spec: SetSpec): KubeObject {
  const { labels: _l, annotations: _a, finalizers: _f, ...metadata } = live.metadata;
  const labels = { ...pick(live.metadata.labels, spec.preservedFields?.labels), ...wanted.metadata.labels };
  const annotations = { ...kept(live.metadata.annotations, spec.preservedFields?.annotations), ...wanted.metadata.annotations };
  const others = (live.metadata.finalizers ?? []).filter((finalizer) => KEPT_FINALIZERS.test(finalizer));
  const finalizers = [...new Set([...(wanted.metadata.finalizers ?? []), ...others])];
  return {
    ...live,
    metadata: {
      ...metadata,
      ...filled("labels", labels),
      ...filled("annotations", annotations),
      ...filled("finalizers", finalizers),
      ownerReferences: [ownerOf(set)],
    },
    spec: specOf(live, wanted, spec.ignoreApplicationDifferences),
  };
}

function specOf(live: KubeObject, wanted: RenderedApplication, ignored: readonly IgnoredDifference[] = []): unknown {
  const paths = ignored.filter(({ name }) => name === undefined || name === live.metadata.name).flatMap(ignoredPaths);
  const next = paths.reduce<unknown>((spec, path) => keepLive(spec, live["spec"], path), normalised(wanted.spec));
  return isDeepStrictEqual(live["spec"], next) ? live["spec"] : next;
}

/** As Argo CD's NormalizeApplicationSpec: a project, and no empty blocks. */
function normalised(spec: Record<string, unknown>): Record<string, unknown> {
  const { source, sources, project, syncPolicy } = spec;
  return defined({
    ...spec,
    project: project === undefined || project === "" ? "default" : project,
    source: isRecord(source) ? withoutZeroBlocks(source) : source,
    sources: Array.isArray(sources) ? sources.map((one) => (isRecord(one) ? withoutZeroBlocks(one) : one)) : sources,
    syncPolicy: isRecord(syncPolicy) && Object.keys(syncPolicy).length === 0 ? undefined : syncPolicy,
  });
}

function withoutZeroBlocks(source: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([key, value]) => !isZeroBlock(key, value)));
}

function pick(live: Record<string, string> | undefined, keys: readonly string[] | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(live ?? {}).filter(([key]) => keys?.includes(key) === true));
}

/** Makes the set's Applications what was rendered, as far as its policy allows. */
export function applyRendered(store: Store, set: KubeObject, rendered: readonly RenderedApplication[]): Applied {
  const spec = (set["spec"] ?? {}) as SetSpec;
  const policy = spec.syncPolicy?.applicationsSync ?? "sync";
  const namespace = set.metadata.namespace ?? "";
  const result: Applied = { created: [], updated: [], deleted: [] };
  const wanted = new Set<string>();
  for (const app of rendered) {
    const { name } = app.metadata;
    wanted.add(name);
    const live = store.get("applications", namespace, name);
    if (live === undefined) {
      store.create({ ...app, spec: normalised(app.spec), metadata: { ...app.metadata, namespace, ownerReferences: [ownerOf(set)] } });
      result.created.push(name);
    } else if (policy !== "create-only" && policy !== "create-delete") {
      const next = store.change("applications", namespace, name, (object) => merged(object, app, set, spec));
      if (next !== live) result.updated.push(name);
    }
  }
  if (policy === "create-only" || policy === "create-update") return result;
  for (const app of store.list("applications", namespace)) {
    if (!isOwnedBy(app, set) || wanted.has(app.metadata.name) || app.metadata.deletionTimestamp !== undefined) continue;
    store.delete("applications", namespace, app.metadata.name);
    result.deleted.push(app.metadata.name);
  }
  return result;
}

/** An entry of an ApplicationSet's `ignoreApplicationDifferences`: fields of live Applications that it leaves as they are. */
interface IgnoredDifference {
  /** Only of this Application. */
  name?: string;
  /** `/spec/syncPolicy`. */
  jsonPointers?: readonly string[];
  /** Only plain paths (`.spec.syncPolicy`) are understood. */
  jqPathExpressions?: readonly string[];
}

type Json = Record<string, unknown>;

/** The paths below `spec` that an entry names. */
function ignoredPaths({ jsonPointers = [], jqPathExpressions = [] }: IgnoredDifference): string[][] {
  const pointers = jsonPointers.map((pointer) =>
    pointer
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")),
  );
  const plain = jqPathExpressions.filter((path) => /^(\.\w+)+$/.test(path)).map((path) => path.slice(1).split("."));
  return [...pointers, ...plain].filter(([root, ...rest]) => root === "spec" && rest.length > 0).map(([, ...rest]) => rest);
}

/** `wanted` with the value that `live` has at a path; without one where `live` has none. Lists are left alone. */
function keepLive(wanted: unknown, live: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (!isRecord(wanted)) return wanted;
  const theirs = isRecord(live) ? live[key] : undefined;
  const next: Json = { ...wanted };
  const value = rest.length === 0 ? theirs : keepLive(next[key] ?? (isRecord(theirs) ? {} : undefined), theirs, rest);
  if (value === undefined) delete next[key];
  else next[key] = value;
  return next;
}
