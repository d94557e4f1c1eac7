/** What may go wrong, decided call by call by a test or a script. The default is that nothing does. */
export interface Faults {
  /** How many reads of a pull request answer `mergeable: null` after its base or head moved. */
  nullReads: number;
  /** `mergeable_state` is told as it was worked out up to so long ago, whatever checks and reviews have come since. */
  stateLateMs?: number;
  /** An answer given instead of the real one, before anything is done; `afterwards`: done first, then answered so. */
  request?: (request: { method: string; path: string; actor: string }) => FaultAnswer | undefined | Promise<FaultAnswer | undefined>;
  /** A request of Git's is not looked at before this has resolved; an answer is given instead of the real one. */
  git?: (request: { repository: string; service: string }) => Promise<FaultAnswer | undefined> | undefined;
  /** A refusal of a merge, by status and message; `afterwards`: it is merged, and answered so nevertheless. */
  merge?: (pull: { repository: string; number: number }) => { status: number; message: string; afterwards?: boolean } | undefined;
  /** Why the verification of a commit's signature says nothing of it now: the service that does it cannot be asked, for a while. */
  verification?: (sha: string) => "gpgverify_unavailable" | "gpgverify_error" | undefined;
  /** Its clock is ahead by so much, as the `Date` of its answers tells. */
  dateAheadMs?: number;
  /** What becomes of one delivery. */
  webhook?: (delivery: { guid: string; event: string; action: string | undefined; body: string }) => WebhookFate;
}

interface FaultAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  afterwards?: boolean;
}

/**
 * `drop`: the receiver is not reached; GitHub has it as failed, and it can be asked for again. `lose`: GitHub has nothing of
 * it. `delay` in milliseconds of the world's clock; `swap` is delivered right after the next one.
 */
export type WebhookFate = "deliver" | "drop" | "lose" | "double" | "swap" | { delay: number };

/** Shares of deliveries that are dropped, doubled, delayed (by up to `delayMs`) and swapped with the next; the rest arrives. */
export interface Chaos {
  seed: number;
  drop?: number;
  double?: number;
  delay?: number;
  delayMs?: number;
  swap?: number;
}

/** The same fates in the same order for the same seed. */
export function seededFates(chaos: Chaos): () => WebhookFate {
  const random = generator(chaos.seed);
  return () => {
    let left = random();
    const takes = (share: number | undefined) => {
      left -= share ?? 0;
      return left < 0;
    };
    if (takes(chaos.drop)) return "drop";
    if (takes(chaos.double)) return "double";
    if (takes(chaos.delay)) return { delay: Math.ceil(random() * (chaos.delayMs ?? 10_000)) };
    return takes(chaos.swap) ? "swap" : "deliver";
  };
}

/** mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
