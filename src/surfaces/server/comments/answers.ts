/** What people see of what became of their commands: reactions and answers, each once. Called by the inbox and its readings. */
import { type Comment, type Forge, ForgeError, type Reaction } from "../../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import type { Clock } from "../../../core/base/time.ts";
import { helpAnswer, planAnswer, statusAnswer } from "../../../core/report/answers.ts";
import type { GivenToDraw } from "../../../core/report/model/context.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { CommandSpec } from "../../../core/spec/commands.ts";
import type { Log } from "../../../engine/round/context.ts";
import { stickyMarker } from "../../../engine/round/publish/publish.ts";
import type { Answering } from "./answering.ts";
import { openHeard } from "./heard.ts";
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
/** An answer that could not be given is tried again after this, and then longer each time. */
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 5 * 60_000;
/** Which question an answer of ours was for, unseen at its end. */
const ASKED = /\n<!-- answers (\d{1,16}) -->$/;
const QUESTION = /^<!-- stagecoach:(status|plan):(\S{1,100}) -->/;

interface AnswersOptions {
  forge: Forge;
  clock: Clock;
  log: Log;
  answering: Answering;
  /** What is drawn of a run besides what its journal holds. */
  given?: ((run: Run) => GivenToDraw) | undefined;
  /** Asks for another reading, after so many milliseconds. */
  recheck(inMs: number): void;
  /** Something is to be told of a command. */
  onHeard?: (() => void) | undefined;
}

