import { z } from "zod";
import { parseDuration } from "../../core/base/time.ts";
import type { HookAnswer } from "../../core/run/state/hooks-types.ts";
import type { OutboundAnswer } from "../outbound/outbound.ts";

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

/**
 * What an answer means. 2xx without a body: go on. 2xx with JSON: what its `action` says. 408, 425, 429 and 5xx: asked again. Anything
 * else is nothing to go by: a page of a proxy must neither let a release through nor fail it.
 */
export function readAnswer({ status, contentType, body }: OutboundAnswer): HookAnswer {
  if (status === 408 || status === 425 || status === 429 || status >= 500) return error(`it answered with status ${status}`, true);
  if (status < 200 || status >= 300) return error(`it answered with status ${status}`, false);
  if (body.trim() === "") return { kind: "go", message: "" };
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    const type = contentType === "" ? "" : ` (${oneLine(contentType).slice(0, 60)})`;
    // A page of a gateway that is just being restarted looks like this, too.
    return error(`its answer is neither empty nor JSON${type}`, true);
  }
  const read = answerSchema.safeParse(document);
  if (!read.success) return error("its answer has no action: continue, hold or fail", false);
  const { action, message = "", retryAfter } = read.data;
  const words = oneLine(message).slice(0, LONGEST_MESSAGE);
  if (action === "continue") return { kind: "go", message: words };
  if (action === "fail") return { kind: "fail", message: words };
  const forMs = holdMs(retryAfter);
  return forMs === undefined ? error("its retryAfter is no duration", false) : { kind: "hold", message: words, forMs };
}

function holdMs(given: string | number | undefined): number | undefined {
  if (given === undefined) return DEFAULT_HOLD_MS;
  const ms = typeof given === "number" ? given * 1000 : parseDuration(given);
  if (ms === undefined || !Number.isFinite(ms) || ms < 0) return undefined;
  return Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_HOLD_MS, Math.round(ms)));
}

function error(message: string, again: boolean): HookAnswer {
  return { kind: "error", message, again };
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
}
