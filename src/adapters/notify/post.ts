/** Senders that make HTTP requests: Slack, Teams and CloudEvents. Each is bounded in time, size and place, and never redirected. */
import { createHmac } from "node:crypto";
import { binaryHeaders, cloudEvents, type NotifyCloudEvent } from "../../core/report/notify/cloud-event.ts";
import type { Notice } from "../../core/report/notify/notice.ts";
import { slackCard, slackMessage } from "../../core/report/notify/slack.ts";
import { teamsMessage } from "../../core/report/notify/teams.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { type OutboundAnswer, OutboundError, type OutboundPolicy, outbound } from "../outbound/outbound.ts";
import { NotSent, type Sender, type Thread } from "./port.ts";

export interface PostOptions {
  /** Networks that the host may be in, beside what is public. */
  networks?: readonly string[] | undefined;
  /** Default: the machine's. */
  lookup?: OutboundPolicy["lookup"];
  timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 10_000;
/** More than any answer needs. */
const MAX_BYTES = 65_536;
/** Of people's messages: more come as one. */
const MOST_MESSAGES = 10;
/** Machines take each event, up to a burst that nobody could want one by one. */
const MOST_EVENTS = 500;
const MOST_WAIT_MS = 15 * 60_000;

type Headers = Readonly<Record<string, string>>;

/** A request to an address of the configuration: its host is what is allowed. Throws NotSent; what the answer means, the caller says. */
async function post(url: string, headers: Headers, body: string, { networks, lookup, timeoutMs = TIMEOUT_MS }: PostOptions) {
  if (!URL.canParse(url)) throw new NotSent("its address is none", false);
  const { hostname, port } = new URL(url);
  const host = port === "" ? hostname : `${hostname}:${port}`;
  const policy: OutboundPolicy = { allow: [networks === undefined ? { host } : { host, networks }], lookup };
  const all = { accept: "application/json", "user-agent": "stagecoach", ...headers };
  try {
    return await outbound(policy, { url, method: "POST", headers: all, body, timeoutMs, maxBytes: MAX_BYTES });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw new NotSent("it could not be asked", true);
    throw new NotSent(sentenceOf(error.reason), error.kind === "Unreachable" || error.kind === "TimedOut");
  }
}

/** Throws NotSent for anything but 2xx. */
function accepted(answer: OutboundAnswer): string {
  const { status, body, retryAfter } = answer;
  const said = `${status}${body.trim() === "" ? "" : `: ${oneLine(body)}`}`;
  if (status >= 200 && status < 300) return said;
  throw new NotSent(`it answered ${said}`, status === 408 || status === 425 || status === 429 || status >= 500, waitOf(retryAfter));
}

/** Seconds; a date is not waited for, but as any other fault is. */
function waitOf(retryAfter: string | undefined): number | undefined {
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Math.min(MOST_WAIT_MS, Number(retryAfter) * 1000) : undefined;
}

function oneLine(text: string): string {
  return text
    .slice(0, 2000)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .slice(0, 200);
}

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

/** An incoming webhook of Slack: its address is the secret. */
export function slackWebhook(url: () => string, options: PostOptions): Sender {
  return jsonWebhook(url, slackMessage, options);
}

/** The webhook of a Teams Workflow: its address is the secret. */
export function teams(url: () => string, options: PostOptions): Sender {
  return jsonWebhook(url, teamsMessage, options);
}

function jsonWebhook(url: () => string, messageOf: (notice: Notice) => unknown, options: PostOptions): Sender {
  return {
    most: MOST_MESSAGES,
    send: async (notice) => ({ answer: accepted(await post(url(), JSON_TYPE, JSON.stringify(messageOf(notice)), options)) }),
  };
}

/** CloudEvents, one a request, signed as hooks are. What was sent before one that failed is sent again, by the same id. */
export function cloudEventWebhook(
  { url, mode, secret }: { url: string; mode: "structured" | "binary"; secret: () => string | undefined },
  options: PostOptions,
): Sender {
  const requestOf = (event: NotifyCloudEvent): [Headers, string] =>
    mode === "binary"
      ? [binaryHeaders(event), JSON.stringify(event.data)]
      : [{ "content-type": "application/cloudevents+json; charset=utf-8" }, JSON.stringify(event)];
  return {
    most: MOST_EVENTS,
    async send(notice) {
      let answer = "";
      for (const event of cloudEvents(notice)) {
        const [headers, body] = requestOf(event);
        const key = secret();
        const signed: Headers =
          key === undefined ? {} : { "x-stagecoach-signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}` };
        // Names of others stand in it, and half a character cannot be encoded.
        const idempotencyKey = encodeURIComponent(event.id.toWellFormed());
        answer = accepted(await post(url, { ...headers, ...signed, "idempotency-key": idempotencyKey }, body, options));
      }
      return { answer };
    },
  };
}

/** These come of Slack's own trouble; of any other the message, or the configuration, is the cause. */
const SLACK_AGAIN: ReadonlySet<string> = new Set([
  "ratelimited",
  "rate_limited",
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
  "team_added_to_org",
]);
/** The message of a run is not there any more. */
const SLACK_GONE: ReadonlySet<string> = new Set(["message_not_found", "cant_update_message", "thread_not_found", "edit_window_closed"]);

class SlackRefused extends NotSent {
  readonly code: string;
  constructor(code: string) {
    super(`Slack says: ${code}`, SLACK_AGAIN.has(code));
    this.code = code;
  }
}

interface SlackOptions {
  api: string;
  channel: string;
  token: () => string;
}

/** Slack by a bot's token: one message a run, kept up to date; what happens later are replies in its thread. */
export function slackBot({ api, channel, token }: SlackOptions, options: PostOptions): Sender {
  async function call(method: "chat.postMessage" | "chat.update", body: object): Promise<{ thread: Thread | undefined; answer: string }> {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${token()}` };
    const answer = await post(new URL(method, api).href, headers, JSON.stringify(body), options);
    const said = accepted(answer);
    const read = parsed(answer.body);
    if (read?.["ok"] !== true) throw new SlackRefused(oneLine(String(read?.["error"] ?? "nothing that can be read")).slice(0, 60));
    const [where, ts] = [read["channel"], read["ts"]];
    return { thread: typeof where === "string" && typeof ts === "string" ? { channel: where, ts } : undefined, answer: said };
  }

  const plain = { unfurl_links: false, unfurl_media: false };
  const update = (message: object, thread: Thread) => call("chat.update", { ...message, channel: thread.channel, ts: thread.ts });

  return {
    most: MOST_MESSAGES,
    async send(notice, thread) {
      const { run, repository, stands } = notice;
      if (run === undefined || stands !== undefined)
        return { answer: (await call("chat.postMessage", { ...slackMessage(notice), ...plain, channel })).answer };
      const card = slackCard(run.card, repository);
      if (thread === undefined) return await call("chat.postMessage", { ...card, ...plain, channel });
      try {
        await update(card, thread);
      } catch (error) {
        if (error instanceof SlackRefused && SLACK_GONE.has(error.code))
          return await call("chat.postMessage", { ...card, ...plain, channel });
        throw error;
      }
      // Whoever is asked for is not asked in a thread alone.
      const loud = notice.events.some(({ event }) => event === "needs-you" || event === "failed");
      const reply = { ...slackMessage(notice), ...plain, channel: thread.channel, thread_ts: thread.ts, reply_broadcast: loud };
      return { thread, answer: (await call("chat.postMessage", reply)).answer };
    },
    async update(card, repository, thread) {
      await update(slackCard(card, repository), thread);
    },
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
