/**
 * The network between a replica and what it talks to: wires of TCP that can be cut, hold everything up, or lose the answer to a write after
 * it was done. Each request of HTTP is marked with who sent it, and when: before it is held up.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Headers of each request. */
export const [SENT_BY, SENT_AT] = ["x-chaos-sent-by", "x-chaos-sent-at"] as const;

export interface Wire {
  port: number;
  /** Every connection ends, and none is taken until it is mended. */
  cut(): void;
  /** Nothing gets through until it is mended; then everything does, in order. */
  hold(): void;
  /** The answer to the next write is lost, and the connection with it. */
  loseAnswer(): void;
  mend(): void;
  close(): Promise<void>;
}

interface WireOptions {
  /** Ports on this machine, the first choice first; whatever takes the connection gets it. */
  to(): readonly number[];
  /** Whose requests these are; absent: what goes through is not HTTP, or nobody asks. */
  by?: string;
}

const REQUEST = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE) \S+ HTTP\/1\.1\r\n/;
const WRITE = /^(?:POST|PUT|PATCH|DELETE) (?!\S*(?:access_tokens|git-upload-pack) )/;

export async function openWire({ to, by }: WireOptions): Promise<Wire> {
  const open = new Set<Socket>();
  let state: "whole" | "cut" | "held" = "whole";
  let losesNext = false;
  let held: (() => void)[] = [];

  const pass = (deed: () => void) => void (state === "held" ? held.push(deed) : deed());
  const dropAll = () => {
    held = [];
    for (const socket of open) socket.destroy();
  };

  function keep(socket: Socket, other: Socket): void {
    open.add(socket);
    // The other end is told by its own end.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      open.delete(socket);
      pass(() => other.destroy());
    });
    socket.on("end", () => pass(() => other.end()));
  }

  function join(near: Socket, far: Socket): void {
    let isDoomed = false;
    keep(near, far);
    keep(far, near);
    near.on("data", (chunk: Buffer) => {
      if (losesNext && WRITE.test(chunk.toString("latin1", 0, 300))) {
        losesNext = false;
        isDoomed = true;
      }
      const marked = by === undefined ? chunk : mark(chunk, by);
      pass(() => far.write(marked));
    });
    far.on("data", (chunk: Buffer) => pass(() => (isDoomed ? near.destroy() : near.write(chunk))));
    near.resume();
  }

  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (near) => {
    if (state === "cut") near.destroy();
    else void reach(to()).then((far) => (far === undefined || state === "cut" ? near.destroy() : join(near, far)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    cut() {
      state = "cut";
      dropAll();
    },
    hold() {
      state = "held";
    },
    loseAnswer() {
      losesNext = true;
    },
    mend() {
      state = "whole";
      for (const deed of held.splice(0)) deed();
    },
    async close() {
      server.close();
      dropAll();
      await once(server, "close");
    },
  };
}

/** The first that takes a connection. */
async function reach(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const isThere = await new Promise<boolean>((resolve) => {
      far.once("connect", () => resolve(true));
      far.once("error", () => resolve(false));
    });
    if (isThere) return far;
  }
  return undefined;
}

/** Puts the two headers behind the first line, where this begins a request. */
function mark(chunk: Buffer, by: string): Buffer {
  const [line] = REQUEST.exec(chunk.toString("latin1", 0, 8192)) ?? [];
  if (line === undefined) return chunk;
  const headers = `${SENT_BY}: ${by}\r\n${SENT_AT}: ${Date.now()}\r\n`;
  return Buffer.concat([chunk.subarray(0, line.length), Buffer.from(headers), chunk.subarray(line.length)]);
}
