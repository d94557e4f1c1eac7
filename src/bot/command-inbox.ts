import type { Comment, Forge } from "../forge/port.ts";
import type { CommandPlace, CommandSource } from "../reconcile/command-source.ts";
import type { Log } from "../reconcile/context.ts";
import { cell, code } from "../report/escape.ts";
import { COMMANDS, commandSpec, hasPermission } from "../rollout/commands.ts";
import type { Clock } from "../rollout/time.ts";
import { epoch } from "../rollout/time.ts";
import type { Command, Permission } from "../rollout/world.ts";
import { type ParsedCommand, type ParsedComment, parseComment } from "./parse-comment.ts";

/** A comment found late acts only this long after it was written: SPEC §9.20. */
const LATE_MS = 15 * 60_000;
/** These make things safer, and act at any age. */
const SAFE = new Set(["pause", "abort", "halt"]);
/** Act on every rollout of a release PR: SPEC §9.21. */
const ON_ALL = new Set(["pause", "abort", "status", "plan", "help"]);
/** Without a webhook a PR's comments are asked for this often. */
const RESYNC_MS = 60_000;
const MOST_REMEMBERED = 20_000;
/** Anybody may comment. So many accounts are asked about in one look, and the others in the next ones. */
const MOST_ASKED = 50;
/** So many refusals one account is told in one look; what it writes beyond that is refused without a word. */
const MOST_TOLD = 10;

/** What one look may still cost. */
interface Look {
  permissions: Map<string, Promise<Permission>>;
  /** Refusals told, by account. */
  told: Map<string, number>;
}

export interface CommandInbox extends CommandSource {
  /** A webhook said that something was written on this PR: it is read anew in the next round. */
  touched(pull: number): void;
}

interface Held {
  comments: Comment[];
  readAt: number;
}

export interface CommandInboxOptions {
  forge: Forge;
  clock: Clock;
  log: Log;
  /** Logins of bots whose commands count. */
  allowedBots?: readonly string[];
}

/**
 * Commands as people write them in comments. What is written by a bot, edited, or by somebody who may not, reaches no run
 * and leaves nothing in the journal.
 */
