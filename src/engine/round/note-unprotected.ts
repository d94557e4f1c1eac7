import { attentionReason } from "../../core/reasons/attention.ts";
import type { BareBranch } from "../../core/reasons/gates.ts";
import { isEnded } from "../../core/run/state/run.ts";
import type { Attention } from "./attention.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decide.ts";

/** Notes, at the end of a round, that runs wait for rules of branches, and takes it back once none does. `whole`: every run could be looked at. */
export type NoteUnprotected = (decisions: readonly Pick<Decision, "world" | "advanced">[], whole: boolean) => Promise<void>;

const CONCERN = "rules of our branches";

export function openNoteUnprotected(
  { forge, repository, journalBranch, log }: Pick<RepoContext, "forge" | "repository" | "journalBranch" | "log">,
  attention: Pick<Attention, "note">,
): NoteUnprotected {
  let appId: number | undefined;
  return async (decisions, whole) => {
    const going = decisions.filter(({ advanced }) => !isEnded(advanced.run));
    const bare = new Map(going.flatMap(({ world: { unprotected } }) => listOf(unprotected).map((one) => [one.branch, one] as const)));
    if (bare.size === 0) {
      if (whole && going.every(({ world }) => world.unprotected !== "unread")) attention.note(CONCERN, undefined);
      return;
    }
    try {
      appId ??= await forge.appId?.();
    } catch (error) {
      log.warn({ repository, error: String(error) }, "the App's id could not be asked");
    }
    attention.note(CONCERN, attentionReason("RULES_MISSING", { bare: [...bare.values()], repository, journalBranch, appId }));
  };
}

function listOf(unprotected: readonly BareBranch[] | "unread" | undefined): readonly BareBranch[] {
  return unprotected === undefined || unprotected === "unread" ? [] : unprotected;
}
