import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { defined } from "../../core/base/defined.ts";
import type { Clock } from "../../core/base/time.ts";
import { ApiError, conflict, gone, notFound } from "./api-error.ts";
import { apiVersionOf, type KubeObject, RESOURCES, type Resource, resourceNamed, type StoreEvent } from "./types.ts";

interface StoreOptions {
  clock: Clock;
  /** How many events of one resource are kept for watches that come back. Default 20,000. */
  keep?: number;
}

/** The objects of the embedded cluster. Everything that it returns is deep-frozen and may be kept. */
export interface Store {
  /** The newest resourceVersion. */
  revision(): number;
  get(plural: string, namespace: string, name: string): KubeObject | undefined;
  /** In the order of their creation. "" as namespace: all. */
  list(plural: string, namespace?: string): KubeObject[];
  create(object: KubeObject): KubeObject;
  /** Replaces the object. Throws 404, or 409 where it carries another resourceVersion than the newest. */
  update(object: KubeObject): KubeObject;
  /** Reads, changes and writes in one step. A change that returns an equal object writes nothing. undefined: no such object. */
  change(plural: string, namespace: string, name: string, edit: (object: KubeObject) => KubeObject): KubeObject | undefined;
  /** With finalizers it only marks the object; it goes when the last one is removed. */
  delete(plural: string, namespace: string, name: string): KubeObject;
  /** Called synchronously after each write, in order. */
  subscribe(plural: string, listener: (event: StoreEvent) => void): () => void;
  /** Events of a resource after `revision`; throws 410 where the log no longer reaches back. */
  since(plural: string, revision: number): readonly StoreEvent[];
  /** Forgets the log, so that every watch and page that comes back is answered 410. */
  expire(): void;
}

interface Shelf {
  resource: Resource;
  objects: Map<string, KubeObject>;
  log: StoreEvent[];
  /** Events up to this revision are forgotten. */
  forgotten: number;
  listeners: Set<(event: StoreEvent) => void>;
}

/** Freezes what is not frozen yet, so that the cost of a write is the size of its change. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}

/** RFC 3339 in whole seconds, cut off, as every Kubernetes time is. */
export function kubeTime(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace(".000Z", "Z");
}

const keyOf = (namespace: string | undefined, name: string) => `${namespace ?? ""}/${name}`;

/** `spec` and all else but metadata and status. */
function desired(object: KubeObject): unknown {
  const { metadata: _metadata, status: _status, operation: _operation, ...rest } = object;
  return rest;
}

function sameWithoutVersion(a: KubeObject, b: KubeObject): boolean {
  if (a === b) return true;
  const strip = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } });
  return isDeepStrictEqual(strip(a), strip(b));
}

