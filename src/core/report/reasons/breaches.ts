import type { BreachReasons, Unconfirmed } from "../../reasons/breaches.ts";
import { type Entries, entriesOf } from "./entry.ts";

/** How an invariant of a run would be violated: for those who look into a bug of ours. */
export const BREACHES: Entries<BreachReasons> = entriesOf<BreachReasons>()({
  WINDOW_OVERFULL: {
    says: ({ stage, clusters, most }) =>
      `stage "${stage}": ${clusters.length} clusters in flight, at most ${most} may: ${clusters.join(", ")}`,
  },
  MERGE_OF_NO_BATCH: { says: "a merge of batch {number}, which the run does not have" },
  MERGE_OVER_UNCONFIRMED: {
    says: ({ number, other, target, how }) => `batch ${number} merges although ${target} of batch ${other} ${unconfirmed(how)}`,
  },
  MERGE_WHILE_STOPPED: { says: "a merge while the run is {phase}" },
  INTENTION_WHILE_STOPPED: { says: "batch {number} is to be merged while the run is {phase}" },
  MERGE_AHEAD: { says: "batch {number} is to be merged, and its turn has not come" },
  TARGET_NOT_PLANNED: { says: "batch {number} has {target}, which is not in the plan" },
  PUT_BACK_OTHERWISE: { says: "batch {number} puts {target} back otherwise than it was changed" },
  EDITED_OTHERWISE: { says: "batch {number} edits {target} otherwise than planned" },
  WEIGHT_NOT_GROWN: {
    says: "batch {number} brings {target} to weight {weight}, and it was at {before} already",
  },
  RUN_IS_ANOTHER: { says: "the run became another one" },
  FROZEN_CHANGED: { says: "plan, resource or release of the run changed" },
  JOINER_CHANGED: { says: "the amendment that {cluster} joined was changed" },
  ENDED_GOES_ON: { says: "a run that was {phase} goes on" },
  ENDING_GOES_ON: { says: "a run that was to end goes on" },
  PULLS_OPEN_AT_ONCE: { says: "{count} pull requests of the run are open at once" },
  ENDED_WITH_OPEN: { says: "the run ended with batch {number} open" },
  CHECK_NOT_JOURNALLED: { says: "{effect} of what is not journalled as under way" },
  ORDER_NOT_JOURNALLED: { says: "actions on Argo Rollouts of {command}, which is not journalled" },
  PULL_NOT_JOURNALLED: { says: "a PR for batch {number}, which is not journalled as Proposing" },
  MERGE_NOT_INTENDED: { says: "a merge of batch {number} without a journalled intention" },
  MERGE_OF_OTHER_HEAD: { says: "a merge of batch {number} at another head than intended" },
  MERGE_AFTER_LAPSE: { says: "a merge of batch {number} on an intention that has lapsed" },
  COMMAND_OF_NOBODY: { says: "a command {command} was handled that nobody gave" },
  COMMAND_NOT_PERMITTED: { says: '"{text}" of {by} was done with permission {permission}' },
  COMMAND_TWICE: { says: "a command was handled twice" },
  END_AND_PHASE_DIFFER: { says: ({ phase, ended }) => `the run is ${phase} and ${ended ? "has no end" : "has an end"}` },
  NEXT_UNSAID: { by: "itself", says: "the run is {phase} and does not say what comes next" },
});

function unconfirmed(how: Unconfirmed): string {
  if (typeof how === "object") return "phase" in how ? `is ${how.phase}` : `is confirmed by a verdict of ${how.verdict}`;
  return {
    beyondBudget: "failed beyond the budget",
    unproven: "is confirmed without evidence",
    unmerged: "is confirmed though its batch has not merged",
    older: "is confirmed by evidence older than its change",
  }[how];
}
