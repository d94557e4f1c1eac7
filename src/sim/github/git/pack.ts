/**
 * What `fetch` of git's second protocol is answered with, made without a process: small steps on top of what the asker has. Anything else (a shallow
 * clone, another filter, a first clone) is for git itself.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { BareRepo } from "./bare-repo.ts";
import type { CommitObject } from "./objects.ts";
import { readTree } from "./trees.ts";

const compress = promisify(deflate);

const NUMBERS = { commit: 1, tree: 2, blob: 3 } as const;
/** Of what else a request says. */
const KNOWN = /^(thin-pack|ofs-delta|no-progress|include-tag|done|filter blob:(none|limit=\d+m))$/;
/** A pack of more objects is git's to make. */
const MOST_OBJECTS = 2000;
const PIECE = 65_515;

interface Packed {
  type: keyof typeof NUMBERS;
  content: Buffer;
}

/** The answer to the lines of a request; undefined: it is not one that is answered here. */
export async function fetchAnswer(repo: BareRepo, lines: readonly string[]): Promise<Buffer | undefined> {
  const of = (word: string) => lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const [wants, haves] = [of("want"), of("have")];
  const others = lines.filter((line) => !/^(want|have) [0-9a-f]{40}$|^(command=fetch|agent=\S+|object-format=sha1)$/.test(line));
  const plain = others.every((line) => KNOWN.test(line));
  if (!plain || !others.includes("done") || others.includes("include-tag")) return undefined;
  const limit = /^filter blob:(?:none|limit=(\d+)m)$/m.exec(others.join("\n"));
  const most = limit === null ? Number.POSITIVE_INFINITY : Number(limit[1] ?? 0) * 1024 * 1024;
  const objects = haves.length === 0 ? await blobs(repo, wants) : await missing(repo, { wants, haves, most });
  if (objects === undefined) return undefined;
  const pack = await packOf(objects);
  const packets = [packet("packfile\n")];
  for (let at = 0; at < pack.length; at += PIECE) packets.push(packet(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + PIECE)])));
  return Buffer.concat([...packets, Buffer.from("0000")]);
}

/** Contents of files that are asked for by themselves. undefined: not all of them are some. */
async function blobs(repo: BareRepo, wants: readonly string[]): Promise<Packed[] | undefined> {
  const read = await Promise.all(wants.map((id) => repo.cat.contents(id)));
  const found = read.flatMap((one): Packed[] => (one?.type === "blob" ? [{ type: "blob", content: one.content }] : []));
  return found.length === wants.length ? found : undefined;
}

/** Objects that the wanted commits need and those that are had, or the parents of what is sent, do not. undefined: too many, or not all are commits. */
async function missing(
  repo: BareRepo,
  { wants, haves, most }: { wants: readonly string[]; haves: readonly string[]; most: number },
): Promise<Packed[] | undefined> {
  const had = await commitsBelow(repo, haves);
  const found = new Map<string, Packed>();

  async function take(id: string): Promise<Packed | undefined> {
    const read = await repo.cat.contents(id);
    const known = read !== undefined && read.type in NUMBERS ? { type: read.type as Packed["type"], content: read.content } : undefined;
    if (known !== undefined && !(known.type === "blob" && known.content.length >= most)) found.set(id, known);
    return known;
  }
  /** Below this tree what is not below one of these. One that was taken already may have been so beside others. */
  async function takeTree(id: string, besides: readonly string[]): Promise<void> {
    if (besides.includes(id)) return;
    if (!found.has(id)) await take(id);
    const there = await Promise.all(besides.map((one) => readTree(repo.cat, one)));
    for (const { name, mode, sha } of (await readTree(repo.cat, id)) ?? []) {
      const same = there.flatMap((entries) => entries?.find((entry) => entry.name === name)?.sha ?? []);
      if (mode === "40000") await takeTree(sha, same);
      else if (mode !== "160000" && !same.includes(sha) && !found.has(sha)) await take(sha);
    }
  }

  for (const queue = [...wants]; queue.length > 0; ) {
    const id = queue.shift() ?? "";
    if (had.has(id) || found.has(id)) continue;
    const commit = await commitOf(repo, id);
    if (commit === undefined || found.size > MOST_OBJECTS) return undefined;
    await take(id);
    const parents = await Promise.all(commit.parents.map((parent) => commitOf(repo, parent)));
    await takeTree(
      commit.tree,
      parents.flatMap((parent) => parent?.tree ?? []),
    );
    queue.push(...commit.parents);
  }
  return [...found.values()];
}

/** Of each repository: its history is walked with every fetch. */
const READ = new WeakMap<BareRepo, Map<string, CommitObject>>();

async function commitOf(repo: BareRepo, id: string): Promise<CommitObject | undefined> {
  const read = READ.get(repo) ?? new Map<string, CommitObject>();
  READ.set(repo, read);
  const commit = read.get(id) ?? (await repo.commit(id));
  if (commit !== undefined) read.set(id, commit);
  return commit;
}

async function commitsBelow(repo: BareRepo, haves: readonly string[]): Promise<Set<string>> {
  const had = new Set<string>();
  for (const queue = [...haves]; queue.length > 0; ) {
    const id = queue.shift() ?? "";
    const commit = had.has(id) ? undefined : await commitOf(repo, id);
    if (commit === undefined) continue;
    had.add(id);
    queue.push(...commit.parents);
  }
  return had;
}

async function packOf(objects: readonly Packed[]): Promise<Buffer> {
  const head = Buffer.alloc(12);
  head.write("PACK");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [head];
  for (const { type, content } of objects) parts.push(entryHead(NUMBERS[type], content.length), await compress(content, { level: 1 }));
  const body = Buffer.concat(parts);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

/** Type and length: four bits of the length in the first byte, seven in each that follows. */
function entryHead(type: number, length: number): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(length / 16);
  bytes.push((type << 4) | (length % 16) | (rest > 0 ? 128 : 0));
  for (; rest > 0; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | (rest >= 128 ? 128 : 0));
  return Buffer.from(bytes);
}

export function packet(text: Buffer | string): Buffer {
  const data = Buffer.from(text);
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, "0")), data]);
}
