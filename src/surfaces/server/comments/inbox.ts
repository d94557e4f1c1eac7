import type { Comment, Forge } from "../../../adapters/forge/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import { epoch } from "../../../core/base/time.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Command } from "../../../core/spec/command.ts";
import { COMMANDS, commandSpec } from "../../../core/spec/commands.ts";
import { OPEN_POLICY } from "../../../core/spec/repo-config.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { CommandPlace, CommandSource } from "../../../engine/round/observe/command-source.ts";
import { commandAnswers, recentKeys, type Spoken, tellAtMost } from "./answers.ts";
import { type Authority, isAllowedBot, openAuthority, type ReadPolicy } from "./authority.ts";
import { type HeldComments, heldComments } from "./cache.ts";
import { earlyCommands } from "./command-inbox-early.ts";
import { isForAnyTime, oldestFirst, placedOn, whichRollout } from "./command-place.ts";
import { type ParsedCommand, parsedComments } from "./parse.ts";

/** A comment found late acts only this long after it was written: docs/spec.md §9.20. */
const LATE_MS = 15 * 60_000;
/** So many answers one account is given in one look; what it writes beyond that is passed over without a word. */
const MOST_TOLD = 10;
const MOST_UNCLAIMED = 1_000;
/** What could not be asked is asked again after this. */
const AGAIN_MS = 5_000;

export interface CommandInbox extends CommandSource {
  /** A webhook said that something was written on this PR: it is read anew in the next round. */
  touched(pull: number): void;
  /** Everything is read anew in the next round: webhooks may have been lost. */
  resync(): void;
}

export interface CommandInboxOptions {
  forge: Forge;
  clock: Clock;
  log: Log;
  /** Default: nothing is narrowed, and no bot is heard. */
  policy?: ReadPolicy;
  /** Called where something had to be left for another look, which is wanted after so many milliseconds. */
  again?: (inMs: number) => void;
}

type Place = Omit<CommandPlace, "shared">;
type Heard = { one: ParsedCommand; spoken: Spoken };

/** One look at the comments. */
interface Look {
  authority: Authority;
  bots: (comment: Comment) => boolean;
  mayTell(author: string): boolean;
}

/** Where a command came from, for its answer. */
interface Origin {
  rollout: string;
  shared: boolean;
  spoken: Spoken;
}

/**
 * Commands as people write them in comments. What is written by a bot, edited, or by somebody who may not, reaches no run
 * and leaves nothing in the journal.
 */
