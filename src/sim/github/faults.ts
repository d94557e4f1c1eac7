/** What may go wrong, decided call by call by a test or a script. The default is that nothing does. */
export interface Faults {
  /** How many reads of a pull request answer `mergeable: null` after its base or head moved. */
  nullReads: number;
  /** An answer given instead of the real one, before anything is done; `afterwards`: done first, then answered so. */
  request?: (request: { method: string; path: string; actor: string }) => FaultAnswer | undefined;
  /** A refusal of a merge, by status and message. */
  merge?: (pull: { repository: string; number: number }) => { status: number; message: string } | undefined;
  /** What becomes of one delivery. */
  webhook?: (delivery: { guid: string; event: string; action: string | undefined; body: string }) => WebhookFate;
}

export interface FaultAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  afterwards?: boolean;
}

/** `delay` in milliseconds of the world's clock; `swap` is delivered right after the next one. */
export type WebhookFate = "deliver" | "drop" | "double" | "swap" | { delay: number };
