import type { ServerResponse } from "node:http";
import type { Store } from "../../kubernetes/store.ts";
import type { KubeObject } from "../../kubernetes/types.ts";

interface StreamOptions {
  /** `application`, as the events name it. */
  field: string;
  plural: string;
  /** Objects older than this are not sent; undefined: everything there is comes first. */
  from: number | undefined;
  wants(object: KubeObject): boolean;
  show(object: KubeObject): unknown;
}

/** The open streams of the API. */
export interface Streams {
  open(response: ServerResponse, options: StreamOptions): void;
  /** Cuts each in the middle of the connection. */
  drop(): void;
  /** While silent, open streams stay open and say nothing; what they missed never comes. */
  silence(silent: boolean): void;
  /** Changes of which this holds are never told by an open stream, and everything else is; null: all are told. */
  lose(which: ((object: KubeObject) => boolean) | null): void;
  size(): number;
}

export function createStreams(store: Store): Streams {
  const open = new Set<ServerResponse>();
  let silent = false;
  let isLost: (object: KubeObject) => boolean = () => false;
  return {
    open(response, { field, plural, from, wants, show }) {
      const say = (type: string, object: KubeObject) => {
        if (silent || isLost(object) || !wants(object) || Number(object.metadata.resourceVersion) < (from ?? 0)) return;
        // The gateway sends its head with the first event only: whoever waits for it cannot tell that the stream is open.
        if (!response.headersSent) response.writeHead(200, { "content-type": "application/json" });
        response.write(`${JSON.stringify({ result: { type, [field]: show(object) } })}\n`);
      };
      if (from === undefined) for (const object of store.list(plural)) say("ADDED", object);
      const stop = store.subscribe(plural, ({ type, object }) => say(type, object));
      open.add(response);
      response.on("close", () => {
        stop();
        open.delete(response);
      });
    },
    drop() {
      for (const response of [...open]) response.destroy();
    },
    silence(value) {
      silent = value;
    },
    lose(which) {
      isLost = which ?? (() => false);
    },
    size: () => open.size,
  };
}
