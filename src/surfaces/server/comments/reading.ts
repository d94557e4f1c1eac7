/**
 * One reading of the comments of pull requests: which commands in them may act now. What is written by a bot, edited, or by
 * somebody who may not give it, reaches no run and leaves nothing in the journal. Called by the inbox, once a round.
 */
import type { Comment } from "../../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type Clock, epoch } from "../../../core/base/time.ts";
import { comment as reason } from "../../../core/reasons/comments.ts";
import { wholeSentence } from "../../../core/report/reasons/say.ts";
import { isStop } from "../../../core/run/commands/order.ts";
import { COMMANDS, type Command, commandSpec, hasPermission } from "../../../core/spec/commands.ts";
import type { CommandPlace } from "../../../engine/round/observe/command-source.ts";
import type { CommandAnswers } from "./answers.ts";
import type { Authority, WhyNot } from "./authority.ts";
import type { CommentParser, ParsedCommand } from "./parse.ts";
import type { Quota } from "./quota.ts";
import { keyOf, type WrittenLine } from "./refusals.ts";

/** A comment found late acts only this long after it was written: docs/spec.md §9.20. */
const LATE_MS = 15 * 60_000;
/** A command is given so long to be taken by the rollout that it names. */
export const RECHECK_MS = 5_000;
const MOST_UNCLAIMED = 1_000;
/** Pull requests that are remembered to steer, and rollouts of each. Of one that was forgotten nothing is refused. */
const MOST_STEERED = 1_000;

/** What one reading goes by. */
export interface Reading {
  clock: Clock;
  answers: CommandAnswers;
  parse: CommentParser;
  unclaimed: ReturnType<typeof openUnclaimed>;
  /** As of this reading. */
  authority: Authority;
  /** Whether it says what its author wrote: see `written.ts`. */
  isAsWritten(comment: Comment, stops: boolean): Promise<boolean>;
  /** Whether this account may be answered once more in this reading. */
  mayAnswer(author: string): boolean;
  /** What people who may not steer are answered in all. */
  quota: Quota;
  /** Asks for another reading, after so many milliseconds. */
  recheck(inMs: number): void;
}

/** A command that may act, and where it was written. */
interface FoundCommand {
  command: Command;
  line: WrittenLine;
}

interface Candidate {
  comment: Comment;
  /** Of the command. */
  id: string;
  parsed: ParsedCommand;
  line: WrittenLine;
  /** It is remembered as answered under this, for its rollout. */
  key: string;
  /** It was found too late to act. */
  late?: true | undefined;
}

/** What is wanted of one reading. */
export interface Wanted {
  whyNot(parsed: ParsedCommand, place: CommandPlace): WhyNot;
  /** What is found too late to act, too. */
  late?: boolean | undefined;
}

/** Finds the commands of a PR that may act on a rollout's run; `rollout` undefined: on a PR that has no run yet. */
export async function commandsOn(
  reading: Reading,
  comments: readonly Comment[],
  place: CommandPlace,
  rollout: string | undefined,
  { stops, late: wantsLate, ...wants }: Wanted & { stops: boolean },
): Promise<FoundCommand[]> {
  const found: FoundCommand[] = [];
  if (rollout !== undefined) reading.unclaimed.steer(place.number, rollout);
  const candidates: Candidate[] = [];
  for (const comment of comments) candidates.push(...(await candidatesIn(reading, place, comment, rollout)));
  const wanted = candidates.filter(({ parsed, late }) => isStop(parsed) === stops && (late !== true || wantsLate === true));
  const whyNot = (parsed: ParsedCommand) => wants.whyNot(parsed, place);
  for (const candidate of wanted.toSorted((a, b) => rankOf(reading, a) - rankOf(reading, b))) {
    const { parsed, line } = candidate;
    const named = parsed.flags["rollout"];
    if (candidate.late === true) {
      const command = rollout === (named ?? rollout) ? await lateCommand(reading, candidate, place, whyNot) : undefined;
      if (command !== undefined) found.push({ command, line });
    } else if (rollout !== undefined && named !== undefined && named !== rollout) await refuseUnclaimed(reading, candidate, String(named));
    else if (!(await mayAct(reading, candidate, whyNot))) continue;
    else if (parsed.name === "help") answerHelp(reading, candidate);
    else {
      const command = await commandFrom(reading, candidate, place);
      if (command !== undefined) found.push({ command, line });
    }
  }
  return found;
}

/** Those of people who were seen to steer come before anybody else's: what strangers write must not delay them. */
function rankOf({ authority }: Reading, { comment }: Candidate): number {
  return authority.isKnown(comment.author) ? 0 : 1;
}

/** What would have acted in time, and is told now that it does not; what changes nothing, or belongs to a run that is over, is not. */
async function lateCommand(reading: Reading, candidate: Candidate, place: CommandPlace, whyNot: (parsed: ParsedCommand) => WhyNot) {
  const { comment, parsed } = candidate;
  if (place.former !== undefined || commandSpec(parsed.name).who === "read") return undefined;
  const why = (await reading.authority.whyNot(comment, parsed.name)) ?? (await whyNot(parsed));
  if (why !== undefined) return undefined;
  const command = await commandFrom(reading, candidate, place);
  return command === undefined ? undefined : { ...command, late: true as const };
}

