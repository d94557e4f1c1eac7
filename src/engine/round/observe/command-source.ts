import type { AnyReason } from "../../../core/base/reason.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Command, CommandName } from "../../../core/spec/commands.ts";

/** Where people's commands come from: implemented by the bot on the forge's comments. */
export interface CommandSource {
  /**
   * Commands of these PRs not yet answered, oldest first, each with the commenter's permission as of now. `batch` is set
   * from the PR it stands on. What cannot be read yet is left for the next round, never guessed. `late`: those, too, that are found too long
   * after they were written, by people who might have given them.
   */
  read(rollout: string, pulls: readonly CommandPlace[], options?: { late?: boolean }): Promise<Command[]>;
  /** PRs of which an event told, since this was asked last, that something was written on them. */
  spokenOn?(): readonly number[];
  /**
   * Has the commenter told, in its turn: a reaction, and for a refusal one comment edited in place. May be called twice. `run`: whose
   * command it was, as of this round; `/status` and `/plan` are answered with it. `waits`: nothing became of it yet, and it is read again.
   */
  answer(command: Command, outcome: "done" | "refused" | "waits", message: AnyReason | undefined, run?: Run): Promise<void>;
  /**
   * Commands on an open release PR, which no run steers yet. All but `/plan` are answered here; what is given asks for a
   * fresh plan, and is answered (`done`) once that is there.
   */
  beforeRun?(pull: number): Promise<Command[]>;
  /** Why this account may not give this command now; undefined: it may; `later`: GitHub does not say just now. Absent: it cannot be told. */
  whyNot?(who: { author: string; authorIsBot: boolean }, command: CommandName): Promise<AnyReason | undefined | "later">;
}

export interface CommandPlace {
  /** Number of the PR. */
  number: number;
  /** The batch it belongs to; absent on the release PR. */
  batch?: number | undefined;
  /** It belongs to this run of the rollout, which is over: what is written there is answered by the last one. */
  former?: number;
  /** Several rollouts are steered from this PR: a command that does not name one acts only where docs/spec.md §9.21 lets it act on all. */
  shared: boolean;
}
