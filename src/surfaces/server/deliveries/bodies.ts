import type { IncomingMessage } from "node:http";

interface Body {
  text: string;
  /** Called once nobody needs it any more: until then it counts as what is held. */
  done(): void;
}

/** Bodies of requests that anybody may send, within so many bytes held at once. */
export interface Bodies {
  /**
   * Resolves to the whole body; to `crowded` where room was needed for others and this one had been coming for longest, to
   * `gone` where whoever sent it went away.
   */
  read(request: IncomingMessage): Promise<Body | "crowded" | "gone">;
}

interface Coming {
  chunks: Uint8Array[];
  bytes: number;
  end(outcome: "crowded" | "gone"): void;
}

/**
 * Bytes count as they arrive: what is only announced takes no room. Who sends honestly is done in milliseconds, so whoever
 * has been at it for longest goes first, and a newcomer is never turned away.
 */
export function openBodies(mostBytes: number): Bodies {
  /** Oldest first. */
  const coming = new Set<Coming>();
  let held = 0;

  function makeRoom(): void {
    for (const oldest of coming) {
      if (held <= mostBytes) return;
      oldest.end("crowded");
    }
  }

  function release(one: Coming): void {
    coming.delete(one);
    held -= one.bytes;
    one.bytes = 0;
    one.chunks = [];
  }

  return {
    read: (request) =>
      new Promise((resolve) => {
        const one: Coming = { chunks: [], bytes: 0, end };
        coming.add(one);
        request.on("data", take);
        request.once("end", whole);
        request.once("error", gone);
        request.once("close", gone);

        function take(chunk: Uint8Array): void {
          if (!coming.has(one)) return;
          one.chunks.push(chunk);
          one.bytes += chunk.length;
          held += chunk.length;
          makeRoom();
        }
        function whole(): void {
          if (!coming.delete(one)) return;
          const text = new TextDecoder().decode(Buffer.concat(one.chunks));
          one.chunks = [];
          resolve({ text, done: () => release(one) });
        }
        function gone(): void {
          if (coming.has(one)) end("gone");
        }
        function end(outcome: "crowded" | "gone"): void {
          release(one);
          resolve(outcome);
        }
      }),
  };
}
