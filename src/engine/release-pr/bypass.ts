import type { Pull } from "../../adapters/forge/port.ts";
import { type AnyReason, sameReason } from "../../core/base/reason.ts";
import { comment as reason } from "../../core/reasons/comments.ts";
import { BYPASS_LABEL } from "../../core/report/plan/plan-unstaged.ts";
import type { RepoContext } from "../round/context.ts";

/** What the label `stagecoach/bypass` is worth on a pull request: why it counts for nothing. undefined: it has none. */
export type Bypass = "counts" | AnyReason | undefined;

/**
 * Says whether a pull request may pass the stages by. Anybody with triage can put a label on: it counts from whoever may give `/hotfix` now,
 * and for the head that they had before them. Throws where GitHub does not answer.
 */
export async function bypassOf({ forge, commands }: Pick<RepoContext, "forge" | "commands">, pull: Pull): Promise<Bypass> {
  if (!pull.labels.includes(BYPASS_LABEL)) return undefined;
  const labelled = await forge.labelledBy?.(pull, BYPASS_LABEL);
  if (labelled?.sawHead === undefined || commands.whyNot === undefined) return reason("BYPASS_UNSEEN");
  const { login: by, isBot, sawHead } = labelled;
  if (!sawHead) return reason("BYPASS_BEFORE_HEAD", { by });
  const against = await commands.whyNot({ author: by, authorIsBot: isBot }, "hotfix");
  if (against === "later") throw new Error("who may give /hotfix could not be asked");
  return against === undefined ? "counts" : reason("BYPASS_NOT_GIVEN", { by });
}

export function sameBypass(a: Bypass, b: Bypass): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && sameReason(a, b));
}
