import { compareText } from "../../core/base/compare-text.ts";
import type { Clock } from "../../core/base/time.ts";
import { ApiError, badRequest } from "./api-error.ts";
import { fieldSelector, labelSelector, type Matcher } from "./selectors.ts";
import type { Store } from "./store.ts";
import { apiVersionOf, type KubeObject, type Resource } from "./types.ts";

/** Pages of a list are those of one moment for as long, as etcd keeps a revision until it is compacted. */
const SNAPSHOT_MS = 5 * 60_000;
const MAX_SNAPSHOTS = 64;

interface Snapshot {
  revision: number;
  items: KubeObject[];
  until: number;
}

interface ListBody {
  apiVersion: string;
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: KubeObject[];
}

export interface Lister {
  list(resource: Resource, namespace: string, query: URLSearchParams): ListBody;
  /** Every continue token is answered 410 from now on. */
  expire(): void;
}

/** The objects a list or watch is about, by its selectors. */
export function matcherOf(query: URLSearchParams, namespace: string): Matcher {
  const labels = labelSelector(query.get("labelSelector") ?? "");
  const fields = fieldSelector(query.get("fieldSelector") ?? "");
  return (object) => (namespace === "" || object.metadata.namespace === namespace) && labels(object) && fields(object);
}

/** A resourceVersion as given by a client; undefined where there is none. Throws 400 where it is no number, 504 where it lies ahead. */
export function askedRevision(query: URLSearchParams, newest: number): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  if (text === "") return undefined;
  if (!/^\d+$/.test(text)) throw badRequest(`invalid resource version "${text}": it is the one of an earlier answer, or 0`);
  const asked = Number(text);
  if (asked > newest) throw new ApiError(504, "Timeout", `Too large resource version: ${asked}, current: ${newest}`);
  return asked;
}

const byKey = (a: KubeObject, b: KubeObject) => {
  const [x, y] = [a, b].map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`) as [string, string];
  return compareText(x, y);
};

export function createLister(store: Store, clock: Clock): Lister {
  const snapshots = new Map<string, Snapshot>();
  let serial = 0;

  function keepSnapshot(snapshot: Snapshot): string {
    serial += 1;
    const id = String(serial);
    snapshots.set(id, snapshot);
    for (const [key, { until }] of snapshots) {
      if (until <= clock.now() || snapshots.size > MAX_SNAPSHOTS) snapshots.delete(key);
    }
    return id;
  }

  function resumed(token: string): { id: string; snapshot: Snapshot; offset: number } {
    const match = /^(\d+):(\d+)$/.exec(Buffer.from(token, "base64url").toString());
    if (match === null) throw badRequest("continue key is not valid");
    const [, id = "", offset] = match;
    const snapshot = snapshots.get(id);
    if (snapshot === undefined || snapshot.until <= clock.now()) {
      throw new ApiError(
        410,
        "Expired",
        "The provided continue parameter is too old to display a consistent list result. Start a new list without the continue parameter.",
      );
    }
    return { id, snapshot, offset: Number(offset) };
  }

  function first(resource: Resource, namespace: string, query: URLSearchParams): Snapshot {
    const asked = askedRevision(query, store.revision());
    if (query.get("resourceVersionMatch") === "Exact" && asked !== store.revision()) {
      throw new ApiError(410, "Expired", `The resourceVersion for the provided list is too old: ${asked}`);
    }
    const items = store.list(resource.plural, namespace).filter(matcherOf(query, namespace)).sort(byKey);
    return { revision: store.revision(), items, until: clock.now() + SNAPSHOT_MS };
  }

  return {
    list(resource, namespace, query) {
      const token = query.get("continue") ?? "";
      const limit = Number(query.get("limit") ?? 0);
      const page = token === "" ? { id: undefined, snapshot: first(resource, namespace, query), offset: 0 } : resumed(token);
      const { snapshot, offset } = page;
      const end = limit > 0 ? Math.min(offset + limit, snapshot.items.length) : snapshot.items.length;
      const metadata: ListBody["metadata"] = { resourceVersion: String(snapshot.revision) };
      if (end < snapshot.items.length) {
        const id = page.id ?? keepSnapshot(snapshot);
        metadata.continue = Buffer.from(`${id}:${end}`).toString("base64url");
        metadata.remainingItemCount = snapshot.items.length - end;
      }
      return { apiVersion: apiVersionOf(resource), kind: `${resource.kind}List`, metadata, items: snapshot.items.slice(offset, end) };
    },
    expire: () => snapshots.clear(),
  };
}
