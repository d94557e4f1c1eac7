import { HttpMethod, IsomorphicFetchHttpLibrary, type KubeConfig, RequestContext, Watch } from "@kubernetes/client-node";
import { child, fields, own, word } from "../lenient.ts";

/** An answer of the API server that is not 2xx. `status` 0: there was no answer. */
export class KubeError extends Error {
  override name = "KubeError";
  readonly status: number;
  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** One request to the API server, as the kubeconfig says. Errors are KubeError; never holds a token in its message. */
export interface KubeClient {
  get(path: string, query: Record<string, string>): Promise<unknown>;
  mergePatch(path: string, body: unknown): Promise<void>;
  /**
   * Opens a watch; resolves once the server has accepted it, with how to end it. `ended` is called once, with the reason
   * where it is not the server's or our own regular end. A watch that says nothing for `silentMs` ends with a TimeoutError.
   */
  watch(
    path: string,
    query: Record<string, string>,
    on: { event: (type: string, object: unknown) => void; ended: (error?: unknown) => void },
    silentMs: number,
  ): Promise<() => void>;
}

/** On the transport of @kubernetes/client-node, so that every way of authentication in a kubeconfig works. */
export function kubeClient(config: KubeConfig): KubeClient {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new KubeError(0, "the kubeconfig names no current cluster; set current-context");
  const server = cluster.server.replace(/\/+$/, "");
  const http = new IsomorphicFetchHttpLibrary();

  async function send(request: RequestContext): Promise<unknown> {
    let status = 0;
    let text: string;
    try {
      await config.applySecurityAuthentication(request);
      const response = await http.send(request).toPromise();
      status = response.httpStatusCode;
      text = await response.body.text();
    } catch (error) {
      throw new KubeError(0, `no answer from ${server}: ${reasonOf(error)}`, error);
    }
    const body = parse(text);
    if (status >= 200 && status < 300 && body !== undefined) return body;
    throw new KubeError(status, word(fields(body), "message")?.slice(0, 500) ?? `HTTP ${status} from ${server}`);
  }

  return {
    async get(path, query) {
      const request = new RequestContext(`${server}${path}`, HttpMethod.GET);
      request.setHeaderParam("Accept", "application/json");
      for (const [name, value] of Object.entries(query)) request.setQueryParam(name, value);
      return await send(request);
    },
    async mergePatch(path, body) {
      const request = new RequestContext(`${server}${path}`, HttpMethod.PATCH);
      request.setHeaderParam("Accept", "application/json");
      request.setHeaderParam("Content-Type", "application/merge-patch+json");
      request.setBody(JSON.stringify(body));
      await send(request);
    },
    async watch(path, query, on, silentMs) {
      // The library fixes its silence limit at 30 s, less than the minute between two bookmarks.
      const watch = Object.assign(new Watch(config), { requestTimeoutMs: silentMs }) as Watch;
      const ended = (error: unknown) => on.ended(error ?? undefined);
      const controller: AbortController = await watch.watch(path, query, on.event, ended);
      return () => controller.abort();
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** In words, without what could hold a credential. */
export function reasonOf(error: unknown): string {
  const inner = own(fields(error), "cause") ?? (error instanceof Error ? error.cause : undefined);
  const code = word(fields(inner), "code") ?? word(fields(error), "code");
  const said = error instanceof Error ? error.message : String(error);
  return code === undefined ? said.slice(0, 300) : `${said.slice(0, 300)} (${code})`;
}

/** HTTP status of what a request or a watch failed with; 0 where there was none. */
export function statusOf(error: unknown): number {
  if (error instanceof KubeError) return error.status;
  const code = own(fields(error), "statusCode") ?? own(fields(error), "code");
  return typeof code === "number" ? code : 0;
}

/** The `code` of a Status object, as an ERROR event of a watch carries it. */
export function codeOf(status: unknown): { code: number; message: string } {
  const object = fields(status);
  const code = own(object, "code");
  return { code: typeof code === "number" ? code : 0, message: word(object, "message")?.slice(0, 500) ?? "no message" };
}

export function resourceVersionOf(object: unknown): string | undefined {
  return word(child(fields(object), "metadata"), "resourceVersion");
}
