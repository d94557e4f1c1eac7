import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { BoundedMap } from "../../core/base/bounded.ts";
import { spawnGit } from "./git-process.ts";
import { countAsCommand } from "./launch/launcher.ts";
import { GitError } from "./port.ts";
import type { Repository } from "./run-git.ts";

interface ObjectInfo {
  id: string;
  type: "commit" | "tree" | "blob" | "tag";
  size: number;
}

/** Reads objects through one long-lived `git cat-file --batch-command`: no process a read. Started when first needed, again after it died. */
export interface CatFile {
  /** `spec` is a full object id or a checked full ref name. undefined: no such object. */
  info(spec: string): Promise<ObjectInfo | undefined>;
  /** The body is cut off at `most` bytes: `info.size` tells. */
  contents(spec: string, most?: number): Promise<Found | undefined>;
  close(): void;
}

/** Brings contents that are missing to what is read at a commit or tree. Some may stay missing. */
export type BringMissing = (missing: readonly Missing[], at: string) => Promise<void>;

/** A content that is not here, of a file or below a directory. `ours`: it was on a branch of the repository, wherever it is now. */
export interface Missing {
  id: string;
  path: string;
  ours?: boolean | undefined;
}

interface Found {
  info: ObjectInfo;
  body: Buffer;
}

interface Waiting {
  /** Bytes of the body that are wanted at most; undefined: none. */
  most: number | undefined;
  resolve(answer: Found | undefined): void;
  reject(error: Error): void;
}

/** Answers come in the order of the questions, so a queue of who waits is all the state there is. */
interface Conversation {
  child: ChildProcessWithoutNullStreams;
  waiting: Waiting[];
  dead: boolean;
  /** Git learns at its start where to look for objects. */
  places: string;
  /** Small objects that were read whole, by their id: the same commits and files are looked at round after round, and never change. */
  known: BoundedMap<string, Found>;
}

/** Together two MiB at most. */
const MOST_KNOWN = 256;
const MOST_KNOWN_BYTES = 8 * 1024;

/** Of commits and tags: whatever is read of one stands in its first two MiB, however long a message somebody writes. */
const MOST_BYTES = 2 * 1024 * 1024;

export function openCatFile(repository: Repository): CatFile {
  let conversation: Conversation | undefined;
  let closed = false;

  function ask(spec: string, most?: number): Promise<Found | undefined> {
    if (closed) return Promise.reject(new GitError("Unavailable", "the mirror is closed"));
    const places = repository.alternates?.().join(" ") ?? "";
    if (conversation?.places !== places) conversation?.child.stdin.end();
    if (conversation === undefined || conversation.dead || conversation.places !== places) conversation = start(repository, places);
    const { child, waiting, known } = conversation;
    const kept = known.get(spec);
    if (kept !== undefined && (most === undefined || kept.body.length <= most)) return Promise.resolve(kept);
    const answer = new Promise<Found | undefined>((resolve, reject) => {
      waiting.push({ most, resolve, reject });
      child.stdin.write(`${most === undefined ? "info" : "contents"} ${spec}\n`);
    });
    return countAsCommand(answer).then((found) => keep(known, spec, found));
  }

  /** The process may die between two questions (killed, out of memory): asked again once, of a new one. */
  async function askTwice(spec: string, most?: number): Promise<Found | undefined> {
    try {
      return await ask(spec, most);
    } catch (error) {
      if (closed) throw error;
      return await ask(spec, most);
    }
  }

  return {
    info: async (spec) => (await askTwice(spec))?.info,
    contents: (spec, most = MOST_BYTES) => askTwice(spec, most),
    close() {
      closed = true;
      conversation?.child.stdin.end();
    },
  };
}

/** A ref may move, and what was cut off, or asked for its size alone, is not whole. */
function keep(known: Conversation["known"], spec: string, found: Found | undefined): Found | undefined {
  const isWhole = found?.info.id === spec && found.body.length === found.info.size;
  if (isWhole && found.info.size <= MOST_KNOWN_BYTES) known.set(spec, found);
  return found;
}

function start(repository: Repository, places: string): Conversation {
  const child = spawnGit(repository, ["cat-file", "--batch-command"]);
  const conversation: Conversation = { child, waiting: [], dead: false, places, known: new BoundedMap(MOST_KNOWN) };
  const stderr: string[] = [];
  const end = (why: string): void => {
    conversation.dead = true;
    for (const { reject } of conversation.waiting.splice(0)) reject(new GitError("Unavailable", `git cat-file ended: ${why}`));
  };
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk.toString("utf8").slice(0, 2000)));
  child.stdin.on("error", () => undefined);
  child.once("error", (error) => end(error.message));
  child.once("close", () => end(stderr.join("").trim() || "no reason given"));
  const feed = answerParser(conversation.waiting);
  child.stdout.on("data", (chunk: Buffer) => feed(chunk));
  return conversation;
}

/** Takes stdout in whatever pieces it comes and answers who waits. A body is collected as pieces and joined once. */
function answerParser(waiting: Waiting[]): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let body: { info: ObjectInfo; pieces: Buffer[]; missing: number } | undefined;

  function header(line: string): void {
    const [id = "", type = "", size = ""] = line.split(" ");
    const info = /^\d+$/.test(size) ? { id, type: type as ObjectInfo["type"], size: Number(size) } : undefined;
    if (info === undefined) waiting.shift()?.resolve(undefined);
    // One more byte: the newline git writes after a body.
    else if (waiting[0]?.most !== undefined) body = { info, pieces: [], missing: info.size + 1 };
    else waiting.shift()?.resolve({ info, body: Buffer.alloc(0) });
  }

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length > 0) {
      if (body !== undefined) {
        const piece = rest.subarray(0, body.missing);
        const left = (waiting[0]?.most ?? 0) - (body.info.size + 1 - body.missing);
        if (left > 0) body.pieces.push(piece.subarray(0, left));
        body.missing -= piece.length;
        rest = rest.subarray(piece.length);
        if (body.missing > 0) return;
        const { info, pieces } = body;
        body = undefined;
        waiting.shift()?.resolve({ info, body: Buffer.concat(pieces).subarray(0, info.size) });
        continue;
      }
      const newline = rest.indexOf(10);
      if (newline < 0) return;
      const line = rest.toString("utf8", 0, newline);
      rest = rest.subarray(newline + 1);
      header(line);
    }
  };
}
