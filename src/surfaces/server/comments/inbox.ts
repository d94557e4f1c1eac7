/** Commands as people write them in comments: the rounds of a repository read them here, and here they are answered. */
import type { Forge } from "../../../adapters/forge/port.ts";
import { type Clock, epoch } from "../../../core/base/time.ts";
import { comment as reason } from "../../../core/reasons/comments.ts";
import type { GivenToDraw } from "../../../core/report/model/context.ts";
import { wholeSentence } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { type Command, commandSpec } from "../../../core/spec/commands.ts";
import { OPEN_POLICY } from "../../../core/spec/repo-config.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { CommandPlace, CommandSource } from "../../../engine/round/observe/command-source.ts";
import { type Answering, openAnswering } from "./answering.ts";
import { CommandAnswers } from "./answers.ts";
import { openAuthority, openKnown, type ReadPolicy, type WhyNot } from "./authority.ts";
import { commentCache } from "./comment-cache.ts";
import type { Heard } from "./heard.ts";
import { commentParser, type ParsedCommand } from "./parse.ts";
import { openQuota } from "./quota.ts";
import { commandsOn, openUnclaimed, RECHECK_MS, type Reading, type Wanted } from "./reading.ts";
import type { WrittenLine } from "./refusals.ts";
import { openWritten } from "./written.ts";

/** So many answers one account is given in one reading; what it writes beyond that is passed over without a word. */
const MOST_ANSWERS = 10;

export interface CommandInbox extends CommandSource {
  /** A webhook said that something was written on this PR, in a review or else in a comment: it is read anew in the next round. */
  touched(pull: number, where?: "review"): void;
  /** Everything is read anew in the next round: webhooks may have been lost. */
  resync(): void;
  /** The commands read last, and what was answered so far; no older ones than this process. */
  heard(): readonly Heard[];
  /** No answer is begun until this is let go: what a round writes comes first. */
  holdAnswers(): () => void;
  /** An answer waits, or is under way: with this process it is lost. */
  isAnswering(): boolean;
  /** Resolves when no answer waits or is under way. */
  settled(): Promise<void>;
  /** Answers that wait are dropped: whoever reads the comments next gives them. Waits for the one under way. */
  close(): Promise<void>;
}

export interface CommandInboxOptions {
  forge: Forge;
  clock: Clock;
  log: Log;
  /** Default: nothing is narrowed, and no bot is listened to. */
  policy?: ReadPolicy;
  /** Called where something had to be left for another reading, which is wanted after so many milliseconds. */
  again?: (inMs: number) => void;
  /** Where answers wait for their turn. Default: in a line of their own. */
  answering?: Answering;
  /** What is drawn of a run besides what its journal holds. */
  given?: ((run: Run) => GivenToDraw) | undefined;
  /** Something is to be told of what was heard. */
  onHeard?: (() => void) | undefined;
}

/** Where a command came from, for its answer. */
interface Origin {
  rollout: string;
  shared: boolean;
  line: WrittenLine;
}

interface Desk {
  cache: ReturnType<typeof commentCache>;
  answers: CommandAnswers;
  origins: WeakMap<Command, Origin>;
}

export function commandInbox(options: CommandInboxOptions): CommandInbox {
  const { forge, clock, log, policy = async () => OPEN_POLICY, again: recheck = () => undefined } = options;
  const cache = commentCache(forge, clock, log);
  const { answering = openAnswering()() } = options;
  const answers = new CommandAnswers({ forge, clock, log, answering, recheck, given: options.given, onHeard: options.onHeard });
  const desk: Desk = { cache, answers, origins: new WeakMap() };
  const judging = { parse: commentParser(), unclaimed: openUnclaimed(clock), isAsWritten: openWritten(options), quota: openQuota() };
  const lasting = { clock, answers, recheck, ...judging, known: openKnown() };

  async function openReading(): Promise<Reading> {
    return { ...lasting, authority: openAuthority(forge, await policy(), log, lasting.known), mayAnswer: answersAtMost(MOST_ANSWERS) };
  }

  function finish(...asked: { postponed: boolean }[]): void {
    answers.writeAgain();
    if (asked.some(({ postponed }) => postponed)) recheck(RECHECK_MS);
  }

  /** What one reading finds is answered together. */
  async function together<T>(work: () => Promise<T>): Promise<T> {
    const letGo = answering.hold();
    return work().finally(letGo);
  }

  async function read(rollout: string, places: readonly CommandPlace[], late?: boolean): Promise<Command[]> {
    const reading = await openReading();
    const commands = await readAll(desk, reading, places, rollout, { late, whyNot: async (one, place) => whyWhichRollout(place, one) });
    finish(reading.authority);
    return commands;
  }

  async function beforeRun(pull: number): Promise<Command[]> {
    const reading = await openReading();
    const unstarted = runIsMissing(forge, pull, log);
    const plans = await readAll(desk, reading, [{ number: pull, shared: false }], undefined, unstarted);
    finish(reading.authority, unstarted);
    return plans;
  }

  return {
    touched: cache.touched,
    spokenOn: cache.takeTouched,
    resync: cache.resync,
    heard: () => answers.heard(),
    holdAnswers: answering.hold,
    isAnswering: answering.isOpen,
    settled: answering.settled,
    close: answering.close,
    read: (rollout, places, { late } = {}) => together(() => read(rollout, places, late)),
    beforeRun: (pull) => together(() => beforeRun(pull)),
    whyNot: async (who, command) => openAuthority(forge, await policy(), log, lasting.known).whyNot(who, command),
    answer: answerAt(desk),
  };
}

