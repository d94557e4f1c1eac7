/**
 * Sends requests to Argo CD's REST API: the token goes to its address alone, and is in no error. Called by every other file of this folder.
 */
import { readFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { defined } from "../../../core/base/defined.ts";
import { type ControlPlaneReasons, planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { askedBy } from "../../outbound/asker.ts";
import type { Breakers } from "../../outbound/breaker.ts";
import { openTurns } from "../../outbound/turns.ts";
import { createCutter, TooDeep } from "../wire/cut.ts";
import { type Exchange, exchange, sendUnlessDown, WireError, type WireReader } from "../wire/http.ts";
import type { Shape } from "../wire/shape.ts";
import { LIST_TOTAL_MS } from "../wire/source.ts";

export interface ArgoClientOptions {
  /** Where Argo CD's API server is, with its root path if it has one: `https://argocd.example.com/argo`. */
  url: string;
  /** A bearer token, or the file that holds it: read again for every request, so that it may be rotated. */
  token?: string;
  tokenFile?: string;
  /** PEM of the CA that signed the server's certificate; default: those that Node trusts. */
  ca?: string;
  /** Accepts any certificate, or none at all. Whoever is in between can then read and forge everything. */
  insecure?: boolean;
}

export type Query = Record<string, string | readonly string[] | undefined>;

/** Requests to Argo CD's REST API. Errors are WireErrors; none holds the token. */
export interface ArgoClient {
  /** A whole answer, of which only the parts in `shape` become values. */
  get(path: string, query?: Query, limits?: { shape?: Shape; totalMs?: number }): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  /** An answer piece by piece. `idleMs`: longest time without one. `stream`: it stays open. */
  read(path: string, query: Query, reader: WireReader, options: { idleMs: number; stream: boolean }): Promise<Exchange>;
  close(): void;
}

const TOTAL_MS = 60_000;
const MOST_BYTES = 16 << 20;
/** More at once would only queue in Argo CD. */
const MOST_AT_ONCE = 8;
/** Of what it renders or compares, which may take minutes: reads do not stand behind that. */
const MOST_HEAVY = 4;
/** With one for lists. */
const MOST_SOCKETS = MOST_AT_ONCE + MOST_HEAVY + 1;

/** Throws WireError where the options cannot be used. */
export function argoClient(options: ArgoClientOptions, breakers?: Breakers): ArgoClient {
  const base = baseOf(options);
  const common = { keepAlive: true, keepAliveMsecs: 15_000 };
  const tls = defined({ ca: options.ca, rejectUnauthorized: options.insecure !== true });
  const agentOf = (maxSockets: number) =>
    base.protocol === "https:" ? new HttpsAgent({ ...common, ...tls, maxSockets }) : new HttpAgent({ ...common, maxSockets });
  const agent = agentOf(MOST_SOCKETS);
  const streams = agentOf(Number.POSITIVE_INFINITY);
  const inTurn = openTurns(MOST_AT_ONCE);
  const heavyInTurn = openTurns(MOST_HEAVY);

  async function send(method: "GET" | "POST", path: string, query: Query, body: string | undefined, totalMs: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    const headers = await headersOf(options, body);
    const request = { method, url: urlOf(base, path, query), headers, agent, idleMs: totalMs, totalMs, mostBytes: MOST_BYTES };
    const reader = { chunk: (bytes: Buffer) => void chunks.push(bytes) };
    const asker = askerOf(path, query);
    await (asker.heavy ? heavyInTurn : inTurn)(() =>
      sendUnlessDown(
        breakers,
        { host: base.host, ...asker },
        () => exchange(body === undefined ? request : { ...request, body }, reader).done,
      ),
    );
    return Buffer.concat(chunks);
  }

  function decoded(bytes: Buffer, shape: Shape): unknown {
    try {
      return createCutter(shape)(bytes);
    } catch (error) {
      if (error instanceof TooDeep) throw new WireError(0, reason("ANSWER_UNREADABLE", { origin: base.origin, because: error.reason }));
      throw new WireError(0, reason("ANSWER_NO_JSON", { origin: base.origin, argocd: true }));
    }
  }

  return {
    async get(path, query = {}, { shape = {}, totalMs = TOTAL_MS } = {}) {
      return decoded(await send("GET", path, query, undefined, totalMs), shape);
    },
    async post(path, body) {
      return decoded(await send("POST", path, {}, JSON.stringify(body), TOTAL_MS), {});
    },
    async read(path, query, reader, { idleMs, stream }) {
      const headers = await headersOf(options, undefined);
      return exchange(
        defined({
          url: urlOf(base, path, query),
          headers,
          agent: stream ? streams : agent,
          idleMs,
          totalMs: stream ? undefined : LIST_TOTAL_MS,
        }),
        reader,
      );
    },
    close() {
      agent.destroy();
      streams.destroy();
    },
  };
}

/**
 * Whom a request is for: a repository, else an Application; what is about neither is everybody's. Heavy is what Argo CD renders, compares, or asks of an Application's cluster:
 * there five Applications of one repository can fail, each by itself.
 */
function askerOf(path: string, { refresh }: Query): { asker: string | undefined; heavy: boolean } {
  const [, application, rest = ""] = /^(\/api\/v1\/applications\/[^/]+)(.*)/.exec(path) ?? [];
  const heavy = refresh !== undefined || /^\/(manifests|managed-resources|resource)\b/.test(rest) || path.endsWith("/generate");
  return { asker: askedBy() ?? application, heavy };
}

/** Argo CD's address. Throws WireError where it cannot be used. */
export function baseOf({ url, insecure }: Pick<ArgoClientOptions, "url" | "insecure">): URL {
  const unusable = (problem: ControlPlaneReasons["ADDRESS_UNUSABLE"]["problem"], origin?: string) =>
    new WireError(0, reason("ADDRESS_UNUSABLE", { problem, origin }));
  if (!URL.canParse(url)) throw unusable("noUrl");
  const base = new URL(url);
  if (base.protocol !== "https:" && base.protocol !== "http:") throw unusable("scheme");
  if (base.username !== "" || base.password !== "") throw unusable("password");
  if (base.protocol === "http:" && insecure !== true && !isLoopback(base.hostname)) throw unusable("unencrypted", base.origin);
  base.pathname = base.pathname.replace(/(?<!\/)\/+$/, "");
  base.search = "";
  base.hash = "";
  return base;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function urlOf(base: URL, path: string, query: Query): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname === "/" ? "" : base.pathname}${path}`;
  for (const [name, value] of Object.entries(query)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) url.searchParams.append(name, one);
  }
  return url;
}

async function headersOf(options: ArgoClientOptions, body: string | undefined): Promise<Record<string, string>> {
  const token = await tokenOf(options);
  // Argo CD lets a POST in only as JSON, against forged forms.
  return defined({ authorization: `Bearer ${token}`, "content-type": body === undefined ? undefined : "application/json" });
}

async function tokenOf({ token, tokenFile }: ArgoClientOptions): Promise<string> {
  const unusable = (problem: ControlPlaneReasons["TOKEN_UNUSABLE"]["problem"]) =>
    new WireError(0, reason("TOKEN_UNUSABLE", { file: tokenFile, problem }), { settled: true });
  let text = token ?? "";
  if (tokenFile !== undefined) {
    try {
      text = await readFile(tokenFile, "utf8");
    } catch (error) {
      throw unusable({ unreadable: (error as NodeJS.ErrnoException).code ?? "unreadable" });
    }
  }
  text = text.trim();
  if (text === "") throw unusable("empty");
  // Anything else could not be sent, and the refusal of Node would quote it.
  if (!/^[\x21-\x7e]+$/.test(text)) throw unusable("invalid");
  return text;
}
