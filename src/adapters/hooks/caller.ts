/** Asks hooks: requests that are signed, bounded and not redirected, and what their answers mean. Opened by the server. */
import { createHmac } from "node:crypto";
import { z } from "zod";
import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import { createListeners } from "../../core/base/listeners.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { parseDuration } from "../../core/base/time.ts";
import { checkReason } from "../../core/reasons/checks.ts";
import type { HookAnswer } from "../../core/run/state/hooks-types.ts";
import { type OutboundAnswer, OutboundError, type OutboundPolicy, outbound, repositoryOf } from "../outbound/outbound.ts";
import type { HookCaller, HookRequest } from "./port.ts";

const DEFAULT_HOLD_MS = 60_000;
/** Each time a hook is asked again costs a commit of the journal. */
const SHORTEST_HOLD_MS = 30_000;
const LONGEST_HOLD_MS = 3_600_000;
const LONGEST_MESSAGE = 300;

const answerSchema = z.looseObject({
  action: z.enum(["continue", "hold", "fail"]),
  message: z.string().optional(),
  /** `5m`, or seconds. */
  retryAfter: z.union([z.string(), z.number()]).optional(),
});

interface HookOptions {
  /** Hosts that may be asked: the server's configuration says, never the repo. */
  policy: OutboundPolicy;
  /** What requests are signed with. Absent: none is made, since no hook could tell that it is ours. */
  secret: string | undefined;
  /** The W3C header by which a hook's own trace goes on from ours. Absent, or undefined: it is not told. */
  traceparent?: (() => string | undefined) | undefined;
  /** Told of what should not have happened, such as a listener that failed. */
  onError?(error: unknown, key: string): void;
}

/** Answers kept to be asked about; each is journalled in the next round. */
const MOST_KEPT = 1000;
/** More than any answer needs: 64 KiB. */
const MAX_BYTES = 65_536;
const SIGNATURE_HEADER = "x-stagecoach-signature-256";

/** Makes hooks' requests: signed, bounded in time and size, to allowed hosts, never redirected. */
export function hookCaller({ policy, secret, traceparent, onError }: HookOptions): HookCaller {
  const answers = new BoundedMap<string, HookAnswer>(MOST_KEPT);
  const underWay = new Set<string>();
  const listeners = createListeners<string>(onError);

  async function work(request: HookRequest): Promise<void> {
    const answer = await ask(policy, secret, request, traceparent?.());
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

async function ask(policy: OutboundPolicy, secret: string | undefined, request: HookRequest, traceparent?: string): Promise<HookAnswer> {
  if (secret === undefined) return error(checkReason("HOOK_SECRET_MISSING"), false);
  try {
    const { url, timeoutMs, body } = request;
    const headers = { ...headersOf(request, secret), ...defined({ traceparent }) };
    return readAnswer(
      await outbound(
        { ...policy, repository: repositoryOf(request.key) },
        { url, method: "POST", headers, body, timeoutMs, maxBytes: MAX_BYTES },
      ),
    );
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) return error(checkReason("HOOK_UNREACHED"), true);
    return error(thrown.reason, thrown.kind === "Unreachable" || thrown.kind === "TimedOut");
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

/**
 * What an answer means. 2xx without a body: go on. 2xx with JSON: what its `action` says. 408, 425, 429 and 5xx: asked again. Anything
 * else is nothing to go by: a page of a proxy must neither let a release through nor fail it.
 */
function readAnswer({ status, contentType, body }: OutboundAnswer): HookAnswer {
  const again = status === 408 || status === 425 || status === 429 || status >= 500;
  if (status < 200 || status >= 300) return error(checkReason("HOOK_ANSWER_STATUS", { status }), again);
  if (body.trim() === "") return { kind: "go", message: "" };
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    // A page of a gateway that is just being restarted looks like this, too.
    return error(checkReason("HOOK_ANSWER_NO_JSON", { type: oneLine(contentType).slice(0, 60) }), true);
  }
  const read = answerSchema.safeParse(document);
  if (!read.success) return error(checkReason("HOOK_ANSWER_NO_ACTION"), false);
  const { action, message = "", retryAfter } = read.data;
  const words = oneLine(message).slice(0, LONGEST_MESSAGE);
  if (action === "continue") return { kind: "go", message: words };
  if (action === "fail") return { kind: "fail", message: words };
  const forMs = holdMs(retryAfter);
  return forMs === undefined ? error(checkReason("HOOK_ANSWER_NO_DURATION"), false) : { kind: "hold", message: words, forMs };
}

function holdMs(given: string | number | undefined): number | undefined {
  if (given === undefined) return DEFAULT_HOLD_MS;
  const ms = typeof given === "number" ? given * 1000 : parseDuration(given);
  if (ms === undefined || !Number.isFinite(ms) || ms < 0) return undefined;
  return Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_HOLD_MS, Math.round(ms)));
}

function error(message: AnyReason, again: boolean): HookAnswer {
  return { kind: "error", message, again };
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
}
