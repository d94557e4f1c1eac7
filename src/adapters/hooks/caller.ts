import { createHmac } from "node:crypto";
import { BoundedMap } from "../../core/base/bounded.ts";
import { createListeners } from "../../core/base/listeners.ts";
import type { HookAnswer } from "../../core/run/state/hooks-types.ts";
import { OutboundError, type OutboundPolicy, outbound } from "../outbound/outbound.ts";
import { readAnswer } from "./answer.ts";
import type { HookCaller, HookRequest } from "./port.ts";

interface HookOptions {
  /** Hosts that may be asked: the server's configuration says, never the repo. */
  policy: OutboundPolicy;
  /** What requests are signed with. Absent: none is made, since no hook could tell that it is ours. */
  secret: string | undefined;
  /** Told of what should not have happened, such as a listener that failed. */
  onError?(error: unknown, key: string): void;
}

/** Answers kept to be asked about; each is journalled in the next round. */
const MOST_KEPT = 1000;
/** More than any answer needs: 64 KiB. */
const MAX_BYTES = 65_536;
const SIGNATURE_HEADER = "x-stagecoach-signature-256";

/** Makes hooks' requests: signed, bounded in time and size, to allowed hosts, never redirected. */
export function hookCaller({ policy, secret, onError }: HookOptions): HookCaller {
  const answers = new BoundedMap<string, HookAnswer>(MOST_KEPT);
  const underWay = new Set<string>();
  const listeners = createListeners<string>(onError);

  async function work(request: HookRequest): Promise<void> {
    const answer = await ask(policy, secret, request);
    answers.set(request.key, answer);
    underWay.delete(request.key);
    listeners.tell(request.key);
  }

  return {
    call(request) {
      if (underWay.has(request.key) || answers.has(request.key)) return;
      underWay.add(request.key);
      // Nobody waits for it, so nothing may come out of it.
      work(request).catch((error: unknown) => onError?.(error, request.key));
    },
    answer: (key) => answers.get(key),
    onChange: listeners.add,
    async close() {
      // What is under way is not waited for: it is journalled, and asked again by who comes after.
      listeners.clear();
    },
  };
}

async function ask(policy: OutboundPolicy, secret: string | undefined, request: HookRequest): Promise<HookAnswer> {
  if (secret === undefined) {
    return {
      kind: "error",
      message: "no secret to sign with is configured (hooks.secretFile in the server's configuration)",
      again: false,
    };
  }
  try {
    const { url, timeoutMs, body } = request;
    const headers = headersOf(request, secret);
    return readAnswer(await outbound(policy, { url, method: "POST", headers, body, timeoutMs, maxBytes: MAX_BYTES }));
  } catch (error) {
    if (error instanceof OutboundError) {
      return { kind: "error", message: error.message, again: error.kind === "Unreachable" || error.kind === "TimedOut" };
    }
    return { kind: "error", message: "it could not be asked", again: true };
  }
}

function headersOf({ id, count, body }: HookRequest, secret: string): Record<string, string> {
  return {
    "content-type": "application/cloudevents+json; charset=utf-8",
    accept: "application/json",
    "user-agent": "stagecoach",
    "idempotency-key": id,
    "x-stagecoach-request": String(count),
    [SIGNATURE_HEADER]: signatureOf(secret, body),
  };
}

/** As GitHub signs its webhooks: `sha256=` and the HMAC of the body in hex. */
function signatureOf(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body, "utf8").digest("hex")}`;
}
