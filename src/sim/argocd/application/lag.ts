/** How long the parts of Argo CD take, in the clock's milliseconds. Each is stretched at random by up to `spread`. */
export interface Lag {
  /** From a change of an Application to the start of its comparison. */
  refresh: number;
  /** From the start of a comparison to its result being written. */
  compare: number;
  /** From an operation being asked for to its being taken up. */
  operation: number;
  /** How long applying takes. */
  sync: number;
  /** How long the old workload still looks Healthy after the new one was applied. */
  flash: number;
  /** From the new workload being noticed to its being Healthy. */
  rollout: number;
  /** From a change of a live object to the health being written. */
  health: number;
  /** From a change of an ApplicationSet or of a cluster Secret to the set's next round. */
  applicationSet: number;
  /** From a webhook to the refreshes it asks for. */
  webhook: number;
  /** How long the source hydrator takes for one commit. */
  hydrate: number;
  /** Until Argo CD notices that a cluster is gone, or back. */
  connection: number;
  /** timeout.reconciliation and its jitter: a comparison at the latest after this time. */
  reconciliation: number;
  reconciliationJitter: number;
  /** requeueAfterSeconds of git generators that name none. */
  requeue: number;
  /** How long the first error of a repository is kept quiet. */
  repoErrorGrace: number;
  /** Share by which each is stretched at random: 0.3 is up to 30 % longer. */
  spread: number;
}

/** Like a small Argo CD with workloads of a few pods. */
export const REAL_LAG: Lag = {
  refresh: 700,
  compare: 1000,
  operation: 500,
  sync: 2000,
  flash: 1500,
  rollout: 20_000,
  health: 700,
  applicationSet: 1000,
  webhook: 500,
  hydrate: 2000,
  connection: 10_000,
  reconciliation: 120_000,
  reconciliationJitter: 60_000,
  requeue: 180_000,
  repoErrorGrace: 180_000,
  spread: 0.3,
};

/** For measuring what is around Argo CD: it answers in a fraction of a second, with every intermediate state still there. */
export const SHORT_LAG: Lag = {
  ...REAL_LAG,
  refresh: 30,
  compare: 20,
  operation: 20,
  sync: 50,
  flash: 30,
  rollout: 200,
  health: 20,
  applicationSet: 30,
  webhook: 20,
  hydrate: 50,
  connection: 500,
};

/** FNV-1a, 32 bits. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** A stream of numbers in [0, 1) of its own for each name, so that what one Application does never shifts another's. */
export function randomFor(seed: number, name: string): () => number {
  let state = fnv32a(`${seed} ${name}`);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
