import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { countAsCommand } from "../../../adapters/git/launch/launcher.ts";
import { gitEnvironment } from "./run-git.ts";

export interface RefChange {
  ref: string;
  /** undefined: it must not exist. */
  old: string | undefined;
  /** undefined: delete. */
  new: string | undefined;
}

/** Moves refs by one long-lived `git update-ref --stdin`: no process for each move. */
interface RefWriter {
  /** All or nothing; false: some ref was not at its old value, and nothing was changed. */
  update(changes: readonly RefChange[]): Promise<boolean>;
  close(): void;
}

/** Answers come in the order of the questions. Git ends with the first that it refuses, and another is started. */
interface Conversation {
  child: ChildProcessWithoutNullStreams;
  waiting: ((done: boolean) => void)[];
  ended: boolean;
}

const ZERO = "0".repeat(40);

export function openRefWriter(dir: string): RefWriter {
  let conversation: Conversation | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function tell(text: string): Promise<boolean> {
    if (conversation === undefined || conversation.ended) conversation = converse(dir);
    const { child, waiting } = conversation;
    const answer = new Promise<boolean>((resolve) => waiting.push(resolve));
    child.stdin.write(text);
    return await answer;
  }

  return {
    update(changes) {
      const lines = changes.map((one) => {
        const old = one.old ?? ZERO;
        return one.new === undefined ? `delete ${one.ref} ${old}` : `update ${one.ref} ${one.new} ${old}`;
      });
      // One after the other: what is refused ends the process, and with it whatever was asked behind.
      const answer = last.then(() => tell(`start\n${lines.join("\n")}\ncommit\n`));
      last = answer;
      return countAsCommand(answer);
    },
    close: () => conversation?.child.stdin.end(),
  };
}

function converse(dir: string): Conversation {
  const child = spawn("git", ["update-ref", "--stdin"], { cwd: dir, env: gitEnvironment() });
  const conversation: Conversation = { child, waiting: [], ended: false };
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString()}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line === "commit: ok") conversation.waiting.shift()?.(true);
  });
  child.stderr.resume();
  child.stdin.on("error", () => undefined);
  const end = () => {
    conversation.ended = true;
    for (const answer of conversation.waiting.splice(0)) answer(false);
  };
  child.on("error", end);
  child.on("close", end);
  return conversation;
}
