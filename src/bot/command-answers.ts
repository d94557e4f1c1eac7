import { type Forge, ForgeError, type Reaction } from "../forge/port.ts";
import type { Log } from "../reconcile/context.ts";
import { stickyMarker } from "../reconcile/publish.ts";
import { helpAnswer, planAnswer, refusalAnswer, statusAnswer } from "../report/answers.ts";
import { runComment } from "../report/run-comment.ts";
import type { CommandSpec } from "../rollout/commands.ts";
import type { Run } from "../rollout/run.ts";
import type { Clock } from "../rollout/time.ts";

/** Where a command was written, and by whom. */
export interface Spoken {
  pull: number;
  comment: number;
  author: string;
  /** As written, one line. */
  text: string;
}

/** What people see of what became of their commands. Everything may be said twice: it stands there once. */
export interface CommandAnswers {
  react(comment: number, reaction: Reaction): Promise<void>;
  /** 😕, and the PR's one comment of refusals: those of the last comment that had some. */
  refuse(spoken: Spoken, message: string): Promise<void>;
  help(pull: number, only: CommandSpec | undefined): Promise<void>;
  status(spoken: Spoken, run: Run): Promise<void>;
  plan(spoken: Spoken, run: Run): Promise<void>;
}

const MOST_REMEMBERED = 20_000;
/** Of refusals shown together. */
const MOST_SHOWN = 12;

export function commandAnswers(forge: Forge, clock: Clock, log: Log): CommandAnswers {
  /** `comment reaction`, the oldest forgotten first: setting one twice is harmless. */
  const reacted = recentKeys();
  const refusals = new Map<number, { comment: number; lines: Map<string, { author: string; message: string }> }>();

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
    async refuse({ pull, comment, author, text }, message) {
      await react(comment, "confused");
      let shown = refusals.get(pull);
      if (shown === undefined || shown.comment < comment) shown = { comment, lines: new Map() };
      // A late answer to an older comment does not wipe out the newer one's.
      if (shown.comment > comment) return;
      refusals.set(pull, shown);
      if (shown.lines.size < MOST_SHOWN) shown.lines.set(text, { author, message });
      await forge.stickyComment(pull, "stagecoach:answer", refusalAnswer([...shown.lines].map(([line, why]) => ({ text: line, ...why }))));
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
