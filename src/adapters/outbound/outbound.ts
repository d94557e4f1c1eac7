/**
 * Sends the requests that a config repo asks for: to hosts the server's configuration allows, bounded in time and size. Called by hooks and
 * analyses.
 */
import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent, request } from "undici";
import { defined } from "../../core/base/defined.ts";
import { errorText } from "../../core/base/error-text.ts";
import type { ReasonsOf } from "../../core/base/reason.ts";
import { type CheckReasons, checkReason } from "../../core/reasons/checks.ts";
import { checkMayWrite, NotOurs } from "./asker.ts";
import { isAllowedAddress, isOurHeader, matchesHost, type OutboundRule, ruleFor } from "./rules.ts";

/** Where requests that come from a config repo may go: the server's config says, never the repo. */
export interface OutboundPolicy {
  /** Hosts, or globs of them (`*.example.com`), with a port where it is not the scheme's own. Empty: nothing may be asked. `any`: for a person on their own machine. */
  allow: readonly (string | OutboundRule)[] | "any";
  /** `owner/name` of the config repo that asks. */
  repository?: string | undefined;
  /** Values of secrets that the request may carry. */
  secrets?: readonly string[] | undefined;
  /** Hosts that a secret of this value may go to; undefined: it is bound to none, or is no secret. */
  boundTo?: ((secret: string) => readonly string[] | undefined) | undefined;
  /** What names are resolved by; default the machine's own. */
  lookup?: typeof lookup | undefined;
}

interface OutboundRequest {
  url: string;
  method: "GET" | "POST" | "PUT";
  headers: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
  /** The certificate is not checked. */
  insecure?: boolean;
  /** Bytes of the answer read; more is an error. */
  maxBytes?: number;
}

export interface OutboundAnswer {
  status: number;
  contentType: string;
  body: string;
  /** `Retry-After`, as it came. */
  retryAfter?: string;
}

/** Why a request was not made, or got no usable answer. `Refused`: the policy, whatever the other side is like. */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly kind: "Refused" | "Unreachable" | "TimedOut" | "TooLarge";
  readonly reason: ReasonsOf<CheckReasons>;
  constructor(kind: OutboundError["kind"], reason: ReasonsOf<CheckReasons>, options?: { cause?: unknown }) {
    super(reason.code, options);
    this.kind = kind;
    this.reason = reason;
  }
}

/** Ids of requests begin with whose they are: `owner/name:`. */
export function repositoryOf(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf(":")));
}

const MAX_BYTES = 1024 * 1024;
const MOST_REDIRECTS = 3;

/**
 * One request, bounded in time, size and place. A redirect is followed only to the same host and port; anything else is
 * refused, since the policy was asked about the first one.
 */
export async function outbound(policy: OutboundPolicy, wanted: OutboundRequest): Promise<OutboundAnswer> {
  const deadline = AbortSignal.timeout(wanted.timeoutMs);
  const { url: first, rule } = allowed(policy, wanted.url, wanted.headers);
  const lookup = rule === undefined ? undefined : lookupFor(policy, rule);
  const agent = new Agent({ connect: defined({ rejectUnauthorized: wanted.insecure !== true, lookup }), connections: 1, pipelining: 0 });
  try {
    let url = first;
    for (let redirects = 0; ; redirects++) {
      const answer = await once(agent, url, wanted, deadline);
      if (answer.location === undefined) return answer;
      if (redirects === MOST_REDIRECTS)
        throw new OutboundError("Refused", checkReason("OUTBOUND_REDIRECTS", { host: first.host, most: MOST_REDIRECTS }));
      const next = new URL(answer.location, url);
      if (next.origin !== first.origin)
        throw new OutboundError("Refused", checkReason("OUTBOUND_REDIRECTS_AWAY", { host: first.host, to: next.host }));
      if (wanted.method !== "GET")
        throw new OutboundError("Refused", checkReason("OUTBOUND_REDIRECTS_CALL", { host: first.host, method: wanted.method }));
      url = next;
    }
  } catch (error) {
    throw asOutbound(error, first.host, wanted.timeoutMs);
  } finally {
    await agent.destroy();
  }
}

/** The URL, if the policy allows it, and the rule that does; none for a person on their own machine. Throws OutboundError. */
function allowed(policy: OutboundPolicy, text: string, headers: OutboundRequest["headers"]) {
  const { repository, secrets = [], boundTo } = policy;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new OutboundError("Refused", checkReason("OUTBOUND_NO_ADDRESS"));
  if (url.username !== "" || url.password !== "") throw new OutboundError("Refused", checkReason("OUTBOUND_NAMED_ADDRESS"));
  const ours = Object.keys(headers).find(isOurHeader);
  if (ours !== undefined) throw new OutboundError("Refused", checkReason("OUTBOUND_HEADER", { header: ours }));
  if (policy.allow === "any") return { url, rule: undefined };
  const rule = ruleFor(policy.allow, url, repository);
  if (rule === undefined) throw new OutboundError("Refused", checkReason("OUTBOUND_NOT_LISTED", { host: url.host }));
  const isLeak = boundTo !== undefined && secrets.some((one) => boundTo(one)?.some((host) => matchesHost(host, url)) !== true);
  if (isLeak) throw new OutboundError("Refused", checkReason("OUTBOUND_SECRET", { host: url.host }));
  return { url, rule };
}

/** Resolves a name, and refuses where any of its addresses may not be asked: the very one that is connected to was looked at. */
export function lookupFor({ lookup: resolve = lookup }: Pick<OutboundPolicy, "lookup">, rule: OutboundRule): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses = error === null ? (found as LookupAddress[]) : [];
      const refused = addresses.find(({ address }) => !isAllowedAddress(rule, address));
      const why = refused && new OutboundError("Refused", checkReason("OUTBOUND_NETWORK", { host: hostname, address: refused.address }));
      const [first] = addresses;
      if (error !== null || why !== undefined || first === undefined) done(error ?? why ?? new Error(`${hostname} has no address`), "", 4);
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

async function once(
  dispatcher: Agent,
  url: URL,
  wanted: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer & { location?: string }> {
  const { method, headers, body } = wanted;
  checkMayWrite();
  const response = await request(url, defined({ method, headers, signal, dispatcher, body }));
  const location = response.headers["location"];
  const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode) && typeof location === "string";
  const type = response.headers["content-type"];
  const retryAfter = response.headers["retry-after"];
  const text = await read(response.body, wanted.maxBytes ?? MAX_BYTES, url.host);
  return defined({
    status: response.statusCode,
    contentType: typeof type === "string" ? type : "",
    body: text,
    location: isRedirect ? location : undefined,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
  });
}

async function read(body: AsyncIterable<Uint8Array>, maxBytes: number, host: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > maxBytes) throw new OutboundError("TooLarge", checkReason("OUTBOUND_TOO_LARGE", { host, bytes: maxBytes }));
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function asOutbound(error: unknown, host: string, timeoutMs: number): OutboundError | NotOurs {
  if (error instanceof OutboundError || error instanceof NotOurs) return error;
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError"))
    return new OutboundError("TimedOut", checkReason("OUTBOUND_SLOW", { host, ms: timeoutMs }), { cause: error });
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const why = code === "" ? errorText(error) : code;
  return new OutboundError("Unreachable", checkReason("OUTBOUND_UNREACHED", { host, said: why.slice(0, 200) }), { cause: error });
}