async function readAll(
  { cache, answers, origins }: Desk,
  reading: Reading,
  places: readonly CommandPlace[],
  rollout: string | undefined,
  wants: Wanted,
): Promise<Command[]> {
  const commands: Command[] = [];
  // What stops is judged first, wherever it stands.
  for (const stops of [true, false])
    for (const place of places) {
      const comments = await cache.of(place.number);
      answers.recall(place.number, comments);
      const found = await commandsOn(reading, comments, place, rollout, { ...wants, stops });
      for (const { command, line } of found) origins.set(command, { rollout: rollout ?? "", shared: place.shared, line });
      commands.push(...found.map(({ command }) => command));
    }
  return commands.sort(oldestFirst);
}

function answerAt({ answers, origins }: Desk): CommandSource["answer"] {
  return async (command, outcome, message, run) => {
    const origin = origins.get(command);
    if (origin === undefined) return;
    const { line, rollout, shared } = origin;
    const key = `${command.id} ${rollout}`;
    if (answers.isAnswered(key)) return;
    // What it came to was said in its time.
    if (command.late === true && message?.code !== "COMMAND_TOO_LATE") return void answers.setAnswered(key);
    const said = message === undefined ? "" : wholeSentence(message, run);
    if (outcome === "waits") return answers.sayWaits(line, said);
    answers.setAnswered(key);
    if (outcome === "refused") return answers.refuse(line, shared ? `${rollout}: ${said}` : said);
    if (command.name === "status" && run !== undefined) answers.status(line, run, key);
    if (command.name === "plan" && run !== undefined) answers.plan(line, run, key);
    answers.markDone(line, message && said);
  };
}

/** Whether an account is given one more answer: anybody may comment, as often as they like. */
function answersAtMost(most: number): (author: string) => boolean {
  const given = new Map<string, number>();
  return (author) => {
    given.set(author, (given.get(author) ?? 0) + 1);
    return (given.get(author) ?? 0) <= most;
  };
}

function oldestFirst(a: Command, b: Command): number {
  return epoch(a.createdAt) - epoch(b.createdAt) || a.id.localeCompare(b.id, undefined, { numeric: true });
}

/** Of several rollouts steered from one PR the one meant must be named, unless the command is for all: docs/spec.md §9.21. */
function whyWhichRollout({ shared }: CommandPlace, { name, flags }: ParsedCommand) {
  const isClear = !shared || flags["rollout"] !== undefined || commandSpec(name).onAll === true;
  return isClear ? undefined : reason("COMMAND_NAMES_NO_ROLLOUT");
}

/**
 * Judges what was written on a PR before it has a run. It is asked after the PR's comments were read: a PR that is still open
 * then was so when they were written. One that was merged since may have been commented on after its merge, and what is
 * refused once is never judged again: all that is left to its run.
 */
function runIsMissing(forge: Forge, pull: number, log: Log): { whyNot(parsed: ParsedCommand): WhyNot; postponed: boolean } {
  let open: Promise<boolean> | undefined;
  /** `postponed`: GitHub did not answer, and is to be asked again. */
  const judge = {
    postponed: false,
    async whyNot({ name: command }: ParsedCommand): WhyNot {
      if (command === "help" || command === "plan") return undefined;
      open ??= isOpen();
      return (await open) ? reason("COMMAND_BEFORE_RUN", { command }) : "later";
    },
  };

  async function isOpen(): Promise<boolean> {
    try {
      return (await forge.pull(pull))?.state === "open";
    } catch (error) {
      log.warn({ pull, error: String(error) }, "whether a pull request was merged could not be asked; trying again");
      judge.postponed = true;
      return false;
    }
  }
  return judge;
}
