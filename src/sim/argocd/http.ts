import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { defined } from "../../core/base/defined.ts";
import { bodyWithin, requestUrl } from "../listen.ts";
import type { Push } from "./git/push.ts";

export interface ConnectionInfo {
  name: string;
  server: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  project: string;
  info: {
    connectionState: { status: "Successful" | "Failed" | "Unknown"; message: string; attemptedAt: string };
    applicationsCount: number;
  };
}

interface HttpParts {
  /** Where set, a push counts only with GitHub's signature over it. */
  secret?: string | undefined;
  push(push: Push): void;
  /** The REST API; false: the request is not for it. */
  api(request: IncomingMessage, response: ServerResponse): boolean;
  /** Pages for a browser; false: a program asks, or for something else. */
  pages(request: IncomingMessage, response: ServerResponse): boolean;
  /** Serves TLS with it. */
  certificate?: { cert: string; key: string } | undefined;
}

const MAX_BODY = 50 * 1024 * 1024;

interface GitHubPush {
  ref?: string;
  repository?: { html_url?: string; clone_url?: string; ssh_url?: string; git_url?: string; default_branch?: string };
  commits?: { added?: string[]; modified?: string[]; removed?: string[] }[];
}

function signed(secret: string, body: Buffer, header: string | string[] | undefined): boolean {
  const wanted = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(String(header ?? ""));
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

function readPush(body: Buffer): Push | undefined {
  let event: GitHubPush;
  try {
    event = JSON.parse(body.toString("utf8")) as GitHubPush;
  } catch {
    return undefined;
  }
  const { ref, repository, commits = [] } = event;
  if (ref === undefined || repository === undefined) return undefined;
  const { html_url, clone_url, ssh_url, git_url, default_branch } = repository;
  const repoURLs = [html_url, clone_url, ssh_url, git_url].filter((url) => url !== undefined);
  const changed = commits.flatMap(({ added = [], modified = [], removed = [] }) => [...added, ...modified, ...removed]);
  // Without commits nothing is known of the files: a branch that was created, or moved back.
  return defined({
    repoURLs,
    ref,
    defaultBranch: default_branch,
    changed: commits.length === 0 ? undefined : changed,
  });
}

function send(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function webhook(parts: HttpParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyWithin(request, MAX_BODY);
  if (body === undefined) return send(response, 400, { error: "the payload is too large" });
  if (parts.secret !== undefined && !signed(parts.secret, body, request.headers["x-hub-signature-256"])) {
    return send(response, 400, { error: "HMAC verification failed" });
  }
  const event = request.headers["x-github-event"];
  if (event === undefined) return send(response, 400, { error: "Unknown webhook event" });
  if (event !== "push") return send(response, 200, {});
  const push = readPush(body);
  if (push === undefined) return send(response, 400, { error: "the payload is no push event" });
  parts.push(push);
  return send(response, 200, {});
}

/** `/api/webhook` for both controllers at once, and the REST API. */
export function createArgoServer(parts: HttpParts): Server {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (parts.api(request, response) || parts.pages(request, response)) return;
    const { pathname } = requestUrl(request);
    if (pathname === "/api/webhook" && request.method === "POST") {
      webhook(parts, request, response).catch(() => response.destroy());
      return;
    }
    if (pathname === "/healthz") return send(response, 200, "ok");
    return send(response, 404, { error: "Not Found", code: 5, message: "Not Found" });
  };
  return parts.certificate === undefined ? createServer(answer) : createSecureServer(parts.certificate, answer);
}
