import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { bodyWithin, requestUrl } from "../listen.ts";
import { ApiError, badRequest, notFound, statusBody } from "./api-error.ts";
import { type Account, authenticate, authorize, type Verb } from "./auth.ts";
import type { Lister } from "./list.ts";
import { jsonPatch, mergePatch } from "./patch.ts";
import { checkRequired } from "./required.ts";
import { type Route, routeOf } from "./routes.ts";
import type { Store } from "./store.ts";
import { apiVersionOf, type KubeObject, type Resource } from "./types.ts";
import { textOf, type WatchHub } from "./watch.ts";

const MAX_BODY = 16 * 1024 * 1024;

interface ServerParts {
  store: Store;
  lister: Lister;
  watches: WatchHub;
  accounts: ReadonlyMap<string, Account>;
  /** Called for each request after it was let in. */
  onRequest: (verb: Verb, resource: Resource) => void;
  /** While true every connection is cut. */
  isDown?: () => boolean;
  /** Serves TLS with it. */
  certificate?: { cert: string; key: string } | undefined;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const body = await bodyWithin(request, MAX_BODY);
  if (body === undefined) throw new ApiError(413, "RequestEntityTooLarge", `a body may have ${MAX_BODY} bytes`);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    throw badRequest("the body is no JSON");
  }
}

/** The object of a create or update, with what the path says filled in; throws 400 where the two disagree. */
function objectOf(body: unknown, resource: Resource, namespace: string, name?: string): KubeObject {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw badRequest("the body is no object");
  const given = body as Partial<KubeObject>;
  const metadata = { ...given.metadata, name: given.metadata?.name ?? name ?? "" };
  if (metadata.name === "") throw new ApiError(422, "Invalid", `${resource.kind} is invalid: metadata.name: Required value`);
  if (name !== undefined && metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) is not the one of the URL (${name})`);
  if (resource.namespaced) {
    metadata.namespace ??= namespace;
    if (metadata.namespace !== namespace)
      throw badRequest(`the namespace of the object (${metadata.namespace}) is not the one of the URL (${namespace})`);
  }
  return { ...given, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { ...metadata } };
}

function patched(old: KubeObject, contentType: string, patch: unknown): unknown {
  if (contentType.startsWith("application/json-patch+json")) return jsonPatch(old, patch);
  if (contentType.startsWith("application/merge-patch+json")) return mergePatch(old, patch);
  throw new ApiError(
    415,
    "UnsupportedMediaType",
    `the body of a patch is application/merge-patch+json or application/json-patch+json, not ${contentType}`,
  );
}

function verbOf(method: string, route: Exclude<Route, { kind: "document" }>, query: URLSearchParams): Verb {
  if (route.kind === "collection") {
    if (method === "GET") return /^(true|1)$/.test(query.get("watch") ?? "") ? "watch" : "list";
    if (method === "POST") return "create";
  } else {
    if (method === "GET") return "get";
    if (method === "PUT") return "update";
    if (method === "PATCH") return "patch";
    if (method === "DELETE") return "delete";
  }
  throw new ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

function found(store: Store, resource: Resource, namespace: string, name: string): KubeObject {
  const object = store.get(resource.plural, namespace, name);
  if (object === undefined) throw notFound(resource.plural, name);
  return object;
}

function send(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

function valid(object: KubeObject): KubeObject {
  checkRequired(object);
  return object;
}

async function patchObject(store: Store, route: Extract<Route, { kind: "object" }>, request: IncomingMessage): Promise<KubeObject> {
  const { resource, namespace, name } = route;
  const patch = await bodyOf(request);
  const old = found(store, resource, namespace, name);
  const next = objectOf(patched(old, request.headers["content-type"] ?? "", patch), resource, namespace, name);
  // An object that came into the store by another way may lack fields: a patch that leaves its spec alone is none the worse for it.
  return store.update(next["spec"] === old["spec"] ? next : valid(next));
}

async function answer(
  { store, lister, watches, accounts, onRequest }: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = requestUrl(request);
  const account = authenticate(accounts, request.headers.authorization);
  const route = routeOf(url.pathname);
  if (route.kind === "document") return send(response, 200, typeof route.body === "string" ? route.body : JSON.stringify(route.body));
  const { resource, namespace } = route;
  const verb = verbOf(request.method ?? "GET", route, url.searchParams);
  const name = route.kind === "object" ? route.name : undefined;
  authorize(account, { verb, resource, namespace: namespace === "" ? undefined : namespace, name });
  onRequest(verb, resource);
  if (verb === "watch") return watches.open(resource, namespace, url.searchParams, response);
  if (verb === "list") {
    const { items, ...head } = lister.list(resource, namespace, url.searchParams);
    return send(response, 200, `${JSON.stringify(head).slice(0, -1)},"items":[${items.map(textOf).join(",")}]}`);
  }
  if (verb === "create") return send(response, 201, textOf(store.create(valid(objectOf(await bodyOf(request), resource, namespace)))));
  if (name === undefined || route.kind !== "object") throw badRequest("this needs the name of an object");
  if (verb === "get") return send(response, 200, textOf(found(store, resource, namespace, name)));
  if (verb === "update")
    return send(response, 200, textOf(store.update(valid(objectOf(await bodyOf(request), resource, namespace, name)))));
  if (verb === "patch") return send(response, 200, textOf(await patchObject(store, route, request)));
  return send(response, 200, textOf(store.delete(resource.plural, namespace, name)));
}

export function createApiServer(parts: ServerParts): Server {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (parts.isDown?.() === true) {
      request.socket.destroy();
      return;
    }
    answer(parts, request, response).catch((error: unknown) => {
      const refusal = error instanceof ApiError ? error : new ApiError(500, "InternalError", String(error));
      if (response.headersSent) response.destroy();
      else send(response, refusal.code, JSON.stringify(statusBody(refusal)));
    });
  };
  return parts.certificate === undefined ? createServer(listener) : createSecureServer(parts.certificate, listener);
}