export function createStore({ clock, keep = 20_000 }: StoreOptions): Store {
  const shelves = new Map<string, Shelf>();
  for (const resource of RESOURCES) {
    shelves.set(resource.plural, { resource, objects: new Map(), log: [], forgotten: 0, listeners: new Set() });
  }
  let revision = 1;
  let serial = 0;
  let delivering = false;
  const undelivered: [Shelf, StoreEvent][] = [];

  function shelfOf(plural: string): Shelf {
    const shelf = shelves.get(plural);
    if (shelf === undefined) throw new Error(`no shelf for ${resourceNamed(plural).plural}`);
    return shelf;
  }

  function shelfFor(object: KubeObject): Shelf {
    for (const shelf of shelves.values()) {
      if (shelf.resource.kind === object.kind && apiVersionOf(shelf.resource) === object.apiVersion) return shelf;
    }
    throw new ApiError(400, "BadRequest", `no matches for kind "${object.kind}" in version "${object.apiVersion}"`);
  }

  /** Ids are made from a counter: a world that is played again has the same ones. */
  function uid(key: string): string {
    serial += 1;
    const hex = createHash("sha256").update(`${serial} ${key}`).digest("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  function record(shelf: Shelf, type: StoreEvent["type"], object: KubeObject, previous?: KubeObject): KubeObject {
    revision += 1;
    const stamped = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
    const key = keyOf(stamped.metadata.namespace, stamped.metadata.name);
    if (type === "DELETED") shelf.objects.delete(key);
    else shelf.objects.set(key, stamped);
    const event: StoreEvent = defined({ revision, type, object: stamped, previous });
    shelf.log.push(event);
    if (shelf.log.length > keep * 1.25) {
      const dropped = shelf.log.splice(0, shelf.log.length - keep);
      shelf.forgotten = dropped.at(-1)?.revision ?? shelf.forgotten;
    }
    undelivered.push([shelf, event]);
    deliver();
    return stamped;
  }

  /** A listener that writes must not make others see its event before the one it answers. */
  function deliver(): void {
    if (delivering) return;
    delivering = true;
    try {
      for (let next = undelivered.shift(); next !== undefined; next = undelivered.shift()) {
        const [shelf, event] = next;
        for (const listener of [...shelf.listeners]) listener(event);
      }
    } finally {
      delivering = false;
    }
  }

  function write(shelf: Shelf, old: KubeObject, next: KubeObject): KubeObject {
    const grew = shelf.resource.generation && !isDeepStrictEqual(desired(old), desired(next));
    const { uid: id, creationTimestamp, deletionTimestamp } = old.metadata;
    const metadata = defined({ ...next.metadata, uid: id, creationTimestamp });
    if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp;
    if (shelf.resource.generation) metadata.generation = (old.metadata.generation ?? 1) + (grew ? 1 : 0);
    const object = { ...next, metadata };
    const ends = deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (!ends && sameWithoutVersion(old, object)) return old;
    return record(shelf, ends ? "DELETED" : "MODIFIED", object, old);
  }

  return {
    revision: () => revision,
    get: (plural, namespace, name) => shelfOf(plural).objects.get(keyOf(namespace, name)),
    list(plural, namespace = "") {
      const all = [...shelfOf(plural).objects.values()];
      return namespace === "" ? all : all.filter((object) => object.metadata.namespace === namespace);
    },
    create(object) {
      const shelf = shelfFor(object);
      const { namespaced, plural, generation } = shelf.resource;
      const key = keyOf(namespaced ? object.metadata.namespace : undefined, object.metadata.name);
      if (shelf.objects.has(key)) {
        throw new ApiError(409, "AlreadyExists", `${plural} "${object.metadata.name}" already exists`, {
          name: object.metadata.name,
          kind: plural,
        });
      }
      const { deletionTimestamp: _, ...given } = object.metadata;
      const metadata = defined({
        ...given,
        uid: uid(key),
        creationTimestamp: kubeTime(clock.now()),
        generation: generation ? 1 : given.generation,
      });
      return record(shelf, "ADDED", { ...object, metadata });
    },
    update(object) {
      const shelf = shelfFor(object);
      const { name, namespace, resourceVersion } = object.metadata;
      const old = shelf.objects.get(keyOf(namespace, name));
      if (old === undefined) throw notFound(shelf.resource.plural, name);
      if (resourceVersion !== undefined && resourceVersion !== "" && resourceVersion !== old.metadata.resourceVersion) {
        throw conflict(shelf.resource.plural, name);
      }
      return write(shelf, old, object);
    },
    change(plural, namespace, name, edit) {
      const shelf = shelfOf(plural);
      const old = shelf.objects.get(keyOf(namespace, name));
      return old === undefined ? undefined : write(shelf, old, edit(old));
    },
    delete(plural, namespace, name) {
      const shelf = shelfOf(plural);
      const old = shelf.objects.get(keyOf(namespace, name));
      if (old === undefined) throw notFound(plural, name);
      if ((old.metadata.finalizers ?? []).length === 0) return record(shelf, "DELETED", old, old);
      if (old.metadata.deletionTimestamp !== undefined) return old;
      const metadata = { ...old.metadata, deletionTimestamp: kubeTime(clock.now()), deletionGracePeriodSeconds: 0 };
      return record(shelf, "MODIFIED", { ...old, metadata }, old);
    },
    subscribe(plural, listener) {
      const { listeners } = shelfOf(plural);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    since(plural, after) {
      const { log, forgotten } = shelfOf(plural);
      if (after < forgotten) throw gone(after, forgotten);
      let at = log.length;
      while (at > 0 && (log[at - 1]?.revision ?? 0) > after) at -= 1;
      return log.slice(at);
    },
    expire() {
      revision += 1;
      for (const shelf of shelves.values()) {
        shelf.log = [];
        shelf.forgotten = revision;
      }
    },
  };
}
