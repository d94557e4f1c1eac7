import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** Smart HTTP over `git http-backend`, for tests only: enough of CGI for git's own client, with Basic authentication. */
export interface GitServer {
  url: string;
  /** Authorization headers seen, in order. */
  authorizations: (string | undefined)[];
  close(): Promise<void>;
}

/**
 * Serves the repositories below `root`; with `password` only to who has it. `status` answers every request with it, `listing` what is not git
 * itself.
 */
export async function serveGit(
  root: string,
  options: { password?: string; status?: number; location?: string; listing?: string; onRequest?: () => void } = {},
): Promise<GitServer> {
  const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  const authorizations: (string | undefined)[] = [];
  const expected = `Basic ${Buffer.from(`x-access-token:${options.password}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    authorizations.push(authorization);
    options.onRequest?.();
    if (options.status !== undefined) {
      response.writeHead(options.status, options.location === undefined ? {} : { location: `${options.location}${request.url}` }).end();
    } else if (options.password !== undefined && authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    } else if (options.listing !== undefined && request.headers["user-agent"] === "git/stagecoach") {
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).end(options.listing);
    } else {
      forward(backend, root, request, response);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authorizations,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(backend: string, root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://x");
  const child = spawn(backend, {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "http.receivepack",
      GIT_CONFIG_VALUE_0: "true",
      HOME: root,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined);
  let head = Buffer.alloc(0);
  let begun = false;
  child.stdout.on("data", (chunk: Buffer) => {
    if (begun) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    begun = true;
    const lines = head
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(": "));
    const status = lines.find(([name]) => name === "Status")?.[1];
    for (const [name = "", value = ""] of lines) if (name !== "Status") response.setHeader(name, value);
    response.statusCode = status === undefined ? 200 : Number.parseInt(status, 10);
    response.write(head.subarray(end + 4));
  });
  child.once("close", () => response.end());
}