export function commandInbox({ forge, clock, log, allowedBots = [] }: CommandInboxOptions): CommandInbox {
  const held = new Map<number, Held>();
  const dirty = new Set<number>();
  const parsed = new Map<number, { body: string; result: ParsedComment }>();
  /** `comment reaction` already set, and ids of commands answered, the oldest forgotten first: doing it twice is harmless. */
  const done = new Set<string>();
  /** Pull each command was written on, for the answer. */
  const places = new Map<string, { pull: number; comment: number }>();

  async function comments(pull: number): Promise<Comment[]> {
    const known = held.get(pull);
    const now = clock.now();
    if (known !== undefined && !dirty.has(pull) && now - known.readAt < RESYNC_MS) return known.comments;
    dirty.delete(pull);
    try {
      const fresh = await forge.comments(pull);
      held.set(pull, { comments: fresh, readAt: now });
      return fresh;
    } catch (error) {
      dirty.add(pull);
      log.warn({ pull, error: String(error) }, "comments could not be read; trying again");
      return known?.comments ?? [];
    }
  }

  /** Each comment is read once for each text it ever had: rounds are many. */
  function parsedOf(comment: Comment): ParsedComment {
    const known = parsed.get(comment.id);
    if (known !== undefined && known.body === comment.body) return known.result;
    if (parsed.size > MOST_REMEMBERED) parsed.clear();
    const result = parseComment(comment.body);
    parsed.set(comment.id, { body: comment.body, result });
    return result;
  }

  function mayAct(comment: Comment): boolean {
    if (comment.ours || (comment.authorIsBot && !allowedBots.includes(comment.author))) return false;
    return comment.createdAt === comment.updatedAt;
  }

  function keep(key: string): void {
    done.add(key);
    const oldest = done.values().next().value;
    if (done.size > MOST_REMEMBERED && oldest !== undefined) done.delete(oldest);
  }

  /** undefined: enough were asked about in this look. Never kept longer: a permission may be taken away at any moment. */
  async function permissionOf({ permissions }: Look, login: string): Promise<Permission | undefined> {
    const known = permissions.get(login);
    if (known !== undefined) return known;
    return permissions.size < MOST_ASKED ? remember(permissions, login, forge.permission(login)) : undefined;
  }

  async function react(comment: number, reaction: "eyes" | "rocket" | "confused"): Promise<void> {
    const key = `${comment} ${reaction}`;
    if (done.has(key)) return;
    keep(key);
    try {
      await forge.react(comment, reaction);
    } catch (error) {
      done.delete(key);
      log.warn({ comment, error: String(error) }, "a reaction could not be set");
    }
  }

  async function refuse(pull: number, comment: Comment | { id: number; author: string }, text: string, message: string): Promise<void> {
    const key = `refused ${comment.id} ${text}`;
    if (done.has(key)) return;
    keep(key);
    await react(comment.id, "confused");
    const body = `> ${code(text)}\n\n@${cell(comment.author)}: ${message}.\n\n\`/help\` lists what can be said here.`;
    await forge.stickyComment(pull, "stagecoach:answer", body);
  }

  async function refuseOnce(look: Look, pull: number, comment: Comment, text: string, message: string): Promise<void> {
    if (done.has(`refused ${comment.id} ${text}`)) return;
    const told = remember(look.told, comment.author, (look.told.get(comment.author) ?? 0) + 1);
    if (told <= MOST_TOLD) await refuse(pull, comment, text, message);
    else keep(`refused ${comment.id} ${text}`);
  }

  /** Why a command reaches no run, whatever the run says; undefined: nothing is against it. */
  function againstIt(place: CommandPlace, { name, flags }: ParsedCommand, permission: Permission): string | undefined {
    const needs = commandSpec(name).who;
    if (!hasPermission(permission, needs)) {
      return `\`/${name}\` needs ${needs} permission on this repository, and you have ${permission}`;
    }
    if (!place.shared || typeof flags["rollout"] === "string" || ON_ALL.has(name)) return undefined;
    return "several rollouts are steered from this pull request: say which with `--rollout NAME`";
  }

  /** A command is judged once: what was refused stays so, whatever permission its author is given later. */
  async function judge(
    rollout: string,
    place: CommandPlace,
    comment: Comment,
    parsed: ParsedCommand,
    look: Look,
  ): Promise<Command | undefined> {
    const id = `${comment.id}#${parsed.index}`;
    if (done.has(`answered ${id}`)) return undefined;
    const named = parsed.flags["rollout"];
    if (typeof named === "string" && named !== rollout) return undefined;
    const late = clock.now() - epoch(comment.createdAt) > LATE_MS;
    if (late && !SAFE.has(parsed.name)) return undefined;
    const permission = await permissionOf(look, comment.author);
    if (permission === undefined) return undefined;
    const against = againstIt(place, parsed, permission);
    if (against !== undefined) {
      keep(`answered ${id}`);
      await refuseOnce(look, place.number, comment, parsed.text, against);
      return undefined;
    }
    await react(comment.id, "eyes");
    if (parsed.name === "help") {
      await help(place.number, comment, id);
      return undefined;
    }
    places.set(id, { pull: place.number, comment: comment.id });
    const { name, args, flags, text } = parsed;
    return {
      id,
      name,
      args,
      flags,
      text,
      actor: comment.author,
      permission,
      createdAt: comment.createdAt,
      ...(place.batch === undefined ? {} : { batch: place.batch }),
    };
  }

  async function help(pull: number, comment: Comment, id: string): Promise<void> {
    keep(`answered ${id}`);
    const rows = COMMANDS.filter((c) => c.built).map((c) => `| ${code(c.usage)} | ${cell(c.summary)} | ${c.who} |`);
    await forge.stickyComment(pull, "stagecoach:help", `| command | does | who |\n| --- | --- | --- |\n${rows.join("\n")}`);
    await react(comment.id, "rocket");
  }

  return {
    touched(pull) {
      dirty.add(pull);
    },
    async read(rollout, pulls) {
      const look: Look = { permissions: new Map(), told: new Map() };
      const commands: Command[] = [];
      for (const place of pulls) {
        for (const comment of await comments(place.number)) {
          if (!mayAct(comment)) continue;
          const parsed = parsedOf(comment);
          if (parsed.kind === "reply" && clock.now() - epoch(comment.createdAt) <= LATE_MS) {
            await refuseOnce(look, place.number, comment, comment.body.split("\n")[0] ?? "", parsed.message);
          }
          if (parsed.kind !== "commands") continue;
          for (const one of parsed.commands) {
            const command = await judge(rollout, place, comment, one, look);
            if (command !== undefined) commands.push(command);
          }
        }
      }
      return commands.sort((a, b) => epoch(a.createdAt) - epoch(b.createdAt) || a.id.localeCompare(b.id, undefined, { numeric: true }));
    },
    async answer(command, outcome, message) {
      const place = places.get(command.id);
      if (place === undefined || done.has(`answered ${command.id}`)) return;
      if (outcome === "refused") await refuse(place.pull, { id: place.comment, author: command.actor }, command.text, message);
      else await react(place.comment, "rocket");
      keep(`answered ${command.id}`);
    },
  };
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value);
  return value;
}
