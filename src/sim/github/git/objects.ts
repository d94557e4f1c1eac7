import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";

const compress = promisify(deflate);

/** Writes one loose object, as git would, and gives its id. Costs no process. */
export async function writeObject(dir: string, type: "blob" | "tree" | "commit", content: Buffer): Promise<string> {
  const data = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const sha = createHash("sha1").update(data).digest("hex");
  const folder = join(dir, "objects", sha.slice(0, 2));
  const path = join(folder, sha.slice(2));
  if (existsSync(path)) return sha;
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString("hex")}`);
  await writeFile(temporary, await compress(data, { level: 1 }), { mode: 0o444 });
  await rename(temporary, path);
  return sha;
}

export interface Signature {
  name: string;
  email: string;
  /** Epoch seconds. */
  at: number;
  /** `+0100`; UTC where it is not known. */
  zone?: string;
}

export interface CommitObject {
  sha: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  message: string;
  /** The `gpgsig` header, which also holds SSH signatures. */
  signature?: string;
  /** What was signed: the commit without its signature. */
  payload?: Buffer;
}

export type NewCommit = Omit<CommitObject, "sha" | "payload">;

export function writeCommit(dir: string, commit: NewCommit): Promise<string> {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${printSignature(commit.author)}`,
    `committer ${printSignature(commit.committer)}`,
    ...(commit.signature === undefined ? [] : [`gpgsig ${commit.signature.trimEnd().replaceAll("\n", "\n ")}`]),
    "",
    commit.message,
  ];
  return writeObject(dir, "commit", Buffer.from(lines.join("\n")));
}

function printSignature(who: Signature): string {
  const clean = (text: string) => text.replace(/[<>\n\0]/g, "").trim();
  return `${clean(who.name)} <${clean(who.email)}> ${who.at} ${who.zone ?? "+0000"}`;
}

export function parseCommit(sha: string, content: Buffer): CommitObject {
  const text = content.toString("utf8");
  const end = text.indexOf("\n\n");
  const header = end < 0 ? text : text.slice(0, end);
  const commit: CommitObject = {
    sha,
    tree: "",
    parents: [],
    author: { name: "", email: "", at: 0 },
    committer: { name: "", email: "", at: 0 },
    message: end < 0 ? "" : text.slice(end + 2),
  };
  for (const line of header.split("\n")) {
    const space = line.indexOf(" ");
    const value = line.slice(space + 1);
    if (line.startsWith("tree ")) commit.tree = value;
    if (line.startsWith("parent ")) commit.parents.push(value);
    if (line.startsWith("author ")) commit.author = parseSignature(value);
    if (line.startsWith("committer ")) commit.committer = parseSignature(value);
  }
  return { ...commit, ...splitSignature(content, header) };
}

const SIGNATURE = /^gpgsig (.*(?:\n .*)*)\n?/m;

function splitSignature(content: Buffer, header: string): Pick<CommitObject, "signature" | "payload"> {
  const found = SIGNATURE.exec(header);
  if (found === null) return {};
  const start = Buffer.byteLength(header.slice(0, found.index));
  // Where the signature is the last header, the newline behind it is no part of what was found.
  const end = start + Buffer.byteLength(found[0]) + (found[0].endsWith("\n") ? 0 : 1);
  const payload = Buffer.concat([content.subarray(0, start), content.subarray(end)]);
  return { signature: `${(found[1] ?? "").replaceAll("\n ", "\n")}\n`, payload };
}

function parseSignature(text: string): Signature {
  const [, name = "", email = "", at = "0", zone = "+0000"] = /^(.*?) ?<(.*?)> (-?\d+) ([+-]\d{4})$/.exec(text) ?? [];
  return { name, email, at: Number(at), zone };
}
