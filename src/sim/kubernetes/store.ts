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

/** The objects of the embedded cluster. Everything that it returns is deep-frozen and may be kept. */
export class Store {
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #shelves: ReadonlyMap<string, Shelf>;
  #revision = 1;
  #serial = 0;
  #isDelivering = false;
  readonly #undelivered: [Shelf, StoreEvent][] = [];

  constructor({ clock, keep = 20_000 }: StoreOptions) {
    this.#clock = clock;
    this.#keep = keep;
    const empty = (resource: Resource): Shelf => ({ resource, objects: new Map(), log: [], forgotten: 0, listeners: new Set() });
    this.#shelves = new Map(RESOURCES.map((resource) => [resource.plural, empty(resource)]));
  }

  #shelfOf(plural: string): Shelf {
    const shelf = this.#shelves.get(plural);
    if (shelf === undefined) throw new Error(`no shelf for ${resourceNamed(plural).plural}`);
    return shelf;
  }

  #shelfFor({ kind, apiVersion }: KubeObject): Shelf {
    const found = [...this.#shelves.values()].find(({ resource }) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
    if (found === undefined) throw new ApiError(400, "BadRequest", `no matches for kind "${kind}" in version "${apiVersion}"`);
    return found;
  }

  /** Ids are made from a counter: a world that is played again has the same ones. */
  #uid(key: string): string {
    this.#serial += 1;
    const hex = createHash("sha256").update(`${this.#serial} ${key}`).digest("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  #record(shelf: Shelf, type: StoreEvent["type"], object: KubeObject, previous?: KubeObject): KubeObject {
    this.#revision += 1;
    const stamped = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } });
    const key = keyOf(stamped.metadata.namespace, stamped.metadata.name);
    if (type === "DELETED") shelf.objects.delete(key);
    else shelf.objects.set(key, stamped);
    const event: StoreEvent = defined({ revision: this.#revision, type, object: stamped, previous });
    shelf.log.push(event);
    if (shelf.log.length > this.#keep * 1.25) {
      const dropped = shelf.log.splice(0, shelf.log.length - this.#keep);
      shelf.forgotten = dropped.at(-1)?.revision ?? shelf.forgotten;
    }
    this.#undelivered.push([shelf, event]);
    this.#deliver();
    return stamped;
  }

  /** A listener that writes must not make others see its event before the one it answers. */
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
        const [shelf, event] = next;
        for (const listener of [...shelf.listeners]) listener(event);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  #write(shelf: Shelf, old: KubeObject, next: KubeObject): KubeObject {
    const grew = shelf.resource.generation && !isDeepStrictEqual(desired(old), desired(next));
    const { uid: id, creationTimestamp, deletionTimestamp } = old.metadata;
    const metadata = defined({ ...next.metadata, uid: id, creationTimestamp });
    if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp;
    if (shelf.resource.generation) metadata.generation = (old.metadata.generation ?? 1) + (grew ? 1 : 0);
    const object = { ...next, metadata };
    const ends = deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (!ends && sameWithoutVersion(old, object)) return old;
    return this.#record(shelf, ends ? "DELETED" : "MODIFIED", object, old);
  }

  /** The newest resourceVersion. */
  revision(): number {
    return this.#revision;
  }

  get(plural: string, namespace: string, name: string): KubeObject | undefined {
    return this.#shelfOf(plural).objects.get(keyOf(namespace, name));
  }

  /** In the order of their creation. "" as namespace: all. */
  list(plural: string, namespace = ""): KubeObject[] {
    const all = [...this.#shelfOf(plural).objects.values()];
    return namespace === "" ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  create(object: KubeObject): KubeObject {
    const shelf = this.#shelfFor(object);
    const { namespaced, plural, generation } = shelf.resource;
    const { name } = object.metadata;
    const key = keyOf(namespaced ? object.metadata.namespace : undefined, name);
    if (shelf.objects.has(key)) throw new ApiError(409, "AlreadyExists", `${plural} "${name}" already exists`, { name, kind: plural });
    const { deletionTimestamp: _, ...given } = object.metadata;
    const creationTimestamp = kubeTime(this.#clock.now());
    const metadata = defined({ ...given, uid: this.#uid(key), creationTimestamp, generation: generation ? 1 : given.generation });
    return this.#record(shelf, "ADDED", { ...object, metadata });
  }

  /** Replaces the object. Throws 404, or 409 where it carries another resourceVersion than the newest. */
  update(object: KubeObject): KubeObject {
    const shelf = this.#shelfFor(object);
    const { name, namespace, resourceVersion = "" } = object.metadata;
    const old = shelf.objects.get(keyOf(namespace, name));
    if (old === undefined) throw notFound(shelf.resource.plural, name);
    if (resourceVersion !== "" && resourceVersion !== old.metadata.resourceVersion) throw conflict(shelf.resource.plural, name);
    return this.#write(shelf, old, object);
  }

  /** Reads, changes and writes in one step. A change that returns an equal object writes nothing. undefined: no such object. */
  change(plural: string, namespace: string, name: string, edit: (object: KubeObject) => KubeObject): KubeObject | undefined {
    const old = this.get(plural, namespace, name);
    return old === undefined ? undefined : this.#write(this.#shelfOf(plural), old, edit(old));
  }

  /** With finalizers it only marks the object; it goes when the last one is removed. */
  delete(plural: string, namespace: string, name: string): KubeObject {
    const shelf = this.#shelfOf(plural);
    const old = shelf.objects.get(keyOf(namespace, name));
    if (old === undefined) throw notFound(plural, name);
    if ((old.metadata.finalizers ?? []).length === 0) return this.#record(shelf, "DELETED", old, old);
    if (old.metadata.deletionTimestamp !== undefined) return old;
    const metadata = { ...old.metadata, deletionTimestamp: kubeTime(this.#clock.now()), deletionGracePeriodSeconds: 0 };
    return this.#record(shelf, "MODIFIED", { ...old, metadata }, old);
  }

  /** Called synchronously after each write, in order. */
  subscribe(plural: string, listener: (event: StoreEvent) => void): () => void {
    const { listeners } = this.#shelfOf(plural);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Events of a resource after a revision; throws 410 where the log no longer reaches back. */
  since(plural: string, after: number): readonly StoreEvent[] {
    const { log, forgotten } = this.#shelfOf(plural);
    if (after < forgotten) throw gone(after, forgotten);
    return log.slice(log.findLastIndex(({ revision }) => revision <= after) + 1);
  }

  /** Forgets the log, so that every watch and page that comes back is answered 410. */
  expire(): void {
    this.#revision += 1;
    for (const shelf of this.#shelves.values()) {
      shelf.log = [];
      shelf.forgotten = this.#revision;
    }
  }
}
