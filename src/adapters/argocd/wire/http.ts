/**
 * One request over HTTP and its answer, piece by piece, bounded in time and size. Errors are WireErrors that hold no credential. Called by
 * the clients of both adapters.
 */
import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { type Agent as HttpsAgent, request as requestHttps } from "node:https";
import { child, fields, own, word } from "../../../core/argocd/decode/lenient.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText, redact } from "../../../core/base/error-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { checkMayWrite } from "../../outbound/asker.ts";
import type { Breakers } from "../../outbound/breaker.ts";
import { BadAnswer } from "./cut.ts";

/** What a request came to that is not the answer asked for. `status` 0: there was no answer. Holds no credential. */
export class WireError extends Error {
  override name = "WireError";
  readonly status: number;
  /** Nothing came for too long. */
  readonly silent: boolean;
  /** Asking again will not help before somebody has changed something. */
  readonly settled: boolean;
  /** The answer had begun. */
  readonly begun: boolean;
  readonly reason: AnyReason;
  constructor(status: number, reason: AnyReason, options: { cause?: unknown; silent?: boolean; settled?: boolean; begun?: boolean } = {}) {
    super(sentenceOf(reason), { cause: options.cause });
    this.status = status;
    this.reason = reason;
    this.silent = options.silent === true;
    this.settled = options.settled === true;
    this.begun = options.begun === true;
  }
}

export interface WireRequest {
  method?: "GET" | "POST" | "PATCH";
  url: URL;
  headers?: Record<string, string>;
  body?: string;
  agent?: HttpAgent | HttpsAgent;
  /** Until the answer begins, and between two pieces of it. Milliseconds of the wall. */
  idleMs: number;
  /** Until the answer is complete; absent: for ever. */
  totalMs?: number;
  /** Largest answer; absent: any, since the reader does not hold it. */
  mostBytes?: number;
}

export interface WireReader {
  /** The answer has begun, with a status from 200 to 299. */
  begun?(): void;
  chunk(bytes: Buffer): void;
}

const MOST_REFUSAL_BYTES = 64 << 10;

/** An open request. */
export interface Exchange {
  /** Resolves when the answer is complete; rejects with WireError, or with what the reader threw. */
  done: Promise<void>;
  /** Ends it; `done` resolves then. */
  stop(): void;
}

/**
 * One request; its answer goes to the reader piece by piece. Redirects are not followed: the credential is for this
 * address alone.
 */
export function exchange(request: WireRequest, reader: WireReader): Exchange {
  let stop: () => void = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    const { url, method = "GET", headers = {}, body, agent, totalMs: ms } = request;
    const { origin } = url;
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const length = body === undefined ? undefined : String(Buffer.byteLength(body));
    const options = defined({ method, headers: defined({ accept: "application/json", ...headers, "content-length": length }), agent });
    if (method !== "GET") checkMayWrite();
    const outgoing = send(url, options);
    let [over, begun] = [false, false];
    const finish = (error?: unknown) => {
      if (over) return;
      over = true;
      clearTimeout(idle);
      clearTimeout(total);
      outgoing.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const silence = () =>
      finish(new WireError(0, reason("HOST_SILENT", { origin, seconds: Math.round(request.idleMs / 1000) }), { silent: true, begun }));
    const idle = setTimeout(silence, request.idleMs);
    const slow = () => finish(new WireError(0, reason("HOST_SLOW", { origin, ms: ms ?? 0 }), { begun }));
    const total = ms === undefined ? undefined : setTimeout(slow, ms);
    stop = () => finish();
    outgoing.on("error", (error) => {
      const because = reasonOf(error);
      const settled = because.code.startsWith("CERTIFICATE_");
      const why = settled ? because : reason("HOST_UNANSWERING", { origin, because });
      finish(new WireError(0, why, { cause: error, settled }));
    });
    outgoing.on("response", (response) => {
      begun = true;
      idle.refresh();
      response.on("data", () => idle.refresh());
      answer(response, request, reader, finish);
    });
    outgoing.end(body);
  });
  return { done, stop: () => stop() };
}

function answer(response: IncomingMessage, request: WireRequest, reader: WireReader, finish: (error?: unknown) => void): void {
  const status = response.statusCode ?? 0;
  const { origin } = request.url;
  const good = status >= 200 && status < 300;
  const most = good ? (request.mostBytes ?? Number.POSITIVE_INFINITY) : MOST_REFUSAL_BYTES;
  const refusal: Buffer[] = [];
  let size = 0;
  const guarded = (task: () => void) => {
    try {
      task();
    } catch (error) {
      finish(error);
    }
  };
  if (good) guarded(() => reader.begun?.());
  response.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > most && good)
      return finish(new WireError(0, reason("ANSWER_TOO_LARGE", { what: "answer", most, origin }), { settled: true }));
    if (size > most) return finish(refused(status, "", response, request));
    if (good) guarded(() => reader.chunk(chunk));
    else refusal.push(chunk);
  });
  response.on("aborted", () => finish(new WireError(0, reason("HOST_BROKE_OFF", { origin }))));
  response.on("error", (error) => finish(new WireError(0, reason("HOST_FAILED", { origin, because: reasonOf(error) }), { cause: error })));
  response.on("end", () => finish(good ? undefined : refused(status, Buffer.concat(refusal).toString("utf8"), response, request)));
}