export function commandInbox({ forge, clock, log, policy = async () => OPEN_POLICY, again }: CommandInboxOptions): CommandInbox {
  const held: HeldComments = heldComments(forge, clock, log);
  const parsed = parsedComments();
  const answers = commandAnswers(forge, clock, log);
  /** `id rollout`: doing it twice is harmless, so the oldest are forgotten. */
  const answered = recentKeys();
  /** PRs on which something was written, until somebody asks. */
  const told = new Set<number>();
  const origins = new WeakMap<Command, Origin>();
  /** By PR: the rollouts that are steered from it. */
  const readers = new Map<number, Set<string>>();
  /** Commands for a rollout that did not look yet, since when. */
  const unclaimed = new Map<string, number>();

  async function look(): Promise<Look> {
    const rules = await policy();
    return { authority: openAuthority(forge, rules, log), bots: (comment) => isAllowedBot(rules, comment), mayTell: tellAtMost(MOST_TOLD) };
  }

  async function done(...asked: { postponed: boolean }[]): Promise<void> {
    if (!(await answers.tell()) || asked.some(({ postponed }) => postponed)) again?.(AGAIN_MS);
  }

  /** Ours, edited, or a bot's that nobody allowed. */
  function counts(comment: Comment, { bots }: Look): boolean {
    if (comment.ours || (comment.authorIsBot && !bots(comment))) return false;
    return comment.createdAt === comment.updatedAt;
  }

  function refuseOnce(look: Look, key: string, spoken: Spoken, message: string): void {
    if (answered.add(key)) answers.refuse(spoken, message, look.mayTell(spoken.author));
  }

  /** Comments of a PR as last read, and with them what was refused there. */
  async function commentsOf(pull: number): Promise<readonly Comment[]> {
    const comments = await held.of(pull);
    answers.recall(pull, comments);
    return comments;
  }

  /** The commands of a comment that are still to be judged; a mistake in it is told. */
  async function heard(look: Look, { number: pull, former }: Place, comment: Comment, owner: string): Promise<Heard[]> {
    if (!counts(comment, look)) return [];
    const late = clock.now() - epoch(comment.createdAt) > LATE_MS;
    const read = await parsed(comment);
    const say = (text: string): Spoken => ({ pull, comment: comment.id, author: comment.author, text });
    if (read.kind === "reply" && !late)
      refuseOnce(look, `${comment.id} mistake`, say(comment.body.trim().split("\n")[0] ?? ""), read.message);
    if (read.kind !== "commands") return [];
    return read.commands
      .filter((one) => !late || isForAnyTime(one, former))
      .filter(({ index }) => !answered.has(`${comment.id}#${index} ${owner}`) && !answers.wasRefused(pull, `${comment.id}#${index}`))
      .map((one) => ({ one, spoken: say(one.text) }));
  }

  /** Judged once: what was refused stays so, whatever permission its author is given later. False: it goes no further. */
  async function mayGoOn(
    look: Look,
    key: string,
    comment: Comment,
    one: ParsedCommand,
    spoken: Spoken,
    against: () => Promise<string | undefined | "later">,
  ): Promise<boolean> {
    const why = (await look.authority.whyNot(comment, one.name)) ?? (await against());
    if (why === "later") return false;
    if (why !== undefined) {
      refuseOnce(look, key, { ...spoken, command: `${comment.id}#${one.index}` }, why);
      return false;
    }
    if (commandSpec(one.name).who === "read" && !look.mayTell(comment.author)) {
      answered.add(key);
      return false;
    }
    await answers.react(comment.id, "eyes");
    return true;
  }

  async function help(spoken: Spoken, { args }: ParsedCommand, key: string): Promise<void> {
    answered.add(key);
    const wanted = args[0]?.replace(/^\//, "").toLowerCase();
    await answers.help(
      spoken.pull,
      COMMANDS.find((command) => command.name === wanted),
    );
    await answers.react(spoken.comment, "rocket");
  }

  async function toCommand(look: Look, comment: Comment, { name, args, flags, text, index }: ParsedCommand): Promise<Command | undefined> {
    const permission = await look.authority.permissionOf(comment);
    if (permission === "later") return undefined;
    return { id: `${comment.id}#${index}`, name, args, flags, text, actor: comment.author, permission, createdAt: comment.createdAt };
  }

  /** For a rollout that is not steered from here: told once all that are have had their look. */
  async function nobodys(look: Look, place: CommandPlace, comment: Comment, spoken: Spoken, named: string): Promise<void> {
    const here = readers.get(place.number);
    const key = `${comment.id} for ${named} ${spoken.text}`;
    if (here === undefined || here.has(named) || answered.has(key)) return;
    const since = unclaimed.get(key) ?? clock.now();
    if (unclaimed.size > MOST_UNCLAIMED) unclaimed.clear();
    unclaimed.set(key, since);
    if (clock.now() - since < AGAIN_MS) return again?.(AGAIN_MS);
    const permission = await look.authority.permissionOf(comment);
    if (permission === "later" || permission === "none") return;
    const there = [...here].map((name) => `\`${name}\``).join(", ");
    refuseOnce(look, key, spoken, `no run of that rollout is steered from this pull request, only of ${there}`);
  }

  async function readPlace(look: Look, rollout: string, place: CommandPlace): Promise<Command[]> {
    const commands: Command[] = [];
    readers.set(place.number, (readers.get(place.number) ?? new Set()).add(rollout));
    for (const comment of await commentsOf(place.number)) {
      for (const { one, spoken } of await heard(look, place, comment, rollout)) {
        const named = one.flags["rollout"];
        if (named !== undefined && named !== rollout) {
          await nobodys(look, place, comment, spoken, String(named));
          continue;
        }
        const key = `${comment.id}#${one.index} ${rollout}`;
        if (!(await mayGoOn(look, key, comment, one, spoken, async () => whichRollout(place, one)))) continue;
        if (one.name === "help") await help(spoken, one, key);
        else {
          const command = await toCommand(look, comment, one);
          if (command === undefined) continue;
          const placed = placedOn(place, command);
          origins.set(placed, { rollout, shared: place.shared, spoken });
          commands.push(placed);
        }
      }
    }
    return commands;
  }

  return {
    touched(pull) {
      held.touched(pull);
      told.add(pull);
    },
    spokenOn() {
      const pulls = [...told];
      told.clear();
      return pulls;
    },
    resync: held.resync,
    async read(rollout, pulls) {
      const now = await look();
      const commands: Command[] = [];
      for (const place of pulls) commands.push(...(await readPlace(now, rollout, place)));
      await done(now.authority);
      return commands.sort(oldestFirst);
    },
    async beforeRun(pull) {
      const now = await look();
      const plans: Command[] = [];
      const comments = await commentsOf(pull);
      const early = earlyCommands(forge, pull, log);
      for (const comment of comments) {
        for (const { one, spoken } of await heard(now, { number: pull }, comment, "")) {
          const key = `${comment.id}#${one.index} `;
          if (!(await mayGoOn(now, key, comment, one, spoken, () => early.whyNot(one)))) continue;
          const command = one.name === "plan" ? await toCommand(now, comment, one) : undefined;
          if (one.name === "help") await help(spoken, one, key);
          else if (command !== undefined) {
            origins.set(command, { rollout: "", shared: false, spoken });
            plans.push(command);
          }
        }
      }
      await done(now.authority, early);
      return plans.sort(oldestFirst);
    },
    async answer(command, outcome, message, run?: Run) {
      const origin = origins.get(command);
      if (origin === undefined || answered.has(`${command.id} ${origin.rollout}`)) return;
      const { spoken, rollout, shared } = origin;
      if (outcome === "refused") {
        answers.refuse(spoken, shared ? `${rollout}: ${message}` : message);
        if (!(await answers.tell())) again?.(AGAIN_MS);
      } else {
        if (command.name === "status" && run !== undefined) await answers.status(spoken, run);
        if (command.name === "plan" && run !== undefined) await answers.plan(spoken, run);
        await answers.react(spoken.comment, "rocket");
      }
      answered.add(`${command.id} ${rollout}`);
    },
  };
}
