import { count } from "../../../base/count.ts";
import type { ReasonsOf } from "../../../base/reason.ts";
import { sayRef } from "../../../base/ref-name.ts";
import type { PlanProblems, SharedUnit, Uncovered } from "../../../reasons/problems/plan.ts";
import { firstOf } from "../../markdown.ts";
import { few, isSeveral, limitPhrase, sourcePhrase, whatIsOver } from "../phrases.ts";
import { didYouMean, problemsOf } from "./entry.ts";

const OWN_PINS = "give each <cluster> a pin of its own";

/** What cannot be planned, and what should be known of a plan. */
export const PLAN_PROBLEMS = problemsOf<PlanProblems>()({
  UNIT_SPANS_STAGES: {
    says: (r) => `stage "${r.stage}" takes only some of ${unitText(r.unit)}, which change together`,
    hint: `${OWN_PINS}, or select all of them in one stage`,
    means: "clusters that share a pin change together, and two stages want them",
  },
  UNIT_TOO_LARGE: {
    says: (r) =>
      `in stage "${r.stage}", ${r.unit.count} <clusters> must change at once and maxUnavailable is ${r.size}: ${unitText(r.unit)}`,
    hint: (r) => `${OWN_PINS}, or raise maxUnavailable to ${r.unit.count}`,
    means: "more clusters share a pin than may change at once",
    todo: "give each cluster a pin of its own, or raise `maxUnavailable`",
  },
  UNIT_TOPOLOGY: {
    says: (r) => `in stage "${r.stage}", <clusters> of one ${r.topologyKey} must change at once: ${unitText(r.unit)}`,
    hint: `${OWN_PINS}, or remove topologyKey`,
    means: "clusters that share a pin have one topology value",
  },
  LIMITS_TOO_LOW: {
    says: ({ stage, unit, over, others }) => {
      const more = others === 0 ? "" : `, and so with ${others} more`;
      return `in stage "${stage}", ${whatIsOver(over)} must change at once and ${limitPhrase(over, "the repo's settings")} allows ${over.most}: ${unitText(unit)}${more}`;
    },
    hint: ({ unit, over }) => `raise ${over.setting} so that ${over.have} may be in flight${unit.count > 1 ? `, or ${OWN_PINS}` : ""}`,
    means: "what has to change at once is over one of the `limits` by itself, so it would wait for ever",
    todo: "raise that limit; where clusters share a pin, give each one of its own",
  },
  SYNC_NOT_GRANTED: {
    says: "sync: Request wants control plane {planes} to be asked for syncs, which the server's configuration does not allow",
    hint: "write sync: Wait, or have the operator read it by kind: api and set allowSync",
    means: "a stage says `sync: Request`, and a control plane may not be asked for syncs",
    todo: "write `sync: Wait`, or set `allowSync` for it ([Argo CD](argocd.md#who-syncs))",
  },
  PROOF_UNREADABLE: {
    says: "proof: content compares the objects themselves, and {planes} does not show them: no cluster would ever count as healthy",
    hint: "read {planes} by Argo CD's API (kind: api in the server's configuration), or set proof: revision",
    means:
      "`proof: content` together with a control plane of `kind: kubernetes`: its objects cannot be asked for, so every batch would fail at its deadline",
    todo: "set `kind: api` for that control plane, or `proof: revision`",
  },
  RELEASE_BEFORE_ADOPTION: {
    says: ({ values, clusters }) =>
      `${values.join(", ")} was merged before this rollout was known, and ${count(clusters.length, "cluster")} (${firstOf(clusters, 5)}) still ${clusters.length === 1 ? "holds" : "hold"} something else: what is there at first sight is taken as it is, and no run starts`,
    hint: "set release.attempt to {attempt} to roll it out; the next release brings those clusters along as well",
    means: "the release was merged together with its rollout's file, or before Stagecoach first looked: no run starts from it",
    todo: "raise `release.attempt`, or merge the next release",
  },
  WEIGHT_PIN_SHARED: {
    says: (r) =>
      `${r.clusters.join(" and ")} share the weight pin ${r.pinPath} in ${r.pinFile}, and would write ${r.values.join(" and ")} there`,
    hint: "give each <cluster> a place of its own, or write {{ step.weight }}",
    means: "clusters share the place of a weight, and their shares of the replicas differ",
  },
  UNKNOWN_CLUSTER: {
    says: {
      kind: {
        Target: (r) => `Application ${r.application} is on cluster ${r.cluster}, which is not known`,
        Destination: "destination {destination} is not a known cluster",
        Undeclared: "destination {destination} is not in {inventory}",
      },
    },
    hint: {
      kind: {
        Target: "register the cluster in Argo CD, or add it to the inventory",
        Destination: "register the cluster in Argo CD, or add its Secret to the inventory",
        Undeclared: "add its Secret to {inventory}[; it has {near}]",
      },
    },
    means: "an Application on a cluster nobody knows",
    todo: "register the cluster, or add it to the inventory",
  },
  TEMPLATE_VALUE: {
    says: (r) => `{{ ${r.variable} }} has no value`,
    hint: ({ variable, near }) => didYouMean(near && `{{ ${near} }}`, VALUE_HINTS.find(([start]) => variable.startsWith(start))?.[1] ?? ""),
    means: "a variable without a value for a target",
    todo: "label the cluster, or use another variable",
  },
  PIN_FILE_MISSING: {
    says: ({ pinFile, isFolder }) => `pin file ${pinFile} ${isFolder === true ? "is a directory" : "does not exist"}`,
    hint: ({ near, isFolder }) =>
      isFolder === true ? "name a file in it" : near === undefined ? "add the file, or correct the pin's file" : `did you mean ${near}?`,
    means: "a pin's file is not in the repo, or is a directory",
  },
  PIN_FILE_UNREADABLE: {
    says: "pin file {pinFile} cannot be read: {said}",
    hint: "name a plain file inside the repo, of at most 10 MiB",
    means: "a pin's file is a link, not a plain file, or over 10 MiB",
    todo: "name the file itself",
  },
  RELEASE_COMMIT: {
    says: '[release version "{version}" is not a full commit id, tag or branch of this repo|the release has no version, so it names no commit that branches could be moved to]',
    hint: "name a tag or a commit id that has been pushed",
    means: "a branch pin needs a release that is a commit",
  },
  BRANCH_NAME: {
    says: ({ branch, ours }) =>
      ours === true
        ? `branch ${branch} holds rollouts, or is one of Stagecoach's or GitHub's own, so no pin moves it`
        : `"${branch}" is not a ref name that git accepts`,
    hint: ({ ours }) => (ours === true ? "let the Application follow another branch" : "correct the template"),
    means: "the template gives a name no branch can have, or a branch that no pin moves: the default one, the bot's own",
  },
  BRANCH_MISSING: {
    says: ({ branch }) => `${sayRef(branch)} does not exist`,
    hint: "create it at what the cluster runs now, or correct the template",
    means: "the branch or tag that a pin moves does not exist; the bot makes none",
  },
  NO_TARGETS: {
    says: ({ source }) => {
      if (source.kind === "ApplicationSet")
        return `${sourcePhrase(source)} ${isSeveral(source) ? "have" : "has"} no Application on any known cluster`;
      return source.name === ""
        ? `no Application is known on any cluster for: ${sourcePhrase(source)}`
        : `${sourcePhrase(source)} is on no known cluster`;
    },
    hint: "correct sourceRef, or give --inventory with the cluster Secrets that its generators take, or with the Applications",
    means: "the source has no Application, so the plan is empty: `plan` exits 1",
    warns: true,
  },
  EMPTY_STAGE: {
    says: 'stage "{stage}" has no <cluster>[ ({selector})]; it is skipped',
    hint: "correct its selector, or remove the stage",
    means: "a stage without clusters is skipped",
    warns: true,
  },
  UNKNOWN_LABEL: {
    says: ({ stage, setting = "", key, value, git }) => {
      const by = value === undefined ? `the label ${key}` : `${key}=${value}`;
      const nobody = git === true ? "nothing else in this repo names" : "no <cluster> has";
      return `${stage === undefined ? setting : `stage "${stage}"`} selects by ${by}, which ${nobody}`;
    },
    hint: "[did you mean {near}?|correct it, unless clusters to come will have it]",
    means: "no cluster has this label, and some have a like one; or a window, freeze or limit would bind nothing",
    todo: "correct the selector",
    warns: true,
  },
  NOT_KEPT_APART: {
    says: ({ stage, topologyKey, names, of }) =>
      `stage "${stage}" is to keep <clusters> of one ${topologyKey} apart, and ${names.length === of ? "all" : `${names.length} of`} its ${of} ${names.length === 1 ? "lacks that label, so that nothing keeps it" : "lack that label, so that nothing keeps these"} apart: ${firstOf(names, 5)}`,
    hint: "[did you mean {near}?|correct topologyKey, or give them the label]",
    means: "clusters of a stage have no label of its `topologyKey`, so it does not keep them apart",
    warns: true,
  },
  UNKNOWN_NAME: {
    says: {
      kind: {
        Fleet: 'stage "{stage}" asks for <cluster> {name}, and the rollout has no <cluster> of that name',
        Git: 'stage "{stage}" asks for cluster {name}, and no cluster that this repo names is called that; clusters that only Argo CD knows may be',
      },
    },
    hint: ({ near, known, of }) =>
      `${near === undefined ? "correct the name" : `did you mean ${near}?`}${known.length === 1 && known[0] === near ? "" : ` (known: ${known.join(", ")}${of > known.length ? ` and ${of - known.length} more` : ""})`}`,
    means: "a stage asks for a cluster by a name that none has",
    todo: "correct the selector",
    warns: true,
  },
  REACHES_NOBODY: {
    says: "no stage takes any of {of} <clusters>: a release would reach nobody",
    hint: "correct the stages' selectors[: did you mean {near}, not {key}?]",
    means: "no stage selects a cluster that the rollout has: `lint` and `plan` exit 1",
    todo: "correct the selectors of the stages",
    warns: true,
  },
  COVERAGE: {
    says: ({ clusters, of }) =>
      `no stage takes ${clusters.length} of ${of} <clusters>, so they stay at their version: ${firstOf(clusters, 10)}`,
    hint: (r) =>
      `add \`- { name: the rest, ${"targetBy" in r && r.targetBy !== undefined ? "targets" : "clusters"}: { selector: {} } }\` as the last stage, or leave them out on purpose`,
    means: "clusters that no stage takes keep their version",
    warns: true,
  },
  GOES_DOWN: {
    says: ({ moves, count }) =>
      `this goes down to an older version on ${count === 1 ? "one Application" : `${count} Applications`}: ${moves
        .slice(0, 3)
        .map(({ application, value, from, to }) => `${application} ${value === undefined ? "" : `${value} `}${from} → ${to}`)
        .join(", ")}${count > 3 ? ` and ${count - 3} more` : ""}`,
    hint: "go on if that is meant; else release a newer version, or leave them out of the stages",
    means: "the release is older than what stands in Git for some Applications",
    warns: true,
  },
  IN_CLUSTER: {
    says: (r) => `${r.clusters.join(", ")} has no cluster Secret, so it has no labels: only a selector without labels takes it`,
    hint: "register it with a cluster Secret to give it labels, or give its control plane some in the server's configuration",
    means: "Argo CD's own cluster without a Secret has no labels",
    warns: true,
  },
  UNKNOWN_PAIR: {
    says: 'order.pairs of stage "{stage}" names {name}, which is not a cluster with an Application of this rollout',
    hint: "[did you mean {near}?|correct the name; `stagecoach plan` lists the clusters]",
    means: "a name in `order.pairs` is not a cluster of this rollout, so it keeps nothing apart",
    warns: true,
  },
  MANY_BATCHES: {
    says: (r) =>
      `${r.batches} ${r.stepped ? "batches and steps of batches" : "batches"} take at least ${r.batches} minutes, at GitHub's pace of about one merge a minute`,
    hint: "raise maxUnavailable, for fewer of them",
    means: "more than 50 batches: about a minute each at GitHub's pace",
    warns: true,
  },
  BATCHES_CUT: {
    says: ({ stage, over, batches, uncut }) =>
      `stage "${stage}" would have ${whatIsOver(over)} in flight at once and ${limitPhrase(over, "the repo's settings")} allows ${over.most}: its batches are cut to that, ${batches} instead of ${uncut}`,
    hint: "raise the limit, or lower maxUnavailable to what it allows",
    means: "the `limits` allow fewer at once than a stage would have: its batches are planned smaller",
    warns: true,
  },
  STAGES_IN_BOTH: {
    says: ({ stages: [first, second], names }) =>
      `labels put ${few(names)} into the environments of two stages, "${first}" and "${second}": the first takes what is in both`,
    hint: "give each of them the labels of one environment, or narrow one of the selectors",
    means: "one target has the labels of two stages that name different environments, and travels with the first",
    warns: true,
  },
  LABELS_GUESSED: {
    says: "no cluster is known: names and labels are taken from generator elements and Application labels",
    hint: ({ given }) =>
      given ? "put the cluster Secrets into the inventory given: it holds none" : "give --inventory with the cluster Secrets",
    means: "no cluster is known, so labels are taken from generator elements",
    warns: true,
  },
});

/** Why no stage takes a cluster, to stand behind its name. */
export function sayUncovered(why: ReasonsOf<Uncovered>): string {
  return why.code === "NotSelected" ? "no stage selects it" : `stage "${why.stage}" selects it, but maxClusters was reached`;
}

function unitText({ names, count: all, pin }: SharedUnit): string {
  const shown = firstOf(names, 5, all);
  return pin === undefined ? shown : `${shown} (they share the pin ${pin.path}${pin.file === "" ? "" : ` in ${pin.file}`})`;
}

const VALUE_HINTS = [
  ["cluster.labels", "label the cluster's Secret, or leave the cluster out of the stages"],
  ["params", "use a parameter of the generator; they are known where the ApplicationSet stands in this repo"],
  ["", "correct the template, or the release"],
] as const;
