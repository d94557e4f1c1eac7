/** Does work for each item, few at a time. */
export async function fewAtOnce<T>(items: Iterable<T>, most: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  async function next(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  }
  await Promise.all(Array.from({ length: Math.min(most, queue.length) }, next));
}

/** Work on targets that no round waits for: few at a time of one control plane, and of one target once at a time. */
interface Lanes {
  /** Does it soon, once however often it is added meanwhile. */
  add(key: string): void;
  isBusy(key: string): boolean;
  /** The work on it, unless it waits for a place or there is none. */
  underWay(key: string): Promise<void> | undefined;
}

/** `work` never rejects. */
export function openLanes(most: number, work: (key: string) => Promise<void>): Lanes {
  const lanes = new Map<string, { waiting: Set<string>; busy: Map<string, Promise<void>> }>();

  function laneOf(key: string) {
    const plane = key.slice(0, key.indexOf("/"));
    const lane = lanes.get(plane) ?? { waiting: new Set(), busy: new Map() };
    lanes.set(plane, lane);
    return lane;
  }

  function startNext({ waiting, busy }: ReturnType<typeof laneOf>): void {
    for (const key of waiting) {
      if (busy.size >= most) return;
      if (busy.has(key)) continue;
      waiting.delete(key);
      const done = work(key).finally(() => {
        busy.delete(key);
        startNext({ waiting, busy });
      });
      busy.set(key, done);
    }
  }

  return {
    add(key) {
      const lane = laneOf(key);
      lane.waiting.add(key);
      startNext(lane);
    },
    isBusy: (key) => laneOf(key).busy.has(key),
    underWay: (key) => laneOf(key).busy.get(key),
  };
}
