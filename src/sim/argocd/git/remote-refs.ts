import { isAbsolute } from "node:path";
import { countAsCommand } from "../../../adapters/git/launch/launcher.ts";
import { readRefs } from "../../github/git/refs.ts";

/** Branches and tags of a remote by full name, an annotated tag as the commit it means, and the branch that HEAD names. */
interface RemoteRefs {
  refs: Map<string, string>;
  head: string | undefined;
}

interface Asked {
  url: string;
  token: string | undefined;
  signal: AbortSignal;
}

/** Reads what `ls-remote --symref` prints. */
export function parseRefs(output: string): RemoteRefs {
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of output.split("\n")) {
    const [what = "", name = ""] = line.split("\t");
    if (name === "HEAD") head ??= /^ref: refs\/heads\/(.+)$/.exec(what)?.[1];
    else note(refs, name, what);
  }
  return { refs, head };
}

/** Full name → commit, of what `for-each-ref` prints. */
export function parseLocal(output: string): Map<string, string> {
  const lines = output.split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split(" ")).map(([name = "", oid = "", peeled = ""]) => [name, peeled || oid]));
}

/**
 * Lists a remote's refs by the one request that begins each conversation over HTTP, as its repo server does, or from the disk: a third of what
 * worlds start git for is this. undefined: it is neither, or did not answer well, and git says why.
 */
export async function askRefs(asked: Asked): Promise<RemoteRefs | undefined> {
  if (isAbsolute(asked.url)) return onDisk(asked.url);
  if (!/^https?:/.test(asked.url)) return undefined;
  return await countAsCommand(overHttp(asked)).catch(() => undefined);
}

async function overHttp({ url, token, signal }: Asked): Promise<RemoteRefs | undefined> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Basic ${btoa(`x-access-token:${token}`)}` };
  const answer = await fetch(`${url}/info/refs?service=git-upload-pack`, { headers, signal, redirect: "error" });
  const body = Buffer.from(await answer.arrayBuffer());
  const isListing = answer.headers.get("content-type") === "application/x-git-upload-pack-advertisement";
  return answer.status === 200 && isListing ? parseListing(body) : undefined;
}

/** Of a bare repository without tags, which may be objects of their own. */
function onDisk(dir: string): RemoteRefs | undefined {
  const { head, refs } = readRefs(dir);
  const names = [...refs.keys()];
  if (head === "" || names.some((name) => name.startsWith("refs/tags/"))) return undefined;
  const listed: RemoteRefs = { refs: new Map(), head: /^refs\/heads\/(.+)$/.exec(head)?.[1] };
  for (const [name, id] of refs) note(listed.refs, name, id);
  return listed;
}

/** Of the first protocol: a length of four digits before each line, and behind the first ref what the server can do. */
function parseListing(body: Buffer): RemoteRefs {
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (let at = 0; at + 4 <= body.length; ) {
    const length = Number.parseInt(body.toString("latin1", at, at + 4), 16);
    const [line = "", able] = body.toString("utf8", at + 4, at + Math.max(4, length)).split("\0");
    head ??= /(?:^| )symref=HEAD:refs\/heads\/(\S+)/.exec(able ?? "")?.[1];
    note(refs, line.slice(41).trimEnd(), line.slice(0, 40));
    at += Math.max(4, length);
  }
  return { refs, head };
}

/** Peeled tags come as a line of their own after the tag's: they win. */
function note(refs: Map<string, string>, name: string, commit: string): void {
  if (/^refs\/(heads|tags)\//.test(name)) refs.set(name.replace(/\^\{\}$/, ""), commit);
}
