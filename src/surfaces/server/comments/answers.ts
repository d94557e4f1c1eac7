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
import { type Heard, openHeard } from "./heard.ts";
import { RefusalComments, type WrittenLine } from "./refusals.ts";

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
export class CommandAnswers {
  readonly #options: AnswersOptions;
  readonly #reacted = new BoundedSet<string>(MOST_REMEMBERED);
  /** Comments of people who steer: what becomes of theirs is told during a round, too. */
  readonly #steering = new BoundedSet<string>(MOST_REMEMBERED);
  readonly #answered = new BoundedSet<string>(MOST_REMEMBERED);
  /** What was last said to commands that wait. */
  readonly #waiting = new BoundedMap<string, string>(MOST_REMEMBERED);
  /** By kind, PR and rollout: the newest comment whose question was answered, by this process or an earlier one. */
  readonly #asked = new BoundedMap<string, number>(MOST_REMEMBERED);
  readonly #refusals: RefusalComments;
  readonly #heard: ReturnType<typeof openHeard>;
  /** Comments that get their 😕 once it is written down on their PR that they were refused. */
  #refused: { pull: number; comment: string }[] = [];
  #failures = 0;
  /** When the next look is due, and when it was asked for last. */
  #againAt = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#refusals = new RefusalComments(options.forge, options.log);
    this.#heard = openHeard(options.clock, options.onHeard);
  }

  heard(): Heard[] {
    return this.#heard.heard();
  }

  /** Takes in what was answered and refused on a PR before us. */
  recall(pull: number, comments: readonly Comment[]): void {
    this.#refusals.recall(pull, comments);
    for (const { ours, body } of comments) {
      const [, kind, rollout] = (ours && QUESTION.exec(body)) || [];
      const id = kind === undefined ? undefined : ASKED.exec(body)?.[1];
      const key = `${kind} ${pull} ${rollout}`;
      if (id !== undefined && Number(id) > (this.#asked.get(key) ?? 0)) this.#asked.set(key, Number(id));
    }
  }

  isAnswered(key: string): boolean {
    return this.#answered.has(key);
  }

  /** Whether this question, or a newer one of its kind, was answered on the PR. */
  wasAsked(kind: string, pull: number, rollout: string, comment: string): boolean {
    return Number(comment) <= (this.#asked.get(`${kind} ${pull} ${rollout}`) ?? -1);
  }

  wasRefused(pull: number, command: string): boolean {
    return this.#refusals.has(pull, command);
  }

  /** Notes that a command was answered; false: it was before. */
  setAnswered(key: string): boolean {
    const isNew = !this.#answered.has(key);
    this.#answered.add(key);
    return isNew;
  }

  /** Shows that a command was read. `steers`: its author may steer, and is told at once. */
  markRead(line: WrittenLine, steers: boolean): void {
    if (steers) this.#steering.add(line.comment);
    this.react(line.comment, "eyes");
    this.#heard.hear(line, "Read");
  }

  /** Refuses a command for good, once it is written. Not `shown`: noted without a word. */
  refuse(line: WrittenLine, message: string, shown = true): void {
    const { forge, log } = this.#options;
    this.#refusals.add({ ...line, message, shown });
    const { pull, comment, author: actor, text } = line;
    log.info({ repository: forge.repository, pull, comment, actor, command: text.slice(0, 200), said: message }, "a command was refused");
    if (shown) this.#refused.push({ pull, comment });
    this.#heard.hear(line, "Refused", message);
    this.#writeRefusals();
  }

  /** Says that nothing became of a command yet, nor is decided. */
  sayWaits(line: WrittenLine, message: string): void {
    if (this.#waiting.get(waitsKey(line)) === message) return;
    this.#waiting.set(waitsKey(line), message);
    this.#heard.hear(line, "Waiting", message);
    this.#say(line, message);
  }

  /** Shows that a command was done: 🚀 on its comment, an answer below its review, and in the place of one that said it waits. */
  markDone(line: WrittenLine, message = "Done."): void {
    this.#heard.hear(line, "Done", message);
    this.react(line.comment, "rocket");
    const waited = this.#waiting.delete(waitsKey(line)) || this.#refusals.isNotice(line.pull, line.comment);
    if (waited || line.comment.startsWith("r")) this.#say(line, message);
  }

  react(comment: string, reaction: Reaction): void {
    const key = `${comment} ${reaction}`;
    // Nobody can react to a review: what became of it stands below it.
    if (this.#reacted.has(key) || comment.startsWith("r")) return;
    this.#reacted.add(key);
    this.#later(
      `react ${key}`,
      () => this.#options.forge.react(Number(comment), reaction).catch(ignoreGone),
      () => this.#reacted.delete(key),
      this.#steering.has(comment),
    );
  }

  help(pull: number, only: CommandSpec | undefined, key: string): void {
    this.#later(
      `help ${pull}`,
      () => this.#options.forge.stickyComment(pull, "stagecoach:help", helpAnswer(only)),
      () => this.#answered.delete(key),
    );
  }

  status(line: WrittenLine, run: Run, key: string): void {
    const { forge, clock, given } = this.#options;
    this.#question("status", line, run.rollout, key, async () => {
      const now = clock.now();
      const more = given?.(run) ?? {};
      const release = run.trigger.pull;
      const live = release === undefined ? undefined : await forge.stickyUrl(release, stickyMarker(run.rollout));
      return statusAnswer(run, now, line.author, live, more);
    });
  }

  plan(line: WrittenLine, run: Run, key: string): void {
    this.#question("plan", line, run.rollout, key, () => planAnswer(run, this.#options.clock.now(), line.author));
  }

  /** Writes what could not be written before. */
  writeAgain(): void {
    if (this.#refusals.isUnwritten()) this.#writeRefusals();
  }

  /** An answer that changes nothing, kept in one place of a PR: of many that wait for the same the newest is answered. */
  #question(kind: "status" | "plan", line: WrittenLine, rollout: string, key: string, body: () => Promise<string> | string): void {
    const { pull, comment } = line;
    const id = Number(comment);
    const place = `${kind} ${pull} ${rollout}`;
    const suffix = Number.isInteger(id) ? `\n<!-- answers ${Math.max(id, this.#asked.get(place) ?? 0)} -->` : "";
    this.#later(
      place,
      async () => {
        await this.#options.forge.stickyComment(pull, `stagecoach:${kind}:${rollout}`, `${await body()}${suffix}`);
        if (Number.isInteger(id)) this.#asked.set(place, id);
      },
      () => this.#answered.delete(key),
    );
  }

  #say(line: WrittenLine, message: string): void {
    this.#refusals.add({ ...line, message, shown: true });
    this.#writeRefusals();
  }

  #writeRefusals(): void {
    this.#later(
      "refusals",
      async () => {
        const own = this.#refused;
        this.#refused = [];
        const failed = await this.#refusals.write();
        this.#refused.unshift(...own.filter(({ pull }) => failed.has(pull)));
        for (const { pull, comment } of own) if (!failed.has(pull)) this.react(comment, "confused");
        if (failed.size > 0) this.#again();
      },
      () => undefined,
    );
  }

  /** `undo`: what was noted of it, so that a later reading gives it again. */
  #later(key: string, give: () => Promise<unknown>, undo: () => void, isPrompt = false): void {
    const { answering, log } = this.#options;
    const answer = async () => {
      try {
        await give();
        this.#failures = 0;
        this.#againAt = 0;
      } catch (error) {
        undo();
        log.warn({ answer: key, error: String(error) }, "an answer could not be given; trying again");
        this.#again();
      }
    };
    if (answering.later(key, answer, isPrompt)) return;
    undo();
    this.#again();
  }

  /** One look for all that could not be given by then. */
  #again(): void {
    const now = this.#options.clock.now();
    if (this.#againAt <= now) this.#againAt = now + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures++, 10));
    // Also where one was asked for before: a look that came earlier took its place.
    else if (now === this.#askedAt) return;
    this.#askedAt = now;
    this.#options.recheck(this.#againAt - now);
  }
}

/** Deleted meanwhile: there is nothing to set it on. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof ForgeError && error.kind === "NotFound")) throw error;
}

function waitsKey({ pull, comment, text }: WrittenLine): string {
  return `${pull} ${comment} ${text}`;
}
