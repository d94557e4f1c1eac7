import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { type CatFile, openCatFile } from "./cat-file.ts";
import { type CommitObject, parseCommit } from "./objects.ts";
import { openRefWriter, type RefChange } from "./ref-writer.ts";
import { readRef, readRefs } from "./refs.ts";
import { mustGit, runGit } from "./run-git.ts";

/** A bare repository on disk: the only truth for commits and refs. */
export interface BareRepo {
  readonly dir: string;
  readonly cat: CatFile;
  /** Id a full ref name points to now. */
  ref(name: string): Promise<string | undefined>;
  refs(prefix: string): Promise<{ name: string; sha: string }[]>;
  commit(revision: string): Promise<CommitObject | undefined>;
  /** All or nothing; false: some ref was not at its old value, and nothing was changed. */
  updateRefs(updates: readonly RefChange[]): Promise<boolean>;
  /** Points `refs/pull/NUMBER/head` at a commit. Nobody else writes these refs, so a plain file will do, and costs no process. */
  pointPull(number: number, sha: string): Promise<void>;
  /** Brings a commit of another repository here. */
  fetch(from: BareRepo, ref: string, to: string): Promise<void>;
  /** Commits of `to` that `from` does not have, newest first. */
  revList(from: string | undefined, to: string, limit?: number): Promise<readonly string[]>;
  mergeBase(a: string, b: string): Promise<string | undefined>;
  close(): void;
}

/** `HEAD`, `refs/heads/x`: what git itself would take as a ref name, so that nothing else reaches a command line. */
export function isRefName(name: string): boolean {
  if (!/^refs\/[^/]+\/./.test(name) || name.endsWith("/") || name.endsWith(".") || name.endsWith(".lock")) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids exactly these.
  return !/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock\//.test(name);
}

/** Makes the repository with one commit holding `files`, or opens one that is there. */
export async function createBareRepo(
  dir: string,
  options: { branch: string; files: ReadonlyMap<string, string | Buffer>; at: number },
): Promise<BareRepo> {
  if (existsSync(join(dir, "HEAD"))) return openBareRepo(dir);
  await mkdir(dir, { recursive: true });
  await mustGit(dir, ["init", "--bare", "--quiet", "--template=", `--initial-branch=${options.branch}`, "."]);
  await writeFile(join(dir, "config"), CONFIG);
  await mustGit(dir, ["fast-import", "--quiet", "--date-format=raw"], importStream(options));
  return openBareRepo(dir);
}

/** A second repository with the same branches and tags, which reads the first one's objects. */
export async function cloneBareRepo(from: string, dir: string): Promise<BareRepo> {
  await mustGit(from, ["clone", "--bare", "--shared", "--quiet", "--template=", "--", from, dir]);
  await writeFile(join(dir, "config"), CONFIG);
  return openBareRepo(dir);
}

const MOST_KEPT = 1000;
const COMMIT = /^[0-9a-f]{40}$/;

/** Asks git once for each pair of commits: what lies between two never changes. Of a name that may move it is asked each time. */
function once<A extends unknown[], T>(ask: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  const known = new BoundedMap<string, Promise<T>>(MOST_KEPT);
  return (...args) => {
    if (args.some((one) => typeof one === "string" && !COMMIT.test(one))) return ask(...args);
    const key = args.join(" ");
    const answer = known.get(key) ?? ask(...args);
    known.set(key, answer);
    // Nothing may be there for a commit that is not here yet.
    void answer.then(
      (found) => (found === undefined || (Array.isArray(found) && found.length === 0)) && known.delete(key),
      () => known.delete(key),
    );
    return answer;
  };
}

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
[receive]
\tautogc = false
\thideRefs = refs/pull
\tadvertisePushOptions = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[core]
\tfsync = none
`;

function importStream(options: { branch: string; files: ReadonlyMap<string, string | Buffer>; at: number }): Buffer {
  const parts: Buffer[] = [];
  const text = (line: string) => parts.push(Buffer.from(line));
  const message = "Initial commit";
  text(
    `commit refs/heads/${options.branch}\ncommitter GitHub <noreply@github.com> ${Math.floor(options.at / 1000)} +0000\ndata ${message.length}\n${message}\n`,
  );
  for (const [path, content] of options.files) {
    const data = Buffer.from(content);
    text(`M 100644 inline ${JSON.stringify(path)}\ndata ${data.length}\n`);
    parts.push(data, Buffer.from("\n"));
  }
  text("done\n");
  return Buffer.concat(parts);
}

function openBareRepo(dir: string): BareRepo {
  const cat = openCatFile(dir);
  const refs = openRefWriter(dir);
  return {
    dir,
    cat,
    async ref(name) {
      return isRefName(name) ? readRef(dir, name) : undefined;
    },
    async refs(prefix) {
      return [...readRefs(dir).refs].flatMap(([name, sha]) => (name.startsWith(prefix) ? [{ name, sha }] : []));
    },
    async commit(revision) {
      const found = await cat.contents(revision);
      return found?.type === "commit" ? parseCommit(found.sha, found.content) : undefined;
    },
    updateRefs: (updates) => refs.update(updates),
    async pointPull(number, sha) {
      const folder = join(dir, "refs", "pull", String(number));
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "head"), `${sha}\n`);
    },
    async fetch(from, ref, to) {
      await mustGit(dir, ["fetch", "--quiet", "--no-tags", "--force", from.dir, `${ref}:${to}`]);
    },
    revList: once(async (from, to, limit) => {
      const range = from === undefined ? [to] : [to, `^${from}`];
      const bound = limit === undefined ? [] : [`--max-count=${limit}`];
      const result = await runGit(dir, ["rev-list", ...bound, "--end-of-options", ...range]);
      return result.code === 0
        ? result.stdout
            .toString()
            .split("\n")
            .filter((line) => line !== "")
        : [];
    }),
    mergeBase: once(async (a, b) => {
      const result = await runGit(dir, ["merge-base", "--end-of-options", a, b]);
      return result.code === 0 ? result.stdout.toString().trim() : undefined;
    }),
    close() {
      cat.close();
      refs.close();
    },
  };
}
