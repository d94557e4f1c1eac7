import { type ChildProcess, spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { gitEnvironment } from "../git/run-git.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { findRepo, fullName, movedRepo } from "../model/world.ts";
import { refsMoved } from "../pulls/refs-moved.ts";
import { judgePush, mustJudge, readPush, sendRefusal } from "../rules/judged-push.ts";
import { mustHave, whoAsks } from "./auth.ts";
import { ApiFailure } from "./failure.ts";
import { acceptedRefs, commandReader } from "./receive-pack.ts";
import { READ, WRITE } from "./router.ts";

/** A clone URL given where a server's base is expected names the same repository: the part before is passed over. */
const GIT_PATH = /^\/(?:[^/]+\/[^/]+\.git\/)?([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

export interface GitRequest {
  owner: string;
  name: string;
  service: string;
}

export function gitRequest(path: string): GitRequest | undefined {
  const [, owner, name, service] = GIT_PATH.exec(path) ?? [];
  return owner === undefined || name === undefined || service === undefined ? undefined : { owner, name, service };
}

/** Git's smart HTTP protocol by `git http-backend`: requests and answers are streamed, a push is looked at on its way. */
export async function serveGit(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  asked: GitRequest,
): Promise<void> {
  const pushing = asked.service === "git-receive-pack" || url.searchParams.get("service") === "git-receive-pack";
  let repo: Repo;
  let actor: Actor;
  try {
    ({ repo, actor } = admit(world, request, asked, pushing));
  } catch (error) {
    if (!redirected(world, request, asked, url, response)) refuse(response, error);
    return;
  }
  let body: Readable;
  if (asked.service === "git-receive-pack" && (await mustJudge(repo, actor))) {
    const whole = await readPush(request);
    const refusal = await judgePush(world, repo, actor, whole);
    if (refusal !== undefined) return sendRefusal(response, refusal);
    body = Readable.from([whole]);
  } else {
    body = request.headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request;
  }
  const advertised = advertises(request, url, asked) ? ADVERTISED.get(repo) : undefined;
  if (advertised !== undefined) return sendWhole(advertised, response);
  const backend = startBackend(world, repo, actor, request, url, asked.service);
  const { stdin, stdout } = backend;
  if (stdin === null || stdout === null) return;
  response.on("close", () => backend.kill());
  body.on("error", () => backend.kill());
  stdin.on("error", () => undefined);
  if (asked.service !== "git-receive-pack") {
    body.pipe(stdin);
    if (!advertises(request, url, asked)) return await relay(stdout, response);
    return sendWhole(keepAdvertised(repo, await collect(stdout)), response);
  }
  const commands = commandReader();
  body.on("data", (chunk: Buffer) => commands.push(chunk));
  body.pipe(stdin);
  // The answer to a push is short: it is held until what follows from the push is true, so that nobody sees half of it.
  const answer = await collect(stdout);
  await refsMoved(world, repo, actor, acceptedRefs(commands.commands(), answer));
  sendWhole(answer, response);
}

/** What git said when it was first asked what it can do in its second protocol: no ref is in it, so it stays true. */
const ADVERTISED = new WeakMap<Repo, Buffer>();

function advertises(request: IncomingMessage, url: URL, asked: GitRequest): boolean {
  const reading = asked.service === "info/refs" && url.searchParams.get("service") === "git-upload-pack";
  return reading && request.headers["git-protocol"] === "version=2";
}

function keepAdvertised(repo: Repo, answer: Buffer): Buffer {
  // One that was cut off, since its caller went away, has no flush packet at its end.
  const head = parseHead(answer);
  if (head?.status === 200 && head.rest.toString("latin1").endsWith("0000")) ADVERTISED.set(repo, answer);
  return answer;
}

/** git follows where a renamed repository has gone, if its caller may see it. */
function redirected(world: World, request: IncomingMessage, asked: GitRequest, url: URL, response: ServerResponse): boolean {
  const repo = findRepo(world, asked.owner, asked.name) === undefined ? movedRepo(world, asked.owner, asked.name) : undefined;
  if (repo === undefined) return false;
  try {
    admit(world, request, { ...asked, owner: repo.owner.login, name: repo.name }, false);
  } catch {
    return false;
  }
  response.writeHead(301, { location: `${world.origin}/${fullName(repo)}.git/${asked.service}${url.search}` }).end();
  return true;
}

function admit(world: World, request: IncomingMessage, asked: GitRequest, pushing: boolean): { repo: Repo; actor: Actor } {
  const actor = whoAsks(world, request.headers.authorization);
  const repo = findRepo(world, asked.owner, asked.name);
  const anonymous = actor.kind === "anonymous";
  if (anonymous && (pushing || repo === undefined || repo.private)) throw new ApiFailure(401, "Authentication required");
  if (repo === undefined) throw new ApiFailure(404, "Repository not found.");
  mustHave(repo, actor, pushing ? WRITE("contents") : READ("contents"));
  if (pushing && repo.archived) throw new ApiFailure(403, "This repository was archived so it is read-only.");
  return { repo, actor };
}

function refuse(response: ServerResponse, error: unknown): void {
  const status = error instanceof ApiFailure ? error.status : 500;
  const message = error instanceof ApiFailure ? error.message : "The embedded GitHub has a fault.";
  const headers = status === 401 ? { "www-authenticate": 'Basic realm="GitHub"' } : {};
  response.writeHead(status, { "content-type": "text/plain", ...headers }).end(`${message}\n`);
}

function startBackend({ backend }: World, repo: Repo, actor: Actor, request: IncomingMessage, url: URL, service: string): ChildProcess {
  const protocol = String(request.headers["git-protocol"] ?? "");
  return spawn(backend, [], {
    stdio: ["pipe", "pipe", "ignore"],
    env: gitEnvironment({
      GIT_PROJECT_ROOT: repo.git.dir,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: `/${service}`,
      REQUEST_METHOD: request.method ?? "GET",
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: String(request.headers["content-type"] ?? ""),
      REMOTE_USER: actor.user.login,
      REMOTE_ADDR: "127.0.0.1",
      ...(protocol === "" ? {} : { GIT_PROTOCOL: protocol, HTTP_GIT_PROTOCOL: protocol }),
    }),
  });
}

interface CgiHead {
  status: number;
  headers: Record<string, string>;
  rest: Buffer;
}

/** The head of a CGI answer, once it is all there. */
function parseHead(data: Buffer): CgiHead | undefined {
  const end = data.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const headers: Record<string, string> = {};
  let status = 200;
  for (const line of data.toString("latin1", 0, end).split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "status") status = Number.parseInt(value, 10);
    else headers[name] = value;
  }
  return { status, headers, rest: data.subarray(end + 4) };
}

async function relay(stdout: Readable, response: ServerResponse): Promise<void> {
  let data: Buffer = Buffer.alloc(0);
  let started = false;
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    if (started) {
      if (!response.write(chunk)) await drained(response);
      continue;
    }
    data = Buffer.concat([data, chunk]);
    const head = parseHead(data);
    if (head === undefined) continue;
    started = true;
    response.writeHead(head.status, head.headers);
    if (head.rest.length > 0) response.write(head.rest);
  }
  if (!started) response.writeHead(500);
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

async function collect(stdout: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdout as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function sendWhole(answer: Buffer, response: ServerResponse): void {
  const head = parseHead(answer);
  if (head === undefined) {
    response.writeHead(500).end();
    return;
  }
  response.writeHead(head.status, head.headers).end(head.rest);
}
