/**
 * What changed, in order, for whoever listens: each event is written once, however many listen, and the last ones are kept for those who
 * were cut off for a moment. An event belongs to the stream of the whole fleet or to that of one rollout.
 *
 * Keeps true: who goes on behind what they have seen last gets every later event of their stream, in order, or `reset`, which tells them to
 * read anew. An id is `PROCESS-SEQUENCE`, so that no other process's is taken for one of ours: who comes from another, and would read of that
 * one again, is given the whole instead where they take it.
 */
import { BoundedMap } from "../../../core/base/bounded.ts";

/** Kept for those who come back; more bytes than this are let go, oldest first. */
const MOST_KEPT_BYTES = 8 * 1024 * 1024;
const MOST_KEPT = 2_000;
/** Of more than this at once a reader would be taken for a slow one: the whole is read sooner. */
const MOST_MISSED_BYTES = 512 * 1024;
/** Of so many rollouts it is known when they changed last. */
const MOST_STREAMS = 20_000;

type Send = (bytes: Uint8Array, repository: string | undefined) => void;

interface Listening {
  after: string | undefined;
  hello: object;
  send: Send;
  whole?: (() => string | undefined) | undefined;
}

interface Kept {
  sequence: number;
  stream: string;
  repository: string;
  bytes: Uint8Array;
}

/** The stream of the whole fleet; any other is a rollout's key. */
export const FLEET = "";

export class EventLine {
  readonly #process: string;
  readonly #kept: Kept[] = [];
  readonly #lastOf = new BoundedMap<string, number>(MOST_STREAMS);
  readonly #listeners = new Map<string, Set<Send>>();
  #sequence = 0;
  #keptBytes = 0;
  #dropped = 0;

  constructor(process: string) {
    this.#process = process;
  }

  /** The id of what was last told of a stream: who holds what is shown of it now goes on behind it. */
  idOf(stream: string): string {
    return this.#id(this.#lastOf.get(stream) ?? 0);
  }

  isHeard(stream: string): boolean {
    return this.#listeners.has(stream);
  }

  get listening(): number {
    return [...this.#listeners.values()].reduce((sum, those) => sum + those.size, 0);
  }

  emit(stream: string, repository: string, event: string, data: object): void {
    this.#sequence += 1;
    this.#lastOf.set(stream, this.#sequence);
    const bytes = this.#frame(event, data);
    this.#kept.push({ sequence: this.#sequence, stream, repository, bytes });
    this.#keptBytes += bytes.length;
    while (this.#keptBytes > MOST_KEPT_BYTES || this.#kept.length > MOST_KEPT) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) break;
      this.#keptBytes -= oldest.bytes.length;
      this.#dropped = oldest.sequence;
    }
    for (const send of [...(this.#listeners.get(stream) ?? [])]) send(bytes, repository);
  }

  /** Tells everybody who listens: they have seen all there is. */
  greet(hello: object): void {
    const bytes = this.#frame("hello", hello);
    for (const those of [...this.#listeners.values()]) for (const send of [...those]) send(bytes, undefined);
  }

  /** Says hello, then what was missed since `after` (of which nobody knows: the document as JSON, or `reset`), then what comes. Returns how to stop. */
  listen(stream: string, { after, hello, send, whole }: Listening): () => void {
    const since = after === undefined ? [] : this.#missed(stream, after);
    send(this.#frame("hello", hello, since && after), undefined);
    const document = since === undefined ? whole?.() : undefined;
    if (since === undefined) send(document === undefined ? this.#frame("reset", {}) : this.#frame("whole", document), undefined);
    for (const { bytes, repository } of since ?? []) send(bytes, repository);
    const those = this.#listeners.get(stream) ?? new Set();
    this.#listeners.set(stream, those.add(send));
    return () => {
      those.delete(send);
      if (those.size === 0 && this.#listeners.get(stream) === those) this.#listeners.delete(stream);
    };
  }

  /** What somebody who has seen everything up to `after` of a stream has missed; undefined: nobody knows any more. */
  #missed(stream: string, after: string): Kept[] | undefined {
    const seen = new RegExp(`^${this.#process}-(\\d{1,15})$`).exec(after)?.[1];
    if (seen === undefined || Number(seen) > this.#sequence) return undefined;
    if ((this.#lastOf.get(stream) ?? 0) <= Number(seen)) return [];
    if (this.#dropped > Number(seen)) return undefined;
    const those = this.#kept.filter((one) => one.stream === stream && one.sequence > Number(seen));
    return those.reduce((sum, { bytes }) => sum + bytes.length, 0) > MOST_MISSED_BYTES ? undefined : those;
  }

  #frame(event: string, data: object | string, id = this.#id(this.#sequence)): Uint8Array {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return new TextEncoder().encode(`event: ${event}\nid: ${id}\ndata: ${text}\n\n`);
  }

  #id(sequence: number): string {
    return `${this.#process}-${sequence}`;
  }
}
