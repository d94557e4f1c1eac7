import { type Forge, ForgeError, type Reaction } from "../../../adapters/forge/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import { helpAnswer, planAnswer, statusAnswer } from "../../../core/report/answers.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { CommandSpec } from "../../../core/spec/commands.ts";
import type { Log } from "../../../engine/round/context.ts";
import { stickyMarker } from "../../../engine/round/publish/publish.ts";
import { type RefusalPage, refusalPage } from "./refusals.ts";

/** Where a command was written, and by whom. */
export interface Spoken {
  pull: number;
  comment: number;
  author: string;
  /** As written, one line. */
  text: string;
  /** `123456#0`, of a command. */
  command?: string;
}

/** What people see of what became of their commands. Everything may be said twice: it stands there once. */
export interface CommandAnswers {
  react(comment: number, reaction: Reaction): Promise<void>;
  /** Takes in what was refused on a PR before us. */
  recall: RefusalPage["recall"];
  wasRefused: RefusalPage["has"];
  /** Refused for good, from `tell` on. Not `told`: noted without a word. */
  refuse(spoken: Spoken, message: string, told?: boolean): void;
  /** Of what was refused since: the PR's one comment of refusals, and then 😕. False: not all could be told yet. */
  tell(): Promise<boolean>;
  help(pull: number, only: CommandSpec | undefined): Promise<void>;
  status(spoken: Spoken, run: Run): Promise<void>;
  plan(spoken: Spoken, run: Run): Promise<void>;
}

const MOST_REMEMBERED = 20_000;

export function commandAnswers(forge: Forge, clock: Clock, log: Log): CommandAnswers {
  /** `comment reaction`, the oldest forgotten first: setting one twice is harmless. */
  const reacted = recentKeys();
  const page = refusalPage(forge, log);
  /** Comments that get their 😕 once it is written down on their PR that they were refused. */
  let refused: { pull: number; comment: number }[] = [];

  async function react(comment: number, reaction: Reaction): Promise<void> {
    const key = `${comment} ${reaction}`;
    if (!reacted.add(key)) return;
    try {
      await forge.react(comment, reaction);
    } catch (error) {
      // Deleted meanwhile: there is nothing to set it on.
      if (error instanceof ForgeError && error.kind === "NotFound") return;
      reacted.forget(key);
      log.warn({ comment, error: String(error) }, "a reaction could not be set");
    }
  }

  return {
    react,
    recall: page.recall,
    wasRefused: page.has,
    refuse(spoken, message, told = true) {
      page.add({ ...spoken, message, told });
      if (told) refused.push({ pull: spoken.pull, comment: spoken.comment });
    },
    async tell() {
      const waiting = refused;
      refused = [];
      const failed = await page.write();
      refused.unshift(...waiting.filter(({ pull }) => failed.has(pull)));
      for (const { pull, comment } of waiting) if (!failed.has(pull)) await react(comment, "confused");
      return failed.size === 0;
    },
    async help(pull, only) {
      await forge.stickyComment(pull, "stagecoach:help", helpAnswer(only));
    },
    async status({ pull, author }, run) {
      const now = clock.now();
      const release = run.trigger.pull;
      const live = release === undefined ? undefined : await forge.stickyComment(release, stickyMarker(run.rollout), runComment(run, now));
      await forge.stickyComment(pull, `stagecoach:status:${run.rollout}`, statusAnswer(run, now, author, live?.url));
    },
    async plan({ pull, author }, run) {
      await forge.stickyComment(pull, `stagecoach:plan:${run.rollout}`, planAnswer(run, clock.now(), author));
    },
  };
}

/** Whether an account is to be told something more: anybody may comment, as often as they like. */
export function tellAtMost(most: number): (author: string) => boolean {
  const told = new Map<string, number>();
  return (author) => {
    const count = (told.get(author) ?? 0) + 1;
    told.set(author, count);
    return count <= most;
  };
}

/** Keys already seen; over the limit the oldest are forgotten. */
export function recentKeys(most = MOST_REMEMBERED): { add(key: string): boolean; has(key: string): boolean; forget(key: string): void } {
  const keys = new Set<string>();
  return {
    has: (key) => keys.has(key),
    forget: (key) => void keys.delete(key),
    add(key) {
      if (keys.has(key)) return false;
      keys.add(key);
      const oldest = keys.values().next().value;
      if (keys.size > most && oldest !== undefined) keys.delete(oldest);
      return true;
    },
  };
}
