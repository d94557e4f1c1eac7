import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import { defined } from "../../../core/base/defined.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import type { Breakers } from "../../outbound/breaker.ts";
import { openTurns } from "../../outbound/turns.ts";
import {
  type Exchange,
  exchange,
  exchangeJson,
  reasonOf,
  sendUnlessDown,
  WireError,
  type WireReader,
  type WireRequest,
} from "../wire/http.ts";
import { LIST_TOTAL_MS } from "../wire/source.ts";

/** Requests to the API server, as the kubeconfig says. Errors are WireErrors; none holds a token. */
export interface KubeClient {
  /** An answer as JSON, for single objects. */
  get(path: string): Promise<unknown>;
  /** An answer piece by piece. `idleMs`, of the wall: longest time without one. */
  read(path: string, query: Record<string, string>, reader: WireReader, idleMs: number): Promise<Exchange>;
  mergePatch(path: string, body: unknown): Promise<void>;
}

const IDLE_MS = 30_000;
const TOTAL_MS = 60_000;
const MOST_BYTES = 16 << 20;
/** Of what is asked besides lists and watches: an API server has others to answer. */
const MOST_AT_ONCE = 16;

/** Authentication is that of @kubernetes/client-node, so that every way a kubeconfig may say works. */
export function kubeClient(config: KubeConfig, breakers?: Breakers): KubeClient {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new WireError(0, reason("KUBECONFIG_UNUSABLE", { problem: "noContext" }));
  const server = cluster.server.replace(/(?<!\/)\/+$/, "");
  if (!URL.canParse(server)) throw new WireError(0, reason("KUBECONFIG_UNUSABLE", { problem: "noAddress" }));

  async function prepared(path: string, query: Record<string, string> = {}): Promise<Pick<WireRequest, "url" | "headers" | "agent">> {
    if (isMadeUp(config)) throw new WireError(0, NO_KUBECONFIG, { settled: true });
    const url = new URL(`${server}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const options: RequestOptions & { headers?: Record<string, string> } = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new WireError(0, reason("KUBECONFIG_CREDENTIALS", { because: reasonOf(error) }), { cause: error });
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value);
    if (options.auth != null) headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
    return defined({ url, headers, agent: typeof options.agent === "object" ? options.agent : undefined });
  }

  const inTurn = openTurns(MOST_AT_ONCE);

  return {
    async get(path) {
      const request = { ...(await prepared(path)), idleMs: IDLE_MS, totalMs: TOTAL_MS, mostBytes: MOST_BYTES };
      return await inTurn(() => sendUnlessDown(breakers, { host: request.url.host, asker: path }, () => exchangeJson(request)));
    },
    async read(path, query, reader, idleMs) {
      const totalMs = query["watch"] === "true" ? undefined : LIST_TOTAL_MS;
      return exchange(defined({ ...(await prepared(path, query)), idleMs, totalMs }), reader);
    },
    async mergePatch(path, body) {
      const request = await prepared(path);
      const headers = { ...request.headers, "content-type": "application/merge-patch+json" };
      const text = JSON.stringify(body);
      const limits = { idleMs: IDLE_MS, totalMs: TOTAL_MS, mostBytes: MOST_BYTES };
      await inTurn(() =>
        sendUnlessDown(breakers, { host: request.url.host, asker: path }, () =>
          exchangeJson({ ...request, ...limits, method: "PATCH", headers, body: text }),
        ),
      );
    },
  };
}

export const NO_KUBECONFIG = reason("KUBECONFIG_UNUSABLE", { problem: "none" });

/** Where nothing is found, @kubernetes/client-node makes a cluster up, without TLS on this machine, which it then refuses itself. */
export function isMadeUp(config: KubeConfig): boolean {
  const cluster = config.getCurrentCluster();
  return config.getCurrentContext() === "loaded-context" && cluster?.name === "cluster" && cluster.server === "http://localhost:8080";
}
