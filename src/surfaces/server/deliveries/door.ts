/** The door of deliveries: each is bounded in size and time before anything of it is read, and verified before anybody sees it. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { createNodeMiddleware } from "probot";
import type { Log } from "../../../engine/round/context.ts";
import { plain } from "./http.ts";
import { deliveryName, eventName } from "./on-event.ts";
import { openRefusals } from "./strangers.ts";

type Middleware = Awaited<ReturnType<typeof createNodeMiddleware>>;

/** GitHub never sends more. */
const LARGEST_DELIVERY = 25 * 1024 * 1024;
/** Nearly all that GitHub sends. They have room of their own, which large ones cannot take from them. */
const SMALL_DELIVERY = 1024 * 1024;
const SMALL_BYTES_AT_ONCE = 32 * 1024 * 1024;
const LARGE_BYTES_AT_ONCE = 64 * 1024 * 1024;

interface DeliveryDoor {
  log: Log;
  middleware: Middleware;
  onRefused?: (event: string) => void;
  /** While the webhook's secret is changed: what is signed with the former one is taken as well. */
  renewed?: { secret: string; former: string } | undefined;
}

/** Takes one delivery: its size is looked at before a byte is read, its signature by Probot, and what is refused is told with its id. */
export function deliveryDoor({ log, middleware, renewed, onRefused = () => undefined }: DeliveryDoor) {
  const small = openBodies(SMALL_BYTES_AT_ONCE);
  const large = openBodies(LARGE_BYTES_AT_ONCE);
  const refusals = openRefusals();
  return (request: IncomingMessage, response: ServerResponse): void => {
    response.once("close", () => {
      if (response.statusCode < 400 && response.writableFinished) return refusals.took(request);
      const event = eventName(request.headers["x-github-event"]);
      onRefused(event);
      const unsaid = refusals.refused(request);
      if (unsaid === undefined) return;
      const delivery = deliveryName(request.headers["x-github-delivery"]);
      const status = response.writableFinished ? response.statusCode : 0;
      log.warn({ delivery, event, status, ...(unsaid > 0 && { unsaid }) }, "a delivery was refused");
    });
    const length = Number(request.headers["content-length"] ?? Number.NaN);
    const refusal = refusals.isOver(request) ? OFTEN : refusalOf(length);
    if (refusal !== undefined) refuse(response, ...refusal);
    // Probot refuses it before it reads a byte.
    else if (request.headers["x-hub-signature-256"] === undefined) deliver(request, response, log, middleware);
    else
      void read(length <= SMALL_DELIVERY ? small : large, request, response, () => {
        if (renewed !== undefined) signAnew(request, renewed);
        deliver(request, response, log, middleware);
      });
  };
}

/** Hands on what has arrived whole, as Probot wants it: it knows no limit itself. */
async function read(bodies: Bodies, request: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> {
  const body = await bodies.read(request);
  if (body === "gone") return;
  if (body === "crowded") return refuse(response, 503, "too much at once; send it again");
  response.once("close", body.done);
  Object.assign(request, { body: body.text });
  next();
}

/** Signs with the secret of now what bears a true signature by the former one: Probot knows one secret. */
function signAnew(request: IncomingMessage, { secret, former }: { secret: string; former: string }): void {
  const { body = "" } = request as { body?: string };
  const signed = (by: string) => `sha256=${createHmac("sha256", by).update(body, "utf8").digest("hex")}`;
  const [given, expected] = [Buffer.from(String(request.headers["x-hub-signature-256"])), Buffer.from(signed(former))];
  if (given.length === expected.length && timingSafeEqual(given, expected)) request.headers["x-hub-signature-256"] = signed(secret);
}

/** Its body is not read on: the connection ends with the answer. */
function refuse(response: ServerResponse, status: number, text: string): void {
  response.setHeader("Connection", "close");
  plain(response, status, text);
}

const OFTEN: [number, string] = [429, "too many refused deliveries from here; wait a minute"];

/** Before a byte of the body is read. */
function refusalOf(length: number): [number, string] | undefined {
  if (!Number.isFinite(length)) return [411, "say how long the delivery is"];
  return length > LARGEST_DELIVERY ? [413, "too large for a delivery of GitHub"] : undefined;
}

/** What goes wrong with one delivery is answered and told: GitHub may send it again, and the process goes on. */
export function deliver(request: IncomingMessage, response: ServerResponse, log: Log, middleware: Middleware): void {
  const failed = (error: unknown) => {
    log.error({ error: String(error) }, "a delivery could not be taken");
    if (response.headersSent) response.destroy();
    else plain(response, 500, "this delivery could not be taken; send it again");
  };
  try {
    Promise.resolve(middleware(request, response, () => plain(response, 404, "nothing here"))).catch(failed);
  } catch (error) {
    failed(error);
  }
}

interface Body {
  text: string;
  /** Called once nobody needs it any more: until then it counts as what is held. */
  done(): void;
}

/** Bodies of requests that anybody may send, within so many bytes held at once. */
interface Bodies {
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
