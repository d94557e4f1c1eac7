/** What people see of what became of their commands: reactions and answers, each once. Called by the inbox and its readings. */
import { type Forge, ForgeError, type Reaction } from "../../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import type { Clock } from "../../../core/base/time.ts";
import { helpAnswer, planAnswer, statusAnswer } from "../../../core/report/answers.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { CommandSpec } from "../../../core/spec/commands.ts";
import type { Log } from "../../../engine/round/context.ts";
import { stickyMarker } from "../../../engine/round/publish/publish.ts";
import { refusalComments } from "./refusals.ts";

/** A line of a comment, and who wrote it. */
export interface WrittenLine {
  pull: number;
  /** See `keyOf`: `123456` of a comment, `r123456` of a review. */
  comment: string;
  author: string;
  /** As written, one line. */
  text: string;
  /** `123456#0`, of a command. */
  command?: string;
}

export type CommandAnswers = ReturnType<typeof commandAnswers>;

/** Of answers remembered, the newest: giving one twice is harmless. */
const MOST_REMEMBERED = 20_000;

/** Answers commands. Everything may be said twice: it stands there once. */
export function commandAnswers(forge: Forge, clock: Clock, log: Log) {
  const reacted = new BoundedSet<string>(MOST_REMEMBERED);
  const answered = new BoundedSet<string>(MOST_REMEMBERED);
  /** What was last said to commands that wait. */
  const waiting = new BoundedMap<string, string>(MOST_REMEMBERED);
  const refusals = refusalComments(forge, log);
  /** Comments that get their 😕 once it is written down on their PR that they were refused. */
  let refused: { pull: number; comment: string }[] = [];

  async function react(comment: string, reaction: Reaction): Promise<void> {
    const key = `${comment} ${reaction}`;
    // Nobody can react to a review: what became of it stands below it.
    if (reacted.has(key) || comment.startsWith("r")) return;
    reacted.add(key);
    try {
      await forge.react(Number(comment), reaction);
    } catch (error) {
      // Deleted meanwhile: there is nothing to set it on.
      if (error instanceof ForgeError && error.kind === "NotFound") return;
      reacted.delete(key);
      log.warn({ comment, error: String(error) }, "a reaction could not be set");
    }
  }

  return {
    react,
    isAnswered: (key: string) => answered.has(key),
    /** Notes that a command was answered; false: it was before. */
    setAnswered(key: string): boolean {
      const isNew = !answered.has(key);
      answered.add(key);
      return isNew;
    },
    /** Takes in what was refused on a PR before us. */
    recall: refusals.recall,
    wasRefused: refusals.has,
    /** Refuses a command for good, from `writeRefusals` on. Not `shown`: noted without a word. */
    refuse(line: WrittenLine, message: string, shown = true): void {
      refusals.add({ ...line, message, shown });
      const { pull, comment, author: actor, text } = line;
      log.info({ repository: forge.repository, pull, comment, actor, command: text.slice(0, 200), said: message }, "a command was refused");
      if (shown) refused.push({ pull: line.pull, comment: line.comment });
    },
    /** Says, from `writeRefusals` on, that nothing became of a command yet, nor is decided. False: it was told so already. */
    sayWaits(line: WrittenLine, message: string): boolean {
      if (waiting.get(waitsKey(line)) === message) return false;
      waiting.set(waitsKey(line), message);
      refusals.add({ ...line, message, shown: true });
      return true;
    },
    /** Writes what was refused since below it, and then sets 😕. False: not all could be written yet. */
    async writeRefusals(): Promise<boolean> {
      const unsaid = refused;
      refused = [];
      const failed = await refusals.write();
      refused.unshift(...unsaid.filter(({ pull }) => failed.has(pull)));
      for (const { pull, comment } of unsaid) if (!failed.has(pull)) await react(comment, "confused");
      return failed.size === 0;
    },
    /** Shows that a command was done: 🚀 on its comment, an answer below its review, and in the place of one that said it waits. */
    async markDone(line: WrittenLine, message = "done"): Promise<void> {
      await react(line.comment, "rocket");
      const waited = waiting.delete(waitsKey(line)) || refusals.isNotice(line.pull, line.comment);
      if (!waited && !line.comment.startsWith("r")) return;
      refusals.add({ ...line, message, shown: true });
      await refusals.write();
    },
    async help(pull: number, only: CommandSpec | undefined): Promise<void> {
      await forge.stickyComment(pull, "stagecoach:help", helpAnswer(only));
    },
    async status({ pull, author }: WrittenLine, run: Run): Promise<void> {
      const now = clock.now();
      const release = run.trigger.pull;
      const live = release === undefined ? undefined : await forge.stickyComment(release, stickyMarker(run.rollout), runComment(run, now));
      await forge.stickyComment(pull, `stagecoach:status:${run.rollout}`, statusAnswer(run, now, author, live?.url));
    },
    async plan({ pull, author }: WrittenLine, run: Run): Promise<void> {
      await forge.stickyComment(pull, `stagecoach:plan:${run.rollout}`, planAnswer(run, clock.now(), author));
    },
  };
}

function waitsKey({ pull, comment, text }: WrittenLine): string {
  return `${pull} ${comment} ${text}`;
}

/** Whether an account is given one more answer: anybody may comment, as often as they like. */
export function answersAtMost(most: number): (author: string) => boolean {
  const given = new Map<string, number>();
  return (author) => {
    given.set(author, (given.get(author) ?? 0) + 1);
    return (given.get(author) ?? 0) <= most;
  };
}