/** Answers commands, each in its turn; nobody waits for it. Everything may be said twice: it stands there once. */
export function commandAnswers({ forge, clock, log, answering, given = () => ({}), recheck, onHeard }: AnswersOptions) {
  const reacted = new BoundedSet<string>(MOST_REMEMBERED);
  /** Comments of people who steer: what becomes of theirs is told during a round, too. */
  const steering = new BoundedSet<string>(MOST_REMEMBERED);
  const answered = new BoundedSet<string>(MOST_REMEMBERED);
  /** What was last said to commands that wait. */
  const waiting = new BoundedMap<string, string>(MOST_REMEMBERED);
  /** By kind, PR and rollout: the newest comment whose question was answered, by this process or an earlier one. */
  const asked = new BoundedMap<string, number>(MOST_REMEMBERED);
  const refusals = refusalComments(forge, log);
  const { hear, heard } = openHeard(clock, onHeard);
  /** Comments that get their 😕 once it is written down on their PR that they were refused. */
  let refused: { pull: number; comment: string }[] = [];
  let failures = 0;
  /** When the next look is due, and when it was asked for last. */
  let [againAt, askedAt] = [0, Number.NEGATIVE_INFINITY];

  /** `undo`: what was noted of it, so that a later reading gives it again. */
  function later(key: string, give: () => Promise<unknown>, undo: () => void, isPrompt = false): void {
    const answer = async () => {
      try {
        await give();
        failures = 0;
        againAt = 0;
      } catch (error) {
        undo();
        log.warn({ answer: key, error: String(error) }, "an answer could not be given; trying again");
        again();
      }
    };
    const taken = answering.later(key, answer, isPrompt);
    if (taken) return;
    undo();
    again();
  }

  /** One look for all that could not be given by then. */
  function again(): void {
    const now = clock.now();
    if (againAt <= now) againAt = now + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures++, 10));
    // Also where one was asked for before: a look that came earlier took its place.
    else if (now === askedAt) return;
    askedAt = now;
    recheck(againAt - now);
  }

  function react(comment: string, reaction: Reaction): void {
    const key = `${comment} ${reaction}`;
    // Nobody can react to a review: what became of it stands below it.
    if (reacted.has(key) || comment.startsWith("r")) return;
    reacted.add(key);
    later(
      `react ${key}`,
      () => forge.react(Number(comment), reaction).catch(ignoreGone),
      () => reacted.delete(key),
      steering.has(comment),
    );
  }

  function writeRefusals(): void {
    const unsaid = () => {
      const own = refused;
      refused = [];
      return own;
    };
    later(
      "refusals",
      async () => {
        const own = unsaid();
        const failed = await refusals.write();
        refused.unshift(...own.filter(({ pull }) => failed.has(pull)));
        for (const { pull, comment } of own) if (!failed.has(pull)) react(comment, "confused");
        if (failed.size > 0) again();
      },
      () => undefined,
    );
  }

  /** An answer that changes nothing, kept in one place of a PR: of many that wait for the same the newest is answered. */
  function question(kind: "status" | "plan", line: WrittenLine, rollout: string, key: string, body: () => Promise<string> | string): void {
    const { pull, comment } = line;
    const id = Number(comment);
    const suffix = Number.isInteger(id) ? `\n<!-- answers ${Math.max(id, asked.get(`${kind} ${pull} ${rollout}`) ?? 0)} -->` : "";
    later(
      `${kind} ${pull} ${rollout}`,
      async () => {
        await forge.stickyComment(pull, `stagecoach:${kind}:${rollout}`, `${await body()}${suffix}`);
        if (Number.isInteger(id)) asked.set(`${kind} ${pull} ${rollout}`, id);
      },
      () => answered.delete(key),
    );
  }

  return {
    react,
    /** Shows that a command was read. `steers`: its author may steer, and is told at once. */
    markRead(line: WrittenLine, steers: boolean): void {
      if (steers) steering.add(line.comment);
      react(line.comment, "eyes");
      hear(line, "Read");
    },
    heard,
    isAnswered: (key: string) => answered.has(key),
    /** Whether this question, or a newer one of its kind, was answered on the PR. */
    wasAsked(kind: string, pull: number, rollout: string, comment: string): boolean {
      return Number(comment) <= (asked.get(`${kind} ${pull} ${rollout}`) ?? -1);
    },
    /** Notes that a command was answered; false: it was before. */
    setAnswered(key: string): boolean {
      const isNew = !answered.has(key);
      answered.add(key);
      return isNew;
    },
    /** Takes in what was answered and refused on a PR before us. */
    recall(pull: number, comments: readonly Comment[]): void {
      refusals.recall(pull, comments);
      for (const { ours, body } of comments) {
        const [, kind, rollout] = (ours && QUESTION.exec(body)) || [];
        const id = kind === undefined ? undefined : ASKED.exec(body)?.[1];
        const key = `${kind} ${pull} ${rollout}`;
        if (id !== undefined && Number(id) > (asked.get(key) ?? 0)) asked.set(key, Number(id));
      }
    },
    wasRefused: refusals.has,
    /** Refuses a command for good, from `writeRefusals` on. Not `shown`: noted without a word. */
    refuse(line: WrittenLine, message: string, shown = true): void {
      refusals.add({ ...line, message, shown });
      const { pull, comment, author: actor, text } = line;
      log.info({ repository: forge.repository, pull, comment, actor, command: text.slice(0, 200), said: message }, "a command was refused");
      if (shown) refused.push({ pull: line.pull, comment: line.comment });
      hear(line, "Refused", message);
      writeRefusals();
    },
    /** Says that nothing became of a command yet, nor is decided. */
    sayWaits(line: WrittenLine, message: string): void {
      if (waiting.get(waitsKey(line)) === message) return;
      waiting.set(waitsKey(line), message);
      hear(line, "Waiting", message);
      refusals.add({ ...line, message, shown: true });
      writeRefusals();
    },
    /** Writes what could not be written before. */
    writeAgain,
    /** Shows that a command was done: 🚀 on its comment, an answer below its review, and in the place of one that said it waits. */
    markDone(line: WrittenLine, message = "Done."): void {
      hear(line, "Done", message);
      react(line.comment, "rocket");
      const waited = waiting.delete(waitsKey(line)) || refusals.isNotice(line.pull, line.comment);
      if (!waited && !line.comment.startsWith("r")) return;
      refusals.add({ ...line, message, shown: true });
      writeRefusals();
    },
    help(pull: number, only: CommandSpec | undefined, key: string): void {
      later(
        `help ${pull}`,
        () => forge.stickyComment(pull, "stagecoach:help", helpAnswer(only)),
        () => answered.delete(key),
      );
    },
    status(line: WrittenLine, run: Run, key: string): void {
      question("status", line, run.rollout, key, async () => {
        const now = clock.now();
        const more = given(run);
        const release = run.trigger.pull;
        const live = release === undefined ? undefined : await forge.stickyUrl(release, stickyMarker(run.rollout));
        return statusAnswer(run, now, line.author, live, more);
      });
    },
    plan(line: WrittenLine, run: Run, key: string): void {
      question("plan", line, run.rollout, key, () => planAnswer(run, clock.now(), line.author));
    },
  };

  function writeAgain(): void {
    if (refusals.isUnwritten()) writeRefusals();
  }
}

/** Deleted meanwhile: there is nothing to set it on. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof ForgeError && error.kind === "NotFound")) throw error;
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
