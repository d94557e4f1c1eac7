import { isDeepStrictEqual } from "node:util";
import { defined } from "../../core/base/defined.ts";
import { errorText } from "../../core/base/error-text.ts";
import { checkRequired } from "../kubernetes/required.ts";
import type { Store } from "../kubernetes/store.ts";
import type { KubeObject } from "../kubernetes/types.ts";
import type { Desired } from "./application/manifests.ts";
import { ManifestError } from "./render/files.ts";
import type { Application } from "./types.ts";

const TRACKING = "argocd.argoproj.io/tracking-id";
const PLURALS: Record<string, string> = { ApplicationSet: "applicationsets", Application: "applications", AppProject: "appprojects" };

/** Projects first, so that what names them finds them. */
const ORDER = ["AppProject", "ApplicationSet", "Application"];

function isArgo({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === "argoproj.io/v1alpha1" && PLURALS[kind] !== undefined;
}

/** Those of Argo CD among what a source renders to; other kinds are somebody else's. */
async function argoObjects({ rendered }: Desired, app: Application, namespace: string): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const value of (await rendered({ name: app.metadata.name, namespace })).filter(isArgo)) {
    const object = { ...value, metadata: { ...value.metadata, namespace: value.metadata.namespace ?? namespace } };
    try {
      checkRequired(object);
    } catch (refusal) {
      throw new ManifestError(errorText(refusal));
    }
    objects.push(object);
  }
  return objects.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

/** As Argo CD's repo server gives them out, each with what says by whom it is applied; undefined: this is no parent of sets or Applications. */
export function shownManifests(app: Application, objects: readonly KubeObject[]): string[] | undefined {
  if (!objects.some(isArgo)) return undefined;
  return objects.map((object) => {
    const { annotations, namespace = app.spec.destination.namespace ?? "" } = object.metadata;
    const [group = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : [];
    const id = `${app.metadata.name}:${group}/${object.kind}:${namespace}/${object.metadata.name}`;
    return JSON.stringify({ ...object, metadata: { ...object.metadata, annotations: { ...annotations, [TRACKING]: id } } });
  });
}

interface OwnCluster {
  /** Creates, updates and, where the policy says so, prunes. */
  apply(app: Application, desired: Desired): Promise<void>;
  /** What an Application has applied of Argo CD's own objects. */
  madeBy(owner: string): { kind: string; namespace: string; name: string }[];
  /** The Application that a tracked object was applied by, where its spec is no longer what was applied. */
  driftedFrom(object: KubeObject): string | undefined;
}

/** What Argo CD applies to the very cluster it runs in: the app of apps that brings ApplicationSets from Git. */
export function createOwnCluster(store: Store, namespace: string): OwnCluster {
  const applied = new Map<string, { spec: unknown; owner: string }>();
  const idOf = (owner: string, { kind, metadata }: KubeObject) => `${owner}:argoproj.io/${kind}:${metadata.namespace}/${metadata.name}`;

  function put(object: KubeObject, owner: string): string {
    const id = idOf(owner, object);
    const plural = PLURALS[object.kind] ?? "";
    const annotations = { ...object.metadata.annotations, [TRACKING]: id };
    applied.set(id, { spec: object["spec"], owner });
    const { name, namespace: scope = namespace, labels, finalizers } = object.metadata;
    if (store.get(plural, scope, name) === undefined) {
      const { status: _, ...fresh } = object;
      store.create({ ...fresh, metadata: { ...object.metadata, annotations } } as KubeObject);
      return id;
    }
    store.change(plural, scope, name, (old) => ({
      ...old,
      spec: isDeepStrictEqual(old["spec"], object["spec"]) ? old["spec"] : object["spec"],
      metadata: defined({
        ...old.metadata,
        annotations: { ...old.metadata.annotations, ...annotations },
        labels: labels === undefined ? old.metadata.labels : { ...old.metadata.labels, ...labels },
        finalizers: finalizers ?? old.metadata.finalizers,
      }),
    }));
    return id;
  }

  function prune(owner: string, keep: ReadonlySet<string>): void {
    for (const plural of Object.values(PLURALS)) {
      for (const { metadata } of store.list(plural)) {
        const id = metadata.annotations?.[TRACKING];
        if (id === undefined || !id.startsWith(`${owner}:`) || keep.has(id)) continue;
        applied.delete(id);
        store.delete(plural, metadata.namespace ?? "", metadata.name);
      }
    }
  }

  return {
    async apply(app, desired) {
      const owner = app.metadata.name;
      const objects = await argoObjects(desired, app, app.spec.destination.namespace ?? namespace);
      const ids = new Set(
        objects.filter(({ kind, metadata }) => kind !== "Application" || metadata.name !== owner).map((object) => put(object, owner)),
      );
      if (app.operation?.sync?.prune === true) prune(owner, ids);
    },
    madeBy(owner) {
      return [...applied].flatMap(([id, one]) => {
        const [, kind = "", place = ""] = id.split(":");
        const [namespace = "", name = ""] = place.split("/");
        return one.owner === owner ? [{ kind: kind.slice(kind.indexOf("/") + 1), namespace, name }] : [];
      });
    },
    driftedFrom(object) {
      const last = applied.get(object.metadata.annotations?.[TRACKING] ?? "");
      return last === undefined || isDeepStrictEqual(last.spec, object["spec"]) ? undefined : last.owner;
    },
  };
}
