import type { Forge } from "../../../adapters/forge/port.ts";
import type { Log } from "../../../engine/round/context.ts";
import { noRunYet } from "./command-place.ts";
import type { ParsedCommand } from "./parse.ts";

/** Judges, for one look at one PR, what was written on it before it has a run. */
export interface EarlyCommands {
  /** Why not, in a sentence; undefined: it is for a PR without a run; `later`: whoever looks next judges it. */
  whyNot(one: ParsedCommand): Promise<string | undefined | "later">;
  /** GitHub did not answer, and is to be asked again. */
  readonly postponed: boolean;
}

/**
 * To be opened after the PR's comments were read: a PR that is still open then was so when they were written. One that was
 * merged since may have been commented on after its merge, and what is refused once is never judged again: all that is left
 * to its run.
 */
export function earlyCommands(forge: Forge, pull: number, log: Log): EarlyCommands {
  let open: Promise<boolean> | undefined;
  let postponed = false;

  async function isOpen(): Promise<boolean> {
    try {
      return (await forge.pull(pull))?.state === "open";
    } catch (error) {
      log.warn({ pull, error: String(error) }, "whether a pull request was merged could not be asked; trying again");
      postponed = true;
      return false;
    }
  }

  return {
    async whyNot(one) {
      const why = noRunYet(one);
      if (why === undefined) return undefined;
      open ??= isOpen();
      return (await open) ? why : "later";
    },
    get postponed() {
      return postponed;
    },
  };
}
