/**
 * Sends the requests that a config repo asks for: to hosts the server's configuration allows, bounded in time and size. Called by hooks and
 * analyses.
 */
import { isIP } from "node:net";
import { Agent, request } from "undici";
import { defined } from "../../core/base/defined.ts";
import { matchesGlob } from "../../core/base/glob.ts";

/** Where requests that come from a config repo may go: the server's config says, never the repo. */
export interface OutboundPolicy {
  /** Hosts, or globs of them (`*.example.com`), with a port where it is not the scheme's own. Empty: nothing may be asked. `any`: for a person on their own machine. */
  allow: readonly string[] | "any";
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
}

/** Why a request was not made, or got no usable answer. `Refused`: the policy, whatever the other side is like. */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly kind: "Refused" | "Unreachable" | "TimedOut" | "TooLarge";
  constructor(kind: OutboundError["kind"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

const MAX_BYTES = 1024 * 1024;
const MOST_REDIRECTS = 3;

/**
 * One request, bounded in time, size and place. A redirect is followed only to the same host and port; anything else is
 * refused, since the policy was asked about the first one.
 */
export async function outbound(policy: OutboundPolicy, wanted: OutboundRequest): Promise<OutboundAnswer> {
  const deadline = AbortSignal.timeout(wanted.timeoutMs);
  const first = allowed(policy, wanted.url);
  const agent = new Agent({ connect: { rejectUnauthorized: wanted.insecure !== true }, connections: 1, pipelining: 0 });
  try {
    let url = first;
    for (let redirects = 0; ; redirects++) {
      const answer = await once(agent, url, wanted, deadline);
      if (answer.location === undefined) return answer;
      if (redirects === MOST_REDIRECTS) throw new OutboundError("Refused", `${first.host} redirects more than ${MOST_REDIRECTS} times`);
      const next = new URL(answer.location, url);
      if (next.origin !== first.origin)
        throw new OutboundError("Refused", `${first.host} redirects to ${next.host}, and redirects to other hosts are not followed`);
      if (wanted.method !== "GET") throw new OutboundError("Refused", `${first.host} redirects a ${wanted.method}`);
      url = next;
    }
  } catch (error) {
    throw asOutbound(error, first.host, wanted.timeoutMs);
  } finally {
    await agent.destroy();
  }
}

/** The URL, if the policy allows it. Throws OutboundError. */
function allowed(policy: OutboundPolicy, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new OutboundError("Refused", "the address is no http or https URL");
  if (url.username !== "" || url.password !== "") throw new OutboundError("Refused", "an address may not hold a name and password");
  if (policy.allow === "any" || policy.allow.some((pattern) => matches(pattern, url))) return url;
  const how = "the server's configuration lists the hosts that may be asked, under outbound.allow";
  throw new OutboundError("Refused", `${url.host} may not be asked; ${how}`);
}

/** A `*` stands for one or more labels of a name, never for a part of an address: `*` alone does not allow bare IP addresses. */
function matches(pattern: string, url: URL): boolean {
  const [, host = "", port] = /^(.*?)(?::(\d+|\*))?$/.exec(pattern.toLowerCase()) ?? [];
  const usual = url.port === "";
  if (port === undefined ? !usual : port !== "*" && port !== (usual ? (url.protocol === "https:" ? "443" : "80") : url.port)) return false;
  const name = url.hostname.toLowerCase();
  if (!host.includes("*")) return host === name;
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0) return false;
  return matchesGlob(host.replaceAll("*", "?*"), "hosts", name);
}

async function once(
  dispatcher: Agent,
  url: URL,
  wanted: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer & { location?: string }> {
  const { method, headers, body } = wanted;
  const response = await request(url, defined({ method, headers, signal, dispatcher, body }));
  const location = response.headers["location"];
  const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode) && typeof location === "string";
  const type = response.headers["content-type"];
  const text = await read(response.body, wanted.maxBytes ?? MAX_BYTES, url.host);
  return defined({
    status: response.statusCode,
    contentType: typeof type === "string" ? type : "",
    body: text,
    location: isRedirect ? location : undefined,
  });
}

async function read(body: AsyncIterable<Uint8Array>, maxBytes: number, host: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > maxBytes) throw new OutboundError("TooLarge", `${host} answers with more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function asOutbound(error: unknown, host: string, timeoutMs: number): OutboundError {
  if (error instanceof OutboundError) return error;
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError"))
    return new OutboundError("TimedOut", `${host} did not answer within ${timeoutMs / 1000} s`, { cause: error });
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const why = code === "" ? (error instanceof Error ? error.message : String(error)) : code;
  return new OutboundError("Unreachable", `${host} could not be asked: ${why.slice(0, 200)}`, { cause: error });
}
