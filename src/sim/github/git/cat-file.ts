import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { gitEnvironment } from "./run-git.ts";

export interface GitObject {
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

export function openCatFile(dir: string): CatFile {
  let child: ChildProcessWithoutNullStreams | undefined;
  let waiting: Waiting[] = [];
  let buffer: Buffer = Buffer.alloc(0);

  function start(): ChildProcessWithoutNullStreams {
    const started = spawn("git", ["cat-file", "--batch-command"], { cwd: dir, env: gitEnvironment() });
    started.stdout.on("data", (chunk: Buffer) => {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
      drain();
    });
    started.stdin.on("error", () => undefined);
    started.on("error", () => undefined);
    started.on("close", () => {
      if (child === started) child = undefined;
      const lost = waiting;
      waiting = [];
      buffer = Buffer.alloc(0);
      for (const one of lost) one.reject(new Error("git cat-file ended"));
    });
    return started;
  }

  function drain(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const end = buffer.indexOf(10);
      if (end < 0) return;
      const line = buffer.toString("utf8", 0, end);
      const [, sha = "", type = "", digits = ""] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
      const size = Number(digits);
      if (sha === "") {
        buffer = buffer.subarray(end + 1);
        waiting.shift();
        next.resolve(undefined);
        continue;
      }
      const length = next.wantsContent ? size + 1 : 0;
      if (buffer.length < end + 1 + length) return;
      const content = Buffer.from(buffer.subarray(end + 1, end + 1 + (next.wantsContent ? size : 0)));
      buffer = buffer.subarray(end + 1 + length);
      waiting.shift();
      next.resolve({ sha, type, size, content });
    }
  }

  function ask(verb: "info" | "contents", revision: string): Promise<GitObject | undefined> {
    // A newline would be a second request of its own.
    if (revision === "" || /[\n\r\0]/.test(revision)) return Promise.resolve(undefined);
    child ??= start();
    const { stdin } = child;
    return new Promise((resolve, reject) => {
      waiting.push({ wantsContent: verb === "contents", resolve, reject });
      stdin.write(`${verb} ${revision}\n`);
    });
  }

  return {
    info: (revision) => ask("info", revision),
    contents: (revision) => ask("contents", revision),
    close: () => child?.kill(),
  };
}
