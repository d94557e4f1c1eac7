import type { PlanProblems } from "../../reasons/problems-plan.ts";
import type { Help } from "./problem-entry.ts";

/** What cannot be planned: why each code is told, and what to do. */
export const PLAN_HELP: { readonly [Code in keyof PlanProblems]: Help } = {
  UNIT_SPANS_STAGES: {
    means: "clusters that share a pin change together, and two stages want them",
    todo: "a pin for each cluster, or one stage for all of them",
  },
  UNIT_TOO_LARGE: {
    means: "more clusters share a pin than may change at once",
    todo: "a pin for each cluster, or a larger `maxUnavailable`",
  },
  UNIT_TOPOLOGY: { means: "clusters that share a pin have one topology value", todo: "a pin for each cluster, or no `topologyKey`" },
  LIMITS_TOO_LOW: {
    means: "what has to change at once is over one of the repo's `limits` by itself, so it would wait for ever",
    todo: "raise that limit; where clusters share a pin, a pin for each",
  },
  WEIGHT_PIN_SHARED: {
    means: "clusters share the place of a weight, and their shares of the replicas differ",
    todo: "a place for each cluster, or `{{ step.weight }}`",
  },
  UNKNOWN_CLUSTER: { means: "an Application on a cluster nobody knows", todo: "register the cluster, or add it to the inventory" },
  TEMPLATE_VALUE: { means: "a variable without a value for a target", todo: "label the cluster, or use another variable" },
  PIN_FILE_MISSING: { means: "a pin's file is not in the repo", todo: "correct the name, or add the file" },
  PIN_FILE_UNREADABLE: { means: "a pin's file is a link, not a plain file, or over 10 MiB", todo: "name the file itself" },
  RELEASE_COMMIT: { means: "a branch pin needs a release that is a commit", todo: "name a tag or a commit id that has been pushed" },
  BRANCH_NAME: { means: "the template gives a name no branch can have", todo: "correct the template" },
  BRANCH_MISSING: {
    means: "the branch of a branch pin is not there; the bot moves branches, it makes none",
    todo: "create it at what the cluster runs now, or correct the template",
  },
  NO_TARGETS: {
    means: "the source has no Application, so the plan is empty: `plan` exits 1",
    todo: "correct `sourceRef`, or give `--inventory`",
    warns: true,
  },
  EMPTY_STAGE: { means: "a stage without clusters is skipped", todo: "correct its selector", warns: true },
  COVERAGE: { means: "clusters that no stage takes keep their version", todo: "add a last stage with `selector: {}`", warns: true },
  IN_CLUSTER: { means: "Argo CD's own cluster without a Secret has no labels", todo: "register it by a Secret", warns: true },
  UNKNOWN_PAIR: {
    means: "a name in `order.pairs` is no cluster of this rollout, so it keeps nothing apart",
    todo: "correct the name",
    warns: true,
  },
  MANY_BATCHES: { means: "more than 50 batches: about a minute each at GitHub's pace", todo: "raise `maxUnavailable`", warns: true },
  BATCHES_CUT: {
    means: "the repo's `limits` allow fewer at once than a stage would have: its batches are planned smaller",
    todo: "raise the limit, or lower `maxUnavailable` to it",
    warns: true,
  },
  LABELS_GUESSED: { means: "no cluster is known, so labels are taken from generator elements", todo: "give `--inventory`", warns: true },
};
