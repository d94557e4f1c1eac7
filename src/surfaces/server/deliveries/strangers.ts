/**
 * Bounds what whoever reaches a door may have of it: connections, deliveries that are refused, lines of the log. Called by `door.ts` and the
 * server. Keeps true: nobody who floods a door keeps GitHub's deliveries out.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { clientOf, openCounter } from "../../web/api/turns.ts";

/** In a minute, of one client: more are answered unread. */
const MOST_REFUSED = 30;
/** Whoever sent a true delivery so lately is GitHub, or a proxy that does not tell for whom it asks: theirs are always read. */
const TRUSTED_MS = 60 * 60_000;
const MOST_TRUSTED = 1_000;
/** In a minute: more are counted alone. */
const MOST_LINES = 60;

interface Refusals {
  /** Whether a delivery is to be answered before it is read. */
  isOver(request: IncomingMessage): boolean;
  took(request: IncomingMessage): void;
  /** Gives how many were refused unsaid since the last that was said; undefined: this one is not to be said either. */
  refused(request: IncomingMessage): number | undefined;
}

export function openRefusals(now: () => number = () => performance.now()): Refusals {
  const counts = openCounter(MOST_REFUSED, now);
  const lines = openCounter(MOST_LINES, now);
  const trusted = new BoundedMap<string, number>(MOST_TRUSTED);
  let unsaid = 0;
  const isTrusted = (client: string) => now() - (trusted.get(client) ?? Number.NEGATIVE_INFINITY) < TRUSTED_MS;
  return {
    isOver(request) {
      const client = clientOf(request);
      return counts.isOver(client) && !isTrusted(client);
    },
    took: (request) => void trusted.set(clientOf(request), now()),
    refused(request) {
      counts.count(clientOf(request));
      if (!lines.count("")) {
        unsaid += 1;
        return undefined;
      }
      const before = unsaid;
      unsaid = 0;
      return before;
    },
  };
}

/** Past so many connections the oldest ends for a new one: who asks honestly is done in milliseconds. */
export function boundConnections(server: Server, most: number): Server {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    for (const oldest of open) {
      if (open.size <= most) break;
      open.delete(oldest);
      oldest.destroy();
    }
  });
  return server;
}
