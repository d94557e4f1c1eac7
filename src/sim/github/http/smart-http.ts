import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { fetchAnswer } from "../git/pack.ts";
import { runGit } from "../git/run-git.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { findRepo, fullName, movedRepo } from "../model/world.ts";
import { refsMoved } from "../pulls/refs-moved.ts";
import { judgePush } from "../rules/judged-push.ts";
import { mustHave, whoAsks } from "./auth.ts";
import { ApiFailure } from "./failure.ts";
import { acceptedRefs, commandReader } from "./receive-pack.ts";
import { advertise, listRefs, packets } from "./ref-listing.ts";
import { READ, WRITE } from "./router.ts";

/** A clone URL given where a server's base is expected names the same repository: the part before is passed over. */
const GIT_PATH = /^\/(?:[^/]+\/[^/]+\.git\/)?([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

interface GitRequest {
  owner: string;
  name: string;
  service: string;
}

export function gitRequest(path: string): GitRequest | undefined {
  const [, owner, name, service] = GIT_PATH.exec(path) ?? [];
  return owner === undefined || name === undefined || service === undefined ? undefined : { owner, name, service };
}

/**
 * Git's smart HTTP protocol. Refs are listed from the disk (ref-listing.ts); packs are made and taken by git, each
 * request and answer whole, and a push is looked at before it is taken.
 */
export async function serveGit(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  asked: GitRequest,
): Promise<void> {
  const fault = await world.faults.git?.({ repository: `${asked.owner}/${asked.name}`, service: asked.service });
  if (fault !== undefined) return void response.writeHead(fault.status, { "content-type": "text/plain" }).end(String(fault.body ?? ""));
  const service = asked.service === "info/refs" ? url.searchParams.get("service") : asked.service;
  let repo: Repo;
  let actor: Actor;
  try {
    ({ repo, actor } = admit(world, request, asked, service === "git-receive-pack"));
  } catch (error) {
    if (!redirected(world, request, asked, url, response)) refuse(response, error);
    return;
  }
  // Only the smart protocol is spoken.
  if (service !== "git-upload-pack" && service !== "git-receive-pack") return refuse(response, new ApiFailure(403, "Please upgrade git."));
  const protocol = String(request.headers["git-protocol"] ?? "");
  if (asked.service === "info/refs") return send(response, `${service}-advertisement`, await advertise(repo, service, protocol));
  const body = await wholeBody(request);
  const answer = service === "git-receive-pack" ? await takePush(world, repo, actor, body) : await givePack(repo, body, protocol, response);
  send(response, `${service}-result`, answer);
}

async function takePush(world: World, repo: Repo, actor: Actor, body: Buffer): Promise<Buffer> {
  const refusal = await judgePush(world, repo, actor, body);
  if (refusal !== undefined) return refusal;
  const who = { GIT_COMMITTER_NAME: actor.user.login, GIT_COMMITTER_EMAIL: `${actor.user.login}@http.127.0.0.1` };
  const { stdout } = await runGit(repo.git.dir, ["receive-pack", "--stateless-rpc", "."], body, { env: who });
  const commands = commandReader();
  commands.push(body);
  // Answered when what follows from the push is true, so that nobody sees half of it.
  await refsMoved(world, repo, actor, acceptedRefs(commands.commands(), stdout));
  return stdout;
}

async function givePack(repo: Repo, body: Buffer, protocol: string, response: ServerResponse): Promise<Buffer | string> {
  const listed = protocol === "version=2" ? await listRefs(repo, body) : undefined;
  if (listed !== undefined) return listed;
  const lines = packets(body).map((line) => line.trimEnd());
  const answer = protocol === "version=2" ? await fetchAnswer(repo.git, lines) : undefined;
  if (answer !== undefined) return answer;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const more = { env: protocol === "" ? {} : { GIT_PROTOCOL: protocol }, stop: gone.signal };
  return (await runGit(repo.git.dir, ["upload-pack", "--stateless-rpc", "."], body, more)).stdout;
}

async function wholeBody(request: IncomingMessage): Promise<Buffer> {
  return await buffer(request.headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request);
}

function send(response: ServerResponse, type: string, answer: Buffer | string): void {
  response.writeHead(200, { "content-type": `application/x-${type}`, "cache-control": "no-cache" }).end(answer);
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
