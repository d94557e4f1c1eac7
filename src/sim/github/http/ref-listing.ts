/**
 * What git's smart HTTP protocol says of refs, answered from the disk without a process: the listing that begins each
 * conversation, and `ls-refs` of the second protocol. What git itself can do it is asked once for each repository.
 */
import type { CatFile } from "../git/cat-file.ts";
import { type RefsOnDisk, readRefs } from "../git/refs.ts";
import { runGit } from "../git/run-git.ts";
import type { Repo } from "../model/model.ts";

type Service = "git-upload-pack" | "git-receive-pack";

const FLUSH = "0000";

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
}

/** The answer to `GET info/refs?service=…`. */
export async function advertise(repo: Repo, service: Service, protocol: string): Promise<string> {
  const head = `${packet(`# service=${service}\n`)}${FLUSH}`;
  const reading = service === "git-upload-pack";
  if (reading && protocol === "version=2") return head + (await ableTo(repo, service, protocol)).toString();
  const [first = ""] = packets(await ableTo(repo, service, ""));
  const able = first.slice(first.indexOf("\0") + 1).trim();
  const listed = readRefs(repo.git.dir);
  return head + (reading ? await readable(repo, listed, able) : writable(listed, able));
}

/** The answer to a request of the second protocol that asks for refs; undefined: it asks for something else. */
export async function listRefs(repo: Repo, body: Buffer): Promise<string | undefined> {
  if (!body.toString("latin1", 4, 20).startsWith("command=ls-refs")) return undefined;
  const asked = packets(body).map((line) => line.trimEnd());
  const prefixes = asked.flatMap((line) => (line.startsWith("ref-prefix ") ? [line.slice("ref-prefix ".length)] : []));
  const wanted = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
  const { head, refs } = readRefs(repo.git.dir);
  const [peel, symrefs] = [asked.includes("peel"), asked.includes("symrefs")];
  const lines: string[] = [];
  const at = refs.get(head);
  if (wanted("HEAD") && at !== undefined) lines.push(`${at} HEAD${symrefs ? ` symref-target:${head}` : ""}`);
  if (wanted("HEAD") && at === undefined && asked.includes("unborn")) lines.push(`unborn HEAD${symrefs ? ` symref-target:${head}` : ""}`);
  for (const [name, id] of refs) {
    if (!wanted(name)) continue;
    const peeled = peel ? await peeledTag(repo.git.cat, name, id) : undefined;
    lines.push(`${id} ${name}${peeled === undefined ? "" : ` peeled:${peeled}`}`);
  }
  return lines.map((line) => packet(`${line}\n`)).join("") + FLUSH;
}

async function readable(repo: Repo, { head, refs }: RefsOnDisk, able: string): Promise<string> {
  const at = refs.get(head);
  const rest = able.replace(/ ?symref=\S+/g, "");
  const lines = at === undefined ? [] : [`${at} HEAD`];
  for (const [name, id] of refs) {
    lines.push(`${id} ${name}`);
    const peeled = await peeledTag(repo.git.cat, name, id);
    if (peeled !== undefined) lines.push(`${peeled} ${name}^{}`);
  }
  return inFirstProtocol(lines, at === undefined ? rest : `${rest} symref=HEAD:${head}`);
}

/** Nobody may push to the refs of pull requests: they are not shown to who pushes. */
function writable({ refs }: RefsOnDisk, able: string): string {
  const lines = [...refs].filter(([name]) => !name.startsWith("refs/pull/")).map(([name, id]) => `${id} ${name}`);
  return inFirstProtocol(lines, able);
}

function inFirstProtocol(lines: readonly string[], able: string): string {
  const [first = `${"0".repeat(40)} capabilities^{}`, ...rest] = lines;
  return packet(`${first}\0${able}\n`) + rest.map((line) => packet(`${line}\n`)).join("") + FLUSH;
}

/** Of an annotated tag: the object it means in the end. */
async function peeledTag(cat: CatFile, name: string, id: string): Promise<string | undefined> {
  if (!name.startsWith("refs/tags/")) return undefined;
  const peeled = (await cat.info(`${id}^{}`))?.sha;
  return peeled === id ? undefined : peeled;
}

/** Texts of the packets in an answer or a request; flushes and delimiters are left out. */
export function packets(data: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at + 4 <= data.length; ) {
    const length = Number.parseInt(data.toString("latin1", at, at + 4), 16);
    if (length > 4) found.push(data.toString("utf8", at + 4, at + length));
    at += Math.max(4, length || 4);
  }
  return found;
}

/** What git says it can do: nothing of it changes as long as the repository lives. */
const ABLE = new WeakMap<Repo, Map<string, Promise<Buffer>>>();

function ableTo(repo: Repo, service: Service, protocol: string): Promise<Buffer> {
  const known = ABLE.get(repo) ?? new Map<string, Promise<Buffer>>();
  ABLE.set(repo, known);
  const key = `${service} ${protocol}`;
  let answer = known.get(key);
  if (answer === undefined) {
    answer = askGit(repo, service, protocol);
    known.set(key, answer);
    answer.catch(() => known.delete(key));
  }
  return answer;
}

async function askGit(repo: Repo, service: Service, protocol: string): Promise<Buffer> {
  const program = service.slice("git-".length);
  const env = protocol === "" ? {} : { GIT_PROTOCOL: protocol };
  const { code, stdout, stderr } = await runGit(repo.git.dir, [program, "--http-backend-info-refs", "."], "", { env });
  if (code !== 0) throw new Error(`git ${program} ended with ${code}: ${stderr.trim()}`);
  return stdout;
}
