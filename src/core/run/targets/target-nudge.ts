import { text } from "../../base/reason.ts";
import type { BatchTarget } from "../state/run.ts";
import type { Assessment, ObservedTarget } from "../state/world.ts";

const WEBHOOK = "Its webhook tells it of pushes at once: docs/argocd.md#argo-cds-webhook";

/** Said where `seenDeadline` has passed: Argo CD polls every few minutes, so it is most often something nobody told it of. */
export const NOT_SEEN = `Does Argo CD hear of pushes? ${WEBHOOK} says how to set it up.`;

/**
 * What Argo CD shows, and where that is not the change yet, whether it was asked to look again and how it would hear of it by
 * itself.
 */
export function withNudge(target: BatchTarget, assessment: Assessment, nudge: ObservedTarget["nudge"]): Assessment {
  if (nudge === undefined || assessment.verdict !== "pending") return assessment;
  const hint = target.firstSeenAt === undefined ? ` ${WEBHOOK}.` : "";
  return { ...assessment, sentence: `${text(assessment.sentence)} ${said(nudge, hint)}` };
}

function said({ at, answer }: NonNullable<ObservedTarget["nudge"]>, hint: string): string {
  const clock = `${at.slice(11, 19)} UTC`;
  if (answer === "asked") return `Argo CD was asked to compare again at ${clock}.`;
  if (answer === "unavailable") return `Argo CD cannot be asked from here to compare again (\`allowRefresh\`).${hint}`;
  const why = answer.failed.replace(/\s+/g, " ").trim().replace(/\.+$/, "").slice(0, 400);
  return `Asking Argo CD at ${clock} to compare again failed: ${text(why)}.${hint}`;
}
