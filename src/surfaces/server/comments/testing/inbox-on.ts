import type { Comment, Forge, Pull } from "../../../../adapters/forge/port.ts";
import type { Permission } from "../../../../core/spec/commands.ts";
import { type CommandPolicy, OPEN_POLICY } from "../../../../core/spec/repo-config.ts";
import { silentLog } from "../../../../engine/round/context.ts";
import { type CommandInboxOptions, commandInbox } from "../inbox.ts";
import { answersGiven } from "./answers-given.ts";

export const PLACE = [{ number: 1, shared: false }];
export const LONG_AGO = "2026-11-01T00:00:00.000Z";
export const NOW = Date.parse("2026-11-21T10:00:00Z");
const JUST_NOW = new Date(NOW - 2000).toISOString();
interface Bench {
  comments: Comment[];
  permissions?: Map<string, Permission>;
  teams?: Record<string, readonly string[] | "unseen">;
  policy?: CommandPolicy | "broken";
  forge?: Partial<Forge>;
}

/** The inbox on a forge that writes down what is asked of it. Everybody has write permission unless told otherwise. */
export function inboxOn({ comments, permissions, teams = {}, policy = OPEN_POLICY, forge: other = {} }: Bench) {
  const calls: string[] = [];
  const bodies: string[] = [];
  const again: number[] = [];
  let now = NOW;
  const forge: Partial<Forge> = {
    comments: async () => [...comments],
    unedited: async (asked) => asked,
    pull: async () => ({ state: "open" }) as Pull,
    async permission(login) {
      calls.push(`permission ${login}`);
      return permissions === undefined ? "write" : (permissions.get(login) ?? "read");
    },
    async inTeam(team, login) {
      calls.push(`team ${team} ${login}`);
      const members = teams[team] ?? [];
      return members === "unseen" ? undefined : members.includes(login);
    },
    async react(comment, reaction) {
      calls.push(`react ${comment} ${reaction}`);
    },
    async stickyComment(_pull, marker, body) {
      calls.push("sticky");
      bodies.push(`${marker}\n${body}`);
      return { id: 1, url: "" };
    },
    stickyUrl: async () => undefined,
    ...other,
  };
  const clock = { now: () => now, after: () => () => undefined };
  const options: CommandInboxOptions = {
    forge: forge as Forge,
    clock,
    log: silentLog,
    policy: async () => policy,
    again: (ms) => again.push(ms),
  };
  const inbox = answersGiven(commandInbox(options));
  const texts = async (rollout = "payments", places = PLACE) => (await inbox.read(rollout, places)).map((command) => command.text);
  return { calls, bodies, again, inbox, texts, pass };

  function pass(ms: number): void {
    now += ms;
  }
}

export function said(id: number, author: string, body: string, more: Partial<Comment> = {}): Comment {
  return { id, author, authorIsBot: false, ours: false, body, createdAt: JUST_NOW, updatedAt: more.createdAt ?? JUST_NOW, ...more };
}