/** As the server says it: Kubernetes' and Argo CD's refusals both carry a `message`. */
function refused(status: number, text: string, response: IncomingMessage, { url: { origin }, headers = {} }: WireRequest): WireError {
  const { location = "nowhere" } = response.headers;
  const to = harmless(location, headers).slice(0, 200);
  if (status >= 300 && status < 400) return new WireError(status, reason("HOST_REDIRECTS", { origin, to }), { settled: true });
  const body = fields(parse(text));
  const said = word(body, "message") ?? word(body, "error") ?? word(child(body, "error"), "message");
  const because =
    said === undefined
      ? reason("HOST_STATUS", { origin, status })
      : reason("PROGRAM_SAYS", { message: harmless(said, headers).slice(0, 500) });
  return new WireError(status, because);
}

/** What a header could hold by chance is no credential. */
const SHORTEST_CREDENTIAL = 8;

/** Makes one line of a host's words, without what it was sent to know us by: some give it back, and it would stand in logs and comments. */
function harmless(said: string, headers: Record<string, string>): string {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    /^(authorization|cookie)$/i.test(name) ? String(value).split(/[\s;=]+/) : [],
  );
  const credentials = sent.filter((word) => word.length >= SHORTEST_CREDENTIAL);
  return credentials.reduce((text, word) => text.replaceAll(word, "[token]"), redact(said)).replace(/[\p{Cc}\s]+/gu, " ");
}

/** A whole answer as JSON. Rejects with WireError where it is none. */
export async function exchangeJson(request: WireRequest & { mostBytes: number; totalMs: number }): Promise<unknown> {
  const chunks: Buffer[] = [];
  await exchange(request, { chunk: (bytes) => void chunks.push(bytes) }).done;
  const body = parse(Buffer.concat(chunks).toString("utf8"));
  if (body === undefined) throw new WireError(0, reason("ANSWER_NO_JSON", { origin: request.url.origin }));
  return body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What Node says of a certificate that nobody known has signed. */
const TLS_CODES: ReadonlySet<string> = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
]);

/** Why something failed, without what could hold a credential. */
export function reasonOf(error: unknown): AnyReason {
  if (error instanceof WireError || error instanceof BadAnswer) return error.reason;
  const inner = own(fields(error), "cause") ?? (error instanceof Error ? error.cause : undefined);
  const code = word(fields(inner), "code") ?? word(fields(error), "code");
  const said = errorText(error).slice(0, 300);
  if (code !== undefined && TLS_CODES.has(code)) return reason("CERTIFICATE_UNTRUSTED", { tls: code });
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return reason("CERTIFICATE_OTHER_NAME", { message: said });
  if (code === "CERT_HAS_EXPIRED") return reason("CERTIFICATE_EXPIRED");
  return reason("PROGRAM_SAYS", { message: code === undefined || said.includes(code) ? said : `${said} (${code})` });
}

/** HTTP status of what a request or a watch failed with; 0 where there was none. */
export function statusOf(error: unknown): number {
  return error instanceof WireError ? error.status : 0;
}

/** Whether the server itself says that the object is not there. A 404 alone may be of what stands in between, and of everything. */
export function saysNotFound(error: unknown, name: string): boolean {
  return error instanceof WireError && error.status === 404 && error.message.includes(`"${name}" not found`);
}

const DOWN: ReadonlySet<number> = new Set([502, 503, 504]);
const UNANSWERED: ReadonlySet<string> = new Set(["HOST_UNANSWERING", "HOST_SILENT", "HOST_SLOW"]);

/** Whether the host is down; undefined: of a heavy question, where it may be what is asked for. An answer that began is no fault of the host. */
function isFault(error: unknown, heavy: boolean): boolean | undefined {
  if (!(error instanceof WireError) || error.settled || error.begun) return false;
  const { code } = error.reason;
  if (!DOWN.has(error.status) && !(error.status === 0 && UNANSWERED.has(code))) return false;
  return heavy && code !== "HOST_UNANSWERING" ? undefined : true;
}

/** Sends a short request unless its host is down. What lists and watches has its own patience. `asker`: for whom. */
export async function sendUnlessDown<T>(
  breakers: Breakers | undefined,
  { host, asker, heavy = false }: { host: string; asker: string | undefined; heavy?: boolean },
  send: () => Promise<T>,
): Promise<T> {
  if (breakers === undefined) return await send();
  return await breakers.through({ host, asker, heavy }, send, (came) => ("error" in came ? isFault(came.error, heavy) : false));
}
