import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { KubeObject } from "../../kubernetes/types.ts";
import { requestUrl } from "../../listen.ts";
import { grpcError, send, sendError } from "./answers.ts";
import { getApplication, listApplications, streamApplications } from "./applications.ts";
import type { ApiParts, Call } from "./parts.ts";
import { type ApiAccount, authenticate, enforce, may } from "./rbac.ts";
import { getActions, getManaged, getManifests, getResource, getTree, postAction } from "./resources.ts";
import { type RolloutsBackend, storedRollouts } from "./rollouts.ts";
import { generateSet, getSet, listSets, streamSets } from "./sets.ts";
import { createStreams } from "./streams.ts";
import { postSync } from "./sync.ts";
import { getSyncWindows } from "./windows.ts";

/*
 * An embedded Argo CD API server, over the objects of an embedded Kubernetes API.
 * ../../README.md says what it does and does not do.
 */

interface ArgoApiOptions extends Omit<ApiParts, "streams" | "rollouts"> {
  rollouts?: RolloutsBackend;
  /** Of the account that may do everything; default: a random one. */
  token?: string | undefined;
}

export interface ArgoApi {
  token: string;
  /** Answers what is under `/api/v1/`; false: it is for somebody else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** An account with these lines of policy (`p, NAME, applications, get, default/x, allow`); returns its token. */
  addAccount(name: string, policies: readonly string[], token?: string): string;
  faults: {
    /** Cuts every open stream. */
    dropStreams(): void;
    /** Streams stay open and say nothing while it is on. */
    silenceStreams(silent: boolean): void;
    /** Changes of which this holds are never told by an open stream, and everything else is; null: all are told. */
    loseEvents(which: ((object: KubeObject) => boolean) | null): void;
    /** This token is no longer good. */
    expireToken(token: string): void;
    /** Every connection is cut at once while it is on. */
    down(down: boolean): void;
  };
  openStreams(): number;
  /** How often each `METHOD route` was asked. */
  requests(): ReadonlyMap<string, number>;
}

type Handler = (call: Call) => void | Promise<void>;

function getClusters(call: Call): void {
  const items = call.clusters().filter(({ server }) => may(call.account, "clusters", "get", server));
  send(call.response, 200, { metadata: {}, items });
}

function getProject(call: Call): void {
  const [name = ""] = call.names;
  enforce(call.account, "projects", "get", name);
  const found = call.store.get("appprojects", call.namespace, name);
  if (found === undefined) throw grpcError(5, `appprojects.argoproj.io "${name}" not found`);
  send(call.response, 200, found);
}

function canI(call: Call): void {
  const [resource = "", action = "", object = ""] = call.names;
  send(call.response, 200, { value: may(call.account, resource, action, object) ? "yes" : "no" });
}

const ROUTES: readonly [method: string, path: string, handler: Handler][] = [
  ["GET", "/api/v1/applications", listApplications],
  ["GET", "/api/v1/applications/{}", getApplication],
  ["GET", "/api/v1/applications/{}/syncwindows", getSyncWindows],
  ["GET", "/api/v1/applications/{}/resource-tree", getTree],
  ["GET", "/api/v1/applications/{}/managed-resources", getManaged],
  ["GET", "/api/v1/applications/{}/manifests", getManifests],
  ["GET", "/api/v1/applications/{}/resource", getResource],
  ["GET", "/api/v1/applications/{}/resource/actions", getActions],
  ["POST", "/api/v1/applications/{}/resource/actions/v2", postAction],
  ["POST", "/api/v1/applications/{}/sync", postSync],
  ["GET", "/api/v1/stream/applications", streamApplications],
  ["GET", "/api/v1/applicationsets", listSets],
  ["POST", "/api/v1/applicationsets/generate", generateSet],
  ["GET", "/api/v1/applicationsets/{}", getSet],
  ["GET", "/api/v1/stream/applicationsets", streamSets],
  ["GET", "/api/v1/clusters", getClusters],
  ["GET", "/api/v1/projects/{}", getProject],
  ["GET", "/api/v1/account/can-i/{}/{}/{*}", canI],
  [
    "GET",
    "/api/v1/session/userinfo",
    ({ account, response }) => send(response, 200, { loggedIn: true, username: account.name, iss: "argocd" }),
  ],
];

const COMPILED = ROUTES.map(([method, path, handler]) => {
  const pattern = new RegExp(`^${path.replaceAll("{*}", "(.+)").replaceAll("{}", "([^/]+)")}$`);
  return { method, path, pattern, handler };
});

function routeOf(method: string | undefined, pathname: string): { path: string; handler: Handler; names: string[] } {
  for (const { method: wanted, path, pattern, handler } of COMPILED) {
    const match = method === wanted ? pattern.exec(pathname) : null;
    if (match !== null) return { path, handler, names: match.slice(1).map(decodeURIComponent) };
  }
  throw grpcError(5, "Not Found");
}

export function createArgoApi(options: ArgoApiOptions): ArgoApi {
  const { token = randomBytes(24).toString("base64url"), rollouts = storedRollouts(options.store), ...given } = options;
  const streams = createStreams(options.store);
  const parts: ApiParts = { ...given, rollouts, streams };
  const accounts = new Map<string, ApiAccount>([[token, { name: "admin" }]]);
  const counts = new Map<string, number>();
  let isDown = false;

  async function answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const account = authenticate(accounts, request.headers.authorization);
    const { path, handler, names } = routeOf(request.method, url.pathname);
    counts.set(`${request.method} ${path}`, (counts.get(`${request.method} ${path}`) ?? 0) + 1);
    await handler({ ...parts, account, request, response, query: url.searchParams, names });
  }

  return {
    token,
    handle(request, response) {
      const url = requestUrl(request);
      if (isDown) {
        request.socket.destroy();
        return true;
      }
      if (!url.pathname.startsWith("/api/v1/")) return false;
      answer(request, response, url).catch((error: unknown) => sendError(response, error));
      return true;
    },
    addAccount(name, policies, wanted = randomBytes(24).toString("base64url")) {
      accounts.set(wanted, { name, policies });
      return wanted;
    },
    faults: {
      dropStreams: streams.drop,
      silenceStreams: streams.silence,
      loseEvents: streams.lose,
      expireToken(old) {
        const account = accounts.get(old);
        if (account !== undefined) accounts.set(old, { ...account, expired: true });
      },
      down(down) {
        isDown = down;
        if (down) streams.drop();
      },
    },
    openStreams: streams.size,
    requests: () => counts,
  };
}
