import { createHash } from "node:crypto";
import { BoundedMap } from "../../core/base/bounded.ts";
import { gitError } from "./git-errors.ts";
import { pipeGit } from "./git-process.ts";
import { objectId, repositoryPath } from "./names.ts";
import { type CommitInput, GitError, type ObjectChange } from "./port.ts";
import type { Repository } from "./run-git.ts";
import { withSignature } from "./signing/commit-signature.ts";
import { DIRECTORY, SUBMODULE, SYMLINK, type Trees } from "./trees.ts";

/** A round builds the same commit when it looks and when it proposes, and the next one again: so many are known by what they were made of. */
const MOST_BUILT = 64;

/** Builds each commit once, as long as it is still there. */
export function openBuilder(repository: Repository, trees: Trees): (input: CommitInput) => Promise<string> {
  const built = new BoundedMap<string, string>(MOST_BUILT);
  return async (input) => {
    const { parent, changes, message, author, at, sign } = input;
    if (sign !== undefined) return await buildCommit(repository, trees, input);
    const made = createHash("sha256")
      .update(JSON.stringify([parent, [...changes], message, author, at]))
      .digest("hex");
    const known = built.get(made);
    const isThere = known !== undefined && (await trees.root(known).catch(() => undefined)) !== undefined;
    const commit = isThere ? known : await buildCommit(repository, trees, input);
    built.set(made, commit);
    return commit;
  };
}

/** So that commits built at the same time do not share a ref. */
let sequence = 0;

/**
 * Builds a commit in one process: `git fast-import` reads only the trees on the way to the files that change, so neither
 * a checkout nor an index is needed, however large the repository. Same input, same id: nothing of the moment goes in.
 */
export async function buildCommit(repository: Repository, trees: Trees, input: CommitInput): Promise<string> {
  const modes = await checkedModes(trees, input);
  // fast-import wants a ref to commit to; it is taken away again by the same stream, and nobody else knows its name.
  const ref = `refs/stagecoach/import-${process.pid}-${sequence++}`;
  const parts: (string | Buffer)[] = ["feature done\n"];
  parts.push(`commit ${ref}\nmark :1\n`);
  const person = `${identity(input.author.name)} <${identity(input.author.email)}> ${Math.floor(input.at / 1000)} +0000\n`;
  parts.push(`author ${person}committer ${person}`, ...data(`${input.message.trimEnd()}\n`));
  if (input.parent !== undefined) parts.push(`from ${objectId(input.parent)}\n`);
  for (const [path, text] of input.changes) {
    if (text === null || (typeof text === "object" && text.id === null)) parts.push(`D ${quoted(path)}\n`);
  }
  for (const [path, text] of input.changes) {
    if (typeof text === "object" && text !== null) {
      if (text.id !== null) parts.push(`M ${text.mode.padStart(6, "0")} ${objectId(text.id)} ${quoted(path)}\n`);
    } else if (text !== null) parts.push(`M ${modes.get(path) ?? "100644"} inline ${quoted(path)}\n`, ...data(text));
  }
  parts.push(`\nget-mark :1\nreset ${ref}\nfrom ${"0".repeat(input.parent?.length ?? 40)}\n\ndone\n`);
  try {
    const answer = await pipeGit(repository, ["fast-import", "--quiet", "--done", "--date-format=raw"], parts);
    const made = objectId(answer.trim());
    return input.sign === undefined ? made : await signed(repository, made, input.sign);
  } catch (error) {
    throw gitError("build a commit", error);
  }
}

/** fast-import passes no signature on: the commit is written again with one. */
async function signed(repository: Repository, commit: string, sign: (payload: Buffer) => string): Promise<string> {
  const payload = await pipeGit(repository, ["cat-file", "commit", commit], []);
  const object = withSignature(Buffer.from(payload), sign(Buffer.from(payload)));
  return objectId((await pipeGit(repository, ["hash-object", "-t", "commit", "-w", "--stdin"], [object])).trim());
}

/** Modes of the files as they are, after every check that the change writes regular files inside the repository and replaces no directory. */
async function checkedModes(trees: Trees, input: CommitInput): Promise<Map<string, string>> {
  const modes = new Map<string, string>();
  const root = input.parent === undefined ? undefined : await trees.root(objectId(input.parent));
  for (const [path, text] of input.changes) {
    repositoryPath(path);
    refuseFileAsDirectory(path, input.changes);
    if (root === undefined) continue;
    const entry = await trees.entry(root, path);
    if (entry === null && text !== null && !isRemoval(text)) await refuseUnderFile(trees, root, path, input.changes);
    // An object takes the place of whatever is there: whoever names one has looked.
    if (entry === null || (typeof text === "object" && text !== null)) continue;
    if (entry.mode === SYMLINK) throw new GitError("Symlink", `${path} is a symbolic link; name the file it points to`);
    if (entry.mode === SUBMODULE) throw new GitError("Invalid", `${path} is a submodule, whose files are in another repository`);
    if (entry.mode === DIRECTORY) throw new GitError("Invalid", `${path} is a directory; a change names files`);
    modes.set(path, entry.mode);
  }
  return modes;
}

function refuseFileAsDirectory(path: string, changes: CommitInput["changes"]): void {
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
    const above = path.slice(0, slash);
    const change = changes.get(above);
    if (change !== undefined && change !== null && !isRemoval(change))
      throw new GitError("Invalid", `${above} cannot be a file and hold ${path}`);
  }
}

/** A new file below something that is a file now would silently take that file away. */
async function refuseUnderFile(trees: Trees, root: string, path: string, changes: CommitInput["changes"]): Promise<void> {
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
    const above = path.slice(0, slash);
    const entry = await trees.entry(root, above);
    if (entry === null) continue;
    const change = changes.get(above);
    if (entry.mode !== DIRECTORY && change !== null && !isRemoval(change)) {
      throw new GitError("Invalid", `${path} cannot be written: ${above} is a file`);
    }
    return;
  }
}

function isRemoval(change: string | null | ObjectChange | undefined): boolean {
  return typeof change === "object" && change !== null && change.id === null;
}

function data(text: string): [string, Buffer, string] {
  const bytes = Buffer.from(text, "utf8");
  return [`data ${bytes.length}\n`, bytes, "\n"];
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Without what would end the field early. */
function identity(text: string): string {
  return text.replace(/[<>\n\r\0]/g, "").trim() || "unknown";
}
