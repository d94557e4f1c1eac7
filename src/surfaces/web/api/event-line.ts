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

export type EventLine = ReturnType<typeof openEventLine>;

/** The stream of the whole fleet; any other is a rollout's key. */
export const FLEET = "";

export function openEventLine(process: string) {
  const kept: Kept[] = [];
  const lastOf = new BoundedMap<string, number>(MOST_STREAMS);
  const listeners = new Map<string, Set<Send>>();
  let sequence = 0;
  let keptBytes = 0;
  let dropped = 0;
  const idOf = (of: number) => `${process}-${of}`;

  function frame(event: string, data: object | string, id = idOf(sequence)): Uint8Array {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return new TextEncoder().encode(`event: ${event}\nid: ${id}\ndata: ${text}\n\n`);
  }

  /** What somebody who has seen everything up to `after` of a stream has missed; undefined: nobody knows any more. */
  function missed(stream: string, after: string): Kept[] | undefined {
    const seen = new RegExp(`^${process}-(\\d{1,15})$`).exec(after)?.[1];
    if (seen === undefined || Number(seen) > sequence) return undefined;
    if ((lastOf.get(stream) ?? 0) <= Number(seen)) return [];
    if (dropped > Number(seen)) return undefined;
    const those = kept.filter((one) => one.stream === stream && one.sequence > Number(seen));
    return those.reduce((sum, { bytes }) => sum + bytes.length, 0) > MOST_MISSED_BYTES ? undefined : those;
  }

  return {
    /** The id of what was last told of a stream: who holds what is shown of it now goes on behind it. */
    idOf: (stream: string) => idOf(lastOf.get(stream) ?? 0),
    isHeard: (stream: string) => listeners.has(stream),
    get listening(): number {
      return [...listeners.values()].reduce((sum, those) => sum + those.size, 0);
    },
    emit(stream: string, repository: string, event: string, data: object): void {
      sequence += 1;
      lastOf.set(stream, sequence);
      const bytes = frame(event, data);
      kept.push({ sequence, stream, repository, bytes });
      keptBytes += bytes.length;
      while (keptBytes > MOST_KEPT_BYTES || kept.length > MOST_KEPT) {
        const oldest = kept.shift();
        if (oldest === undefined) break;
        keptBytes -= oldest.bytes.length;
        dropped = oldest.sequence;
      }
      for (const send of [...(listeners.get(stream) ?? [])]) send(bytes, repository);
    },
    /** Tells everybody who listens: they have seen all there is. */
    greet(hello: object): void {
      const bytes = frame("hello", hello);
      for (const those of [...listeners.values()]) for (const send of [...those]) send(bytes, undefined);
    },
    /** Says hello, then what was missed since `after` (of which nobody knows: the document as JSON, or `reset`), then what comes. Returns how to stop. */
    listen(stream: string, { after, hello, send, whole }: Listening): () => void {
      const since = after === undefined ? [] : missed(stream, after);
      send(frame("hello", hello, since === undefined || after === undefined ? idOf(sequence) : after), undefined);
      const document = since === undefined ? whole?.() : undefined;
      if (since === undefined) send(document === undefined ? frame("reset", {}) : frame("whole", document), undefined);
      for (const { bytes, repository } of since ?? []) send(bytes, repository);
      const those = listeners.get(stream) ?? new Set();
      listeners.set(stream, those.add(send));
      return () => {
        those.delete(send);
        if (those.size === 0 && listeners.get(stream) === those) listeners.delete(stream);
      };
    },
  };
}
