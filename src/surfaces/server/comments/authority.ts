/** Who may give a command: GitHub's permissions and the settings of the default branch, asked anew in every reading. */
import type { Forge } from "../../../adapters/forge/port.ts";
import { GitError, type Mirror } from "../../../adapters/git/port.ts";
import { BoundedSet } from "../../../core/base/bounded.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { comment as reason } from "../../../core/reasons/comments.ts";
import { type CommandName, commandSpec, hasPermission, type Permission } from "../../../core/spec/commands.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { type CommandPolicy, OPEN_POLICY, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import { openSnapshot } from "../../../engine/config-repo/snapshot.ts";
import type { Log } from "../../../engine/round/context.ts";

/** `broken`: the settings have an error, so nobody can tell whom they would let do what. */
export type ReadPolicy = () => Promise<CommandPolicy | "broken">;

/** The repo's settings about commands, from the base branch as of the last fetch; never from a pull request. */
export function policyOf(mirror: Mirror, baseBranch: () => string): ReadPolicy {
  let known: { base: string | undefined; policy: CommandPolicy | "broken" } | undefined;
  return async () => {
    const base = await mirror.head(baseBranch());
    if (known === undefined || known.base !== base) known = { base, policy: base === undefined ? OPEN_POLICY : await readAt(mirror, base) };
    return known.policy;
  };
}

async function readAt(mirror: Mirror, base: string): Promise<CommandPolicy | "broken"> {
  try {
    const { policy, problems } = parseRepoConfig(await openSnapshot(mirror, base).read(SETTINGS_FILE), SETTINGS_FILE);
    return problems.some((problem) => problem.severity === "error") ? "broken" : policy;
  } catch (error) {
    // A file that must not be read (a symbolic link, megabytes) says nothing; a mirror that is not there is tried again.
    if (error instanceof GitError && error.kind !== "Unavailable" && error.kind !== "Unauthorized") return "broken";
    throw error;
  }
}

/** Heard whatever the settings say: they make things safer, or change nothing. */
const ALWAYS: ReadonlySet<CommandName> = new Set(["pause", "abort", "halt", "status", "plan", "help"]);
/** Anybody may comment. So many questions are asked in one look, and the others in the next ones. */
const MOST_ASKED = 50;
/** Of them about accounts of which it is not known that they have steered anything here. */
const MOST_ASKED_OF_STRANGERS = 20;
const MOST_KNOWN = 1000;

/** Accounts that had the right to steer when they were last asked about: they are asked about first. It gives nobody a right. */
type KnownPeople = Pick<BoundedSet<string>, "has" | "add" | "delete">;

export function openKnown(): KnownPeople {
  return new BoundedSet<string>(MOST_KNOWN);
}

/** Why a command may not act; undefined: nothing is against it; `later`: it cannot be told now. */
export type WhyNot = Promise<AnyReason | undefined | "later">;

/** Who wrote or did something, as GitHub says. */
interface Account {
  author: string;
  authorIsBot: boolean;
}

export type Authority = ReturnType<typeof openAuthority>;

/** What GitHub said in one reading. Never kept longer: a permission may be taken away at any moment. */
export function openAuthority(forge: Forge, policy: CommandPolicy | "broken", log: Log, known = openKnown()) {
  const questions = openQuestions(log);
  let strangers = 0;

  /** Whether a bot is named in the settings; a person always counts as one. */
  function isAllowedBot({ author, authorIsBot }: Account): boolean {
    return authorIsBot && policy !== "broken" && policy.bots.has(author.toLowerCase());
  }

  async function permissionOf(account: Account): Promise<Permission | "later"> {
    const { author } = account;
    const key = `permission ${author}`;
    if (!known.has(author) && !questions.isAsked(key) && ++strangers > MOST_ASKED_OF_STRANGERS) return questions.postpone();
    const permission = await questions.ask(key, () => forge.permission(author));
    if (permission === "later") return permission;
    if (hasPermission(permission, "write")) known.add(author);
    else known.delete(author);
    if (!isAllowedBot(account)) return permission;
    // Named in the settings on the default branch: that is its permission. GitHub itself gives an App none.
    return hasPermission(permission, "write") ? permission : "write";
  }

  async function whyNot(account: Account, command: CommandName): WhyNot {
    const has = await permissionOf(account);
    if (has === "later") return "later";
    const needs = commandSpec(command).who;
    if (!hasPermission(has, needs)) return reason("COMMENTER_LACKS_PERMISSION", { command, needs, has });
    if (policy === "broken") return ALWAYS.has(command) ? undefined : reason("COMMANDS_UNDECIDED", { command });
    const teams = policy.teams.get(command);
    return teams === undefined ? undefined : await whyNoMember(command, teams, (team) => isMember(team, account.author));
  }

  function isMember(team: string, author: string): Promise<boolean | undefined | "later"> {
    return questions.ask(`team ${team} ${author}`, () => forge.inTeam(team, author));
  }

  return {
    whyNot,
    permissionOf,
    isAllowedBot,
    isKnown: (author: string) => known.has(author),
    /** Something was left for a later reading. */
    get postponed() {
      return questions.postponed;
    },
  };
}

/** Asks GitHub one question once; `later` where enough was asked, or it does not answer. */
function openQuestions(log: Log) {
  const answers = new Map<string, Promise<unknown>>();
  let postponed = false;
  return {
    get postponed() {
      return postponed;
    },
    isAsked: (key: string) => answers.has(key),
    postpone(): "later" {
      postponed = true;
      return "later";
    },
    async ask<T>(key: string, question: () => Promise<T>): Promise<T | "later"> {
      let answer = answers.get(key) as Promise<T | "later"> | undefined;
      if (answer === undefined) {
        if (answers.size >= MOST_ASKED) {
          postponed = true;
          return "later";
        }
        answer = question().catch((error: unknown) => {
          log.warn({ question: key, error: String(error) }, "who may give a command could not be asked; trying again");
          postponed = true;
          return "later" as const;
        });
        answers.set(key, answer);
      }
      return answer;
    },
  };
}

async function whyNoMember(
  command: CommandName,
  teams: readonly string[],
  isMember: (team: string) => Promise<boolean | undefined | "later">,
): WhyNot {
  const unseen: string[] = [];
  let later = false;
  for (const team of teams) {
    const member = await isMember(team);
    if (member === true) return undefined;
    if (member === "later") later = true;
    if (member === undefined) unseen.push(team);
  }
  return later ? "later" : reason("COMMENTER_NOT_IN_TEAM", { command, teams, unseen });
}
