/**
 * The half of a control plane that answers from memory, which is the same whatever keeps that memory fresh: informers of
 * Applications and ApplicationSets, several of a kind where several namespaces are watched. Called by either adapter's `index.ts`.
 */
import type { ApplicationSetView, ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type Clock, iso, type Time } from "../../../core/base/time.ts";
import type { ControlPlane } from "../port.ts";
import type { Informer } from "./informer.ts";

export interface Parts {
  applications: readonly Informer<ApplicationView>[];
  sets: readonly Informer<ApplicationSetView>[];
  /** Whatever else must be fresh. */
  others: readonly Pick<Informer<unknown>, "ready" | "problem" | "freshSince" | "close">[];
}

/** Tells that these Applications changed; null: that anything may have. */
export type Changed = (keys: Iterable<string> | null) => void;

type Reads =
  | "name"
  | "ready"
  | "isWatched"
  | "state"
  | "application"
  | "applications"
  | "applicationSet"
  | "clusters"
  | "onChange"
  | "close";

export interface Reading {
  reads: Pick<ControlPlane, Reads>;
  /** Hands what was read by its name to the informer that knows it. */
  offer(namespace: string, name: string, view: ApplicationView | undefined, askedAt: number): void;
}

/** What changes together is told together, almost at once. */
const GATHER_MS = 20;
/** Nobody read anything for so long: it is not watched until somebody does. Longer than it takes until a repo with a run is looked at anyway. */
export const REST_MS = 30 * 60_000;

/**
 * Answers all that needs no request. What it answers from is started by the first read, and ended where nobody has read for a while: a replica
 * watches what its own repos need.
 */
export function openReading<P extends Parts>(
  name: string,
  clock: Clock,
  start: (changed: Changed) => P,
  clustersOf: (parts: P) => ClusterView[],
): Reading {
  const changes = coalescer(clock);
  // Asked for once a target, and the same until something changes.
  let clusters: ClusterView[] | undefined;
  const watched = whileRead(clock, changes.drop, () =>
    start((keys) => {
      clusters = undefined;
      changes.add(keys);
    }),
  );
  /** Who is told of a change, and looks what it is, needs nothing of it yet. */
  const parts = () => (changes.isTelling() ? (watched.running() ?? watched.read()) : watched.read());
  const reads: Reading["reads"] = {
    name,
    async ready() {
      await Promise.all(everyOf(parts()).map((part) => part.ready()));
    },
    isWatched: () => watched.running() !== undefined,
    state: () => stateOf(everyOf(parts())),
    application: (namespace, one) => find(parts().applications, namespace, one),
    applications: (owner) => [...each(parts().applications)].filter((view) => owner === undefined || isOwnedBy(view, owner)),
    applicationSet: (namespace, one) => find(parts().sets, namespace, one),
    clusters() {
      const now = parts();
      clusters ??= clustersOf(now);
      return clusters;
    },
    onChange: changes.listen,
    async close() {
      changes.close();
      watched.close();
    },
  };
  return {
    reads,
    offer(namespace, one, view, askedAt) {
      const key = `${namespace}/${one}`;
      parts()
        .applications.find((informer) => informer.items().has(key))
        ?.offer(key, view, askedAt);
    },
  };
}

function everyOf({ applications, sets, others }: Parts): Parts["others"] {
  return [...applications, ...sets, ...others];
}

/** Started by a read, ended `REST_MS` after the last, of which `onRest` is told. */
function whileRead<P extends Parts>(clock: Clock, onRest: () => void, start: () => P) {
  let parts: P | undefined;
  let readAt = 0;
  let isClosed = false;
  let callOff = (): void => undefined;

  function end(): void {
    callOff();
    for (const part of parts === undefined ? [] : everyOf(parts)) part.close();
  }

  function look(): void {
    const left = readAt + REST_MS - clock.now();
    if (left > 0) {
      callOff = clock.after(left, look);
      return;
    }
    end();
    onRest();
    parts = undefined;
  }

  return {
    running: () => parts,
    read(): P {
      readAt = clock.now();
      if (parts !== undefined) return parts;
      parts = start();
      // Whoever reads on after the end is told that there is nothing to read.
      if (isClosed) end();
      else callOff = clock.after(REST_MS, look);
      return parts;
    },
    close(): void {
      isClosed = true;
      end();
    },
  };
}

function stateOf(every: Parts["others"]): { fresh: boolean; why?: AnyReason; since: Time } {
  let since = 0;
  for (const part of every) {
    const problem = part.problem();
    if (problem !== undefined) return { fresh: false, why: problem.why, since: iso(problem.since) };
    since = Math.max(since, part.freshSince());
  }
  return { fresh: true, since: iso(since) };
}

function find<View>(informers: readonly Informer<View>[], namespace: string, name: string): View | undefined {
  const key = `${namespace}/${name}`;
  for (const informer of informers) {
    const view = informer.items().get(key);
    if (view !== undefined) return view;
  }
  return undefined;
}

export function* each<View>(informers: readonly Informer<View>[]): Generator<View> {
  for (const informer of informers) yield* informer.items().values();
}

/** An ApplicationSet creates Applications in its own namespace only. */
function isOwnedBy(view: ApplicationView, owner: { namespace: string; name: string }): boolean {
  return view.namespace === owner.namespace && view.owner?.kind === "ApplicationSet" && view.owner.name === owner.name;
}

type Listener = (changed: ReadonlySet<string> | null) => void;

/** Gathers keys for a moment and tells every listener once. */
function coalescer(clock: Clock) {
  const listeners = new Set<Listener>();
  let gathered: Set<string> | null = new Set();
  let cancel: (() => void) | undefined;
  let isTelling = false;

  function flush(): void {
    const changed = gathered;
    gathered = new Set();
    cancel = undefined;
    isTelling = true;
    try {
      for (const listener of [...listeners]) listener(changed);
    } finally {
      isTelling = false;
    }
  }

  return {
    isTelling: () => isTelling,
    add(keys: Iterable<string> | null): void {
      if (keys === null) gathered = null;
      else if (gathered !== null) for (const key of keys) gathered.add(key);
      if (gathered !== null && gathered.size === 0) return;
      cancel ??= clock.after(GATHER_MS, flush);
    },
    /** Returns how to stop listening. */
    listen(listener: Listener): () => void {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    drop(): void {
      cancel?.();
      cancel = undefined;
      gathered = new Set();
    },
    close(): void {
      cancel?.();
      listeners.clear();
    },
  };
}
