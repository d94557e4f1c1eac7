/**
 * The projections of one collection, and what is newer of two that came by different ways: a list, a stream, a read by name.
 *
 * Properties: nothing older replaces something newer; what went does not come back by an answer from before it went; `askedAt`
 * only ever stands on what is of that moment or newer.
 */
import { epoch, iso } from "../../../core/base/time.ts";
import type { Versioned } from "./source.ts";

/** What Argo CD's own memory may be behind by. */
const MOST_LAG_MS = 60_000;

/** Every change returns whether there was one. */
export interface Kept<View> {
  items(): ReadonlyMap<string, View>;
  put(key: string, view: View): boolean;
  /** `uid`: of the one that is gone; absent: whichever is known. */
  remove(key: string, uid?: string): boolean;
  /** Everything there is, by a list. Returns the keys of what was added, changed or removed. */
  replace(listed: ReadonlyMap<string, View>): string[];
  /** What was read by its name, asked for at this time; undefined: it is not there. One that is not known is not taken in. */
  offer(key: string, view: View | undefined, askedAt: number): boolean;
}

export function createKept<View extends Versioned>(): Kept<View> {
  let items = new Map<string, View>();

  function put(key: string, view: View): boolean {
    const known = items.get(key);
    // Another way of reading was faster.
    if (known !== undefined && isOlder(view, known)) return false;
    items.set(key, asAsked(known, view));
    return true;
  }

  function remove(key: string, uid?: string): boolean {
    const known = items.get(key);
    if (known === undefined || (uid !== undefined && known.uid !== undefined && uid !== known.uid)) return false;
    return items.delete(key);
  }

  return {
    items: () => items,
    put,
    remove,
    replace(listed) {
      const before = items;
      items = new Map();
      const changed: string[] = [];
      for (const [key, view] of listed) {
        const known = before.get(key);
        // Argo CD lists from a memory of its own, which may lag behind what it tells of one by its name.
        if (known === undefined || !isOlder(view, known)) items.set(key, asAsked(known, view));
        else items.set(key, lags(view, known) ? known : view);
        if (!isAlike(known, items.get(key))) changed.push(key);
      }
      for (const key of before.keys()) if (!listed.has(key)) changed.push(key);
      return changed;
    },
    offer(key, view, askedAt) {
      const known = items.get(key);
      // It went while it was asked for; or it is not one of those that are looked at.
      if (known === undefined) return false;
      if (view === undefined) return !(epoch(known.readAt ?? "") > askedAt) && remove(key);
      const asked = { ...view, askedAt: iso(askedAt) };
      if (!isEarlierVersion(view, known)) return put(key, asked);
      // The answer is the latest there was when it was asked for: what we had by then is not there any more, as after a restore.
      if (view.uid !== known.uid || !(epoch(known.readAt ?? "") < askedAt)) return false;
      items.set(key, asked);
      return true;
    },
  };
}

/** Of one version, and readable or not as before. */
function isAlike(known: Versioned | undefined, view: Versioned | undefined): boolean {
  return known?.resourceVersion === view?.resourceVersion && (known?.unreadable === undefined) === (view?.unreadable === undefined);
}

/** Whether an older one may be what a lagging memory has; else the API server was restored, and its versions began anew. */
function lags(view: Versioned, known: Versioned): boolean {
  return known.askedAt !== undefined && !(epoch(view.readAt ?? "") - epoch(known.askedAt) > MOST_LAG_MS);
}

/** Of one object. One of another uid may come from a backup, in which the count began anew. */
function isOlder(view: Versioned, known: Versioned): boolean {
  return view.uid === known.uid && isEarlierVersion(view, known);
}

/** Versions are said to be opaque, but Argo CD and etcd count them: where both are numbers, the larger is the later. */
function isEarlierVersion({ resourceVersion }: Versioned, known: Versioned): boolean {
  if (!/^\d+$/.test(resourceVersion) || !/^\d+$/.test(known.resourceVersion)) return false;
  return BigInt(resourceVersion) < BigInt(known.resourceVersion);
}

/** What is newer than an answer is not less sure than it was. */
function asAsked<View extends Versioned>(known: View | undefined, view: View): View {
  if (known?.askedAt === undefined || known.uid !== view.uid) return view;
  if (view.askedAt !== undefined && view.askedAt >= known.askedAt) return view;
  const asked = { ...view, askedAt: known.askedAt };
  if (known.clusterAnswer !== undefined) asked.clusterAnswer = known.clusterAnswer;
  return asked;
}
