/**
 * Reads the journal for a round, and says whether runs may go by it. Where they may not, what is known of runs is as the journal was
 * when it last held: enough to say on GitHub what stands still, and never to act by.
 */
import type { JournalState } from "../../adapters/git/journal/port.ts";
import { GitError } from "../../adapters/git/port.ts";
import { errorText, redact } from "../../core/base/error-text.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { type AttentionReason, attentionReason } from "../../core/reasons/attention.ts";
import { said } from "../../core/reasons/run.ts";
import type { Attention } from "./attention.ts";
import { openBackoff } from "./backoff.ts";
import type { RepoContext } from "./context.ts";

interface JournalLook {
  state: JournalState;
  /** Why no run may go on by it; undefined: it holds. */
  held?: AttentionReason | undefined;
  /** When it is to be looked at again, in epoch milliseconds. */
  again?: number | undefined;
}

export interface JournalLooks {
  read(head: string | undefined): Promise<JournalLook>;
}

const NOTHING: JournalState = { head: undefined, index: new Map(), runs: new Map(), broken: new Map() };
const CONCERN = "journal";
const MOST_SAID = 400;
const LONGEST_RETRY_MS = 60_000;

export function openJournalLooks({ journal, clock }: Pick<RepoContext, "journal" | "clock">, attention: Attention): JournalLooks {
  const retries = openBackoff({ clock }, LONGEST_RETRY_MS);
  let good: JournalState | undefined;
  let last: { head: string | undefined; look: JournalLook } | undefined;

  async function look(head: string | undefined): Promise<JournalLook> {
    try {
      const state = await journal.read({ head });
      const { tampered } = state;
      if (tampered === undefined) return { state };
      return { state: good ?? state, held: attentionReason("JOURNAL_NOT_OURS", { because: tampered.why }) };
    } catch (error) {
      // Another token may do: whoever called gets one.
      if (error instanceof GitError && error.kind === "Unauthorized") throw error;
      const said = redact(errorText(error)).slice(0, MOST_SAID);
      return { state: good ?? NOTHING, held: attentionReason("JOURNAL_NOT_READ", { said }) };
    }
  }

  const unread = new Set<string>();

  /** A run that cannot be read stops alone, and nobody would see it on GitHub. */
  function noteUnread(broken: JournalState["broken"]): void {
    for (const rollout of unread.difference(broken)) {
      attention.note(`run of ${rollout}`, undefined);
      unread.delete(rollout);
    }
    for (const [rollout, { run, file, why }] of broken) {
      const because: AnyReason = typeof why === "string" ? said(why) : { code: "JOURNAL_FILE", file, because: why };
      attention.note(`run of ${rollout}`, attentionReason("RUN_NOT_READ", { rollout, run, because }));
      unread.add(rollout);
    }
  }

  return {
    async read(head) {
      // What may pass is asked again, and not at every round: each costs calls.
      if (last?.look.again !== undefined && last.head === head && retries.until(CONCERN) !== undefined) return last.look;
      const found = await look(head);
      attention.note(CONCERN, found.held);
      noteUnread(found.state.broken);
      if (found.held === undefined) {
        good = found.state;
        retries.forget(CONCERN);
      } else {
        // An acceptance is pushed, and told by an event, which may be lost.
        retries.note(CONCERN);
        found.again = retries.until(CONCERN) ?? clock.now() + LONGEST_RETRY_MS;
      }
      last = { head, look: found };
      return found;
    },
  };
}
