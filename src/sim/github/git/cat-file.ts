import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { countAsCommand } from "../../../adapters/git/launch/launcher.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { gitEnvironment } from "./run-git.ts";

interface GitObject {
  sha: string;
  type: string;
  size: number;
  content: Buffer;
}

/** One long-lived `git cat-file --batch-command`: refs and objects are read without starting a process each time. */
export interface CatFile {
  /** Id, type and size of what a revision names. */
  info(revision: string): Promise<Omit<GitObject, "content"> | undefined>;
  contents(revision: string): Promise<GitObject | undefined>;
  close(): void;
}

interface Waiting {
  wantsContent: boolean;
  resolve(found: GitObject | undefined): void;
  reject(error: Error): void;
}

type Verb = "info" | "contents";

const MOST_KEPT = 2000;
const MOST_KEPT_BYTES = 16 * 1024;
/** What stands at an object's id, or somewhere below it, never changes. */
const NEVER_CHANGES = /^([0-9a-f]{40})($|[:^])/;

export function openCatFile(dir: string): CatFile {
  let conversation: Conversation | undefined;
  /** By question; null: there is no such thing below an object that is there. */
  const known = new BoundedMap<string, GitObject | null>(MOST_KEPT);

  async function look(verb: Verb, revision: string): Promise<GitObject | undefined> {
    const id = NEVER_CHANGES.exec(revision)?.[1];
    if (id === undefined) return await ask(verb, revision);
    const kept = known.get(`contents ${revision}`) ?? known.get(`${verb} ${revision}`);
    if (kept !== undefined) return kept ?? undefined;
    const found = await ask(verb, revision);
    // What is not here may come.
    const isFinal = found !== undefined || known.get(`contents ${id}`) != null;
    if (isFinal && (found?.content.length ?? 0) <= MOST_KEPT_BYTES) known.set(`${verb} ${revision}`, found ?? null);
    return found;
  }

  function ask(verb: Verb, revision: string): Promise<GitObject | undefined> {
    // A newline would be a second request of its own.
    if (revision === "" || /[\n\r\0]/.test(revision)) return Promise.resolve(undefined);
    if (conversation === undefined || conversation.ended) conversation = converse(dir);
    const { child, waiting } = conversation;
    const answer = new Promise<GitObject | undefined>((resolve, reject) => {
      waiting.push({ wantsContent: verb === "contents", resolve, reject });
      child.stdin.write(`${verb} ${revision}\n`);
    });
    return countAsCommand(answer);
  }

  return {
    info: (revision) => look("info", revision),
    contents: (revision) => look("contents", revision),
    close: () => conversation?.child.kill(),
  };
}

/** One process. Answers come in the order of the questions. */
interface Conversation {
  child: ChildProcessWithoutNullStreams;
  waiting: Waiting[];
  ended: boolean;
}

function converse(dir: string): Conversation {
  const child = spawn("git", ["cat-file", "--batch-command"], { cwd: dir, env: gitEnvironment() });
  const conversation: Conversation = { child, waiting: [], ended: false };
  let buffer: Buffer = Buffer.alloc(0);
  child.stdout.on("data", (chunk: Buffer) => {
    buffer = drain(conversation.waiting, buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]));
  });
  child.stdin.on("error", () => undefined);
  child.on("error", () => undefined);
  child.on("close", () => {
    conversation.ended = true;
    for (const one of conversation.waiting.splice(0)) one.reject(new Error("git cat-file ended"));
  });
  return conversation;
}

/** Answers who waits with what has come whole; gives what is left. */
function drain(waiting: Waiting[], data: Buffer): Buffer {
  let buffer = data;
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    const end = buffer.indexOf(10);
    if (end < 0) break;
    const line = buffer.toString("utf8", 0, end);
    const [, sha = "", type = "", digits = ""] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
    const size = Number(digits);
    // One more byte: the newline behind a content.
    const length = sha !== "" && next.wantsContent ? size + 1 : 0;
    if (buffer.length < end + 1 + length) break;
    const content = Buffer.from(buffer.subarray(end + 1, end + Math.max(1, length)));
    buffer = buffer.subarray(end + 1 + length);
    waiting.shift();
    next.resolve(sha === "" ? undefined : { sha, type, size, content });
  }
  return buffer;
}
