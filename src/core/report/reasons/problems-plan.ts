import type { ReasonsOf } from "../../base/reason.ts";
import type { ProblemData } from "../../reasons/problem.ts";
import type { PlanProblems, SharedUnit, Uncovered } from "../../reasons/problems-plan.ts";
import { sourcePhrase, whatIsOver } from "./phrases.ts";
import type { ProblemEntries } from "./problem-entry.ts";

const OWN_PINS = "give each cluster a pin of its own";

/** What cannot be planned, and what should be known of a plan. */
export const PLAN_PROBLEMS: ProblemEntries<PlanProblems> = {
  UNIT_SPANS_STAGES: {
    says: (r) => `stage "${r.stage}" takes some and not others of ${unitText(r.unit)}`,
    hint: `${OWN_PINS}, or select all of them in one stage`,
  },
  UNIT_TOO_LARGE: {
    says: (r) => `in stage "${r.stage}", ${r.unit.count} clusters must change at once and maxUnavailable is ${r.size}: ${unitText(r.unit)}`,
    hint: (r) => `${OWN_PINS}, or raise maxUnavailable to ${r.unit.count}`,
  },
  UNIT_TOPOLOGY: {
    says: (r) => `in stage "${r.stage}", clusters of one ${r.topologyKey} must change at once: ${unitText(r.unit)}`,
    hint: `${OWN_PINS}, or remove topologyKey`,
  },
  LIMITS_TOO_LOW: {
    says: ({ stage, unit, over, others }) => {
      const more = others === 0 ? "" : `, and so with ${others} more`;
      return `in stage "${stage}", ${whatIsOver(over)} must change at once and ${over.setting} of the repo's settings allows ${over.most}: ${unitText(unit)}${more}`;
    },
    hint: ({ unit, over }) => `raise ${over.setting} so that ${over.have} may be in flight${unit.count > 1 ? `, or ${OWN_PINS}` : ""}`,
  },
  WEIGHT_PIN_SHARED: {
    says: (r) =>
      `${r.clusters.join(" and ")} share the weight pin ${r.pinPath} in ${r.pinFile}, and would write ${r.values.join(" and ")} there`,
    hint: "give each cluster a place of its own, or write {{ step.weight }}",
  },
  UNKNOWN_CLUSTER: { says: unknownCluster, hint: unknownClusterHint },
  TEMPLATE_VALUE: {
    says: (r) => `{{ ${r.variable} }} has no value`,
    hint: (r) => {
      if (r.variable.startsWith("cluster.labels")) return "label the cluster's Secret, or leave the cluster out of the stages";
      if (r.variable.startsWith("params"))
        return "use a parameter of the generator; they are known where the ApplicationSet stands in this repo";
      return "correct the template, or the release";
    },
  },
  PIN_FILE_MISSING: { says: (r) => `pin file ${r.pinFile} is not there`, hint: "add the file, or correct the pin's file" },
  PIN_FILE_UNREADABLE: {
    says: (r) => `pin file ${r.pinFile} cannot be read: ${r.said}`,
    hint: "a pin's file is a plain file inside the repo",
  },
  RELEASE_COMMIT: {
    says: (r) =>
      r.version === undefined
        ? "the release has no version, so it names no commit that branches could be moved to"
        : `release version "${r.version}" is no full commit id, tag or branch of this repo`,
    hint: "name a tag or a commit id that has been pushed",
  },
  BRANCH_NAME: { says: (r) => r.said, hint: "correct the template" },
  BRANCH_MISSING: {
    says: (r) => `branch ${r.branch} is not there`,
    hint: "create it at what the cluster runs now, or correct the template",
  },
  NO_TARGETS: {
    says: ({ source }) => {
      if (source.kind === "ApplicationSet") return `${sourcePhrase(source)} has no Application on any known cluster`;
      if (source.name === "") return `no Application is known on any cluster for: ${sourcePhrase(source)}`;
      return `${sourcePhrase(source)} is on no known cluster`;
    },
    hint: "correct sourceRef, or give --inventory with the Applications",
  },
  EMPTY_STAGE: {
    says: (r) => `stage "${r.stage}" has no cluster${r.selector === undefined ? "" : ` (${r.selector})`}; it is skipped`,
    hint: "correct its selector, or remove the stage",
  },
  COVERAGE: {
    says: ({ clusters, of }) =>
      `no stage takes ${clusters.length} of ${of} clusters, so they stay at their version: ${firstOf(clusters, 10)}`,
    hint: "add a stage that selects them, or leave them out on purpose",
  },
  IN_CLUSTER: {
    says: (r) => `${r.clusters.join(", ")} has no cluster Secret, so it has no labels: only a selector without labels takes it`,
    hint: "register it with a cluster Secret to give it labels",
  },
  UNKNOWN_PAIR: {
    says: (r) =>
      `order.pairs of stage "${r.stage}" names ${r.name}, which is no cluster with an Application of this rollout${r.near === undefined ? "" : `; did you mean ${r.near}?`}`,
    hint: "see the plan: stagecoach plan",
  },
  MANY_BATCHES: {
    says: (r) =>
      `${r.batches} ${r.stepped ? "batches and steps of batches" : "batches"} take at least ${r.batches} minutes, at GitHub's pace of about one merge a minute; a larger maxUnavailable makes fewer`,
    hint: "raise maxUnavailable",
  },
  BATCHES_CUT: {
    says: ({ stage, over, batches, uncut }) =>
      `stage "${stage}" would have ${whatIsOver(over)} in flight at once and ${over.setting} of the repo's settings allows ${over.most}: its batches are cut to that, ${batches} instead of ${uncut}`,
    hint: "raise the limit, or lower maxUnavailable to what it allows",
  },
  LABELS_GUESSED: {
    says: () => "no cluster is known: names and labels are taken from generator elements and Application labels",
    hint: "give --inventory with the cluster Secrets",
  },
};

/** Why no stage takes a cluster, to stand behind its name. */
export function sayUncovered(why: ReasonsOf<Uncovered>): string {
  return why.code === "NotSelected" ? "no stage selects it" : `stage "${why.stage}" selects it, but maxClusters was reached`;
}

/** `a, b and 4 more`. */
export function firstOf(names: readonly string[], most: number, all = names.length): string {
  return names.slice(0, most).join(", ") + (all > most ? ` and ${all - most} more` : "");
}

function unitText({ names, count: all, pin }: SharedUnit): string {
  const shown = firstOf(names, 5, all);
  return pin === undefined ? shown : `${shown} (they share the pin ${pin.path}${pin.file === "" ? "" : ` in ${pin.file}`})`;
}

function unknownCluster(r: ProblemData<"UNKNOWN_CLUSTER">): string {
  if (r.kind === "Target") return `Application ${r.application} is on cluster ${r.cluster}, which is not known`;
  return r.kind === "Undeclared"
    ? `destination ${r.destination} is not in ${r.inventory}`
    : `destination ${r.destination} is no known cluster`;
}

function unknownClusterHint(r: ProblemData<"UNKNOWN_CLUSTER">): string {
  if (r.kind === "Undeclared") return `add its Secret to ${r.inventory}${r.near === undefined ? "" : `; it has ${r.near}`}`;
  return `register the cluster in Argo CD, or add ${r.kind === "Target" ? "it" : "its Secret"} to the inventory`;
}