/** Gives the commands of a comment that are still to be judged; a mistake in it is refused. */
async function candidatesIn(reading: Reading, place: CommandPlace, comment: Comment, rollout = ""): Promise<Candidate[]> {
  const { answers, authority, clock } = reading;
  const { author, body, createdAt } = comment;
  const id = keyOf(comment);
  if (comment.ours || (comment.authorIsBot && !authority.isAllowedBot(comment)) || createdAt !== comment.updatedAt) return [];
  const isLate = clock.now() - epoch(createdAt) > LATE_MS;
  const read = await reading.parse(id, body);
  const lineOf = (text: string): WrittenLine => ({ pull: place.number, comment: id, author, text });
  if (read.kind === "mistake" && !isLate)
    refuseOnce(reading, `${id} mistake`, lineOf(body.trim().split("\n")[0] ?? ""), reason("COMMENT_NOT_DONE", { because: read.because }));
  if (read.kind !== "commands") return [];
  return read.commands
    .map((parsed) => ({
      ...{ comment, id: `${id}#${parsed.index}`, parsed, line: lineOf(parsed.text), key: `${id}#${parsed.index} ${rollout}` },
      late: isLate && !isForAnyTime(parsed, place.former) ? (true as const) : undefined,
    }))
    .filter((one) => !answers.isAnswered(one.key))
    .filter((one) => {
      const isOver = answers.wasRefused(place.number, one.id) || answers.wasAsked(one.parsed.name, place.number, rollout, id);
      // By an earlier process, perhaps: it counts among what its author was answered.
      if (isOver && one.late !== true) reading.quota.take(author, one.id, epoch(createdAt));
      return !isOver;
    });
}

/** Whether a command counts however old it is. What was said to a run that is over was for it alone, but a halt is for all. */
function isForAnyTime({ name }: ParsedCommand, former: number | undefined): boolean {
  return commandSpec(name).anyAge === true && (former === undefined || name === "halt");
}

/** Judges a command once: what was refused stays so, whatever permission its author is given later. */
async function mayAct(reading: Reading, { comment, id, parsed, line, key }: Candidate, whyNot: (parsed: ParsedCommand) => WhyNot) {
  const { answers, authority, mayAnswer, isAsWritten } = reading;
  const why = (await authority.whyNot(comment, parsed.name)) ?? (await whyNot(parsed));
  if (why === "later") return false;
  const has = await authority.permissionOf(comment);
  if (has === "later") return false;
  const left = hasPermission(has, "write") ? undefined : reading.quota.take(comment.author, id, epoch(comment.createdAt));
  if (left === "limit") refuseOnce(reading, key, { ...line, command: id }, reason("COMMENTER_ASKS_TOO_OFTEN"));
  else if (why !== undefined) refuseOnce(reading, key, { ...line, command: id }, why, left !== "none");
  else if (left === "none") answers.setAnswered(key);
  else if (commandSpec(parsed.name).who === "read" && !mayAnswer(comment.author)) answers.setAnswered(key);
  else if (await isAsWritten(comment, onlyStops(parsed))) {
    answers.markRead(line, hasPermission(has, "write"));
    return true;
  }
  return false;
}

/** What changes nothing but that no merge comes. */
function onlyStops(parsed: ParsedCommand): boolean {
  return isStop(parsed) && parsed.name !== "rollback";
}

function refuseOnce({ answers, mayAnswer }: Reading, key: string, line: WrittenLine, because: AnyReason, shown = true): void {
  if (answers.setAnswered(key)) answers.refuse(line, wholeSentence(because), shown && mayAnswer(line.author));
}

function answerHelp({ answers }: Reading, { parsed, line, key }: Candidate): void {
  answers.setAnswered(key);
  const wanted = parsed.args[0]?.replace(/^\//, "").toLowerCase();
  const spec = COMMANDS.find(({ name }) => name === wanted);
  answers.help(line.pull, spec, key);
  answers.markDone(line);
}

async function commandFrom({ authority }: Reading, { comment, id, parsed }: Candidate, { number, batch, former }: CommandPlace) {
  const permission = await authority.permissionOf(comment);
  if (permission === "later") return undefined;
  const { index: _, ...command } = parsed;
  const { author: actor, createdAt } = comment;
  return { ...command, id, actor, permission, createdAt, batch, pull: batch === undefined ? undefined : number, former };
}

/** Refuses a command for a rollout that is not steered from here, once all that are have read it. */
async function refuseUnclaimed(reading: Reading, { comment, line }: Candidate, wanted: string): Promise<void> {
  const { answers, authority, unclaimed, recheck } = reading;
  const key = `${line.comment} for ${wanted} ${line.text}`;
  const steered = answers.isAnswered(key) ? [] : unclaimed.othersThan(line.pull, wanted);
  if (steered.length === 0) return;
  if (!unclaimed.isOverdue(key)) return recheck(RECHECK_MS);
  const permission = await authority.permissionOf(comment);
  if (permission === "later" || permission === "none") return;
  refuseOnce(reading, key, line, reason("ROLLOUT_STEERED_ELSEWHERE", { here: steered }));
}

/** Knows which rollouts are steered from which PR, and since when a command waits for one that did not read it. */
export function openUnclaimed(clock: Clock) {
  const steered = new BoundedMap<number, Set<string>>(MOST_STEERED);
  const waitsSince = new BoundedMap<string, number>(MOST_UNCLAIMED);
  return {
    steer: (pull: number, rollout: string) =>
      void steered.set(pull, (steered.get(pull) ?? new BoundedSet<string>(MOST_STEERED)).add(rollout)),
    /** The rollouts steered from a PR; none where the wanted one is among them. */
    othersThan(pull: number, wanted: string): string[] {
      const here = steered.get(pull) ?? new Set();
      return here.has(wanted) ? [] : [...here];
    },
    /** Whether a command has waited long enough; its wait begins with the first question. */
    isOverdue(key: string): boolean {
      const since = waitsSince.get(key) ?? clock.now();
      waitsSince.set(key, since);
      return clock.now() - since >= RECHECK_MS;
    },
  };
}
