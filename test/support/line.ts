/**
 * The line between one bot and GitHub, cut as a bot that is killed cuts it: before something is sent, or after GitHub has done it and
 * before the answer is read. Nothing that the bot still does gets through.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Clock } from "../../src/core/base/time.ts";

type Cut = "before" | "after";

interface Line {
  url: string;
  /** Kills the bot now. False: that was done before. */
  cut(): boolean;
  close(): Promise<void>;
}

/** What happens to requests on their way. */
export interface LineFaults {
  /** Asked at each request that may change something. */
  kills?: (() => Cut | undefined) | undefined;
  /** Holds a request up whose text holds this until another bot sends such a one as well, or a minute has passed. */
  meetsAt?: string | undefined;
}

/** Where bots wait for each other. */
export type MeetingPoint = () => Promise<void>;

export function openMeetingPoint(clock: Clock): MeetingPoint {
  let first: (() => void) | undefined;
  return () =>
    new Promise<void>((resolve) => {
      if (first !== undefined) {
        first();
        first = undefined;
        resolve();
        return;
      }
      first = resolve;
      clock.after(60_000, () => {
        if (first === resolve) first = undefined;
        resolve();
      });
    });
}

const WRITES = /^(?:POST|PUT|PATCH|DELETE) /;

/** `onCut` is told once. */
export async function openLine(to: string, { kills, meetsAt }: LineFaults, meet: MeetingPoint, onCut: () => void): Promise<Line> {
  const { hostname, port } = new URL(to);
  const open = new Set<Socket>();
  let isCut = false;

  function cut(): boolean {
    if (isCut) return false;
    isCut = true;
    for (const socket of open) socket.destroy();
    onCut();
    return true;
  }

  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let cutsWithAnswer = false;
    for (const socket of [near, far]) {
      open.add(socket);
      // The other end is told by its own end.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        open.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    near.on("data", async (chunk: Buffer) => {
      const when = WRITES.test(chunk.toString("latin1", 0, 8)) ? kills?.() : undefined;
      if (when === "before") cut();
      cutsWithAnswer ||= when === "after";
      if (meetsAt !== undefined && chunk.includes(meetsAt)) {
        near.pause();
        await meet();
        near.resume();
      }
      if (!isCut) far.write(chunk);
    });
    far.on("data", (chunk: Buffer) => {
      if (cutsWithAnswer) cut();
      if (!isCut) near.write(chunk);
    });
    if (isCut) near.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
