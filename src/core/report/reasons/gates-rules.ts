/** What the rules of repo, rollout and stage hold against a merge: limits, dependencies, approvals, and what the stage measures and asks. */
import { count } from "../../base/count.ts";
import type { GatesReasons } from "../../reasons/gates.ts";
import type { OverLimit } from "../../reasons/problems/plan.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import { entriesOf } from "./entry.ts";
import { analysisPhrase, batchPhrase, limitPhrase, limitsPhrase, people, whatIsOver } from "./phrases.ts";

export const RULES = entriesOf<GatesReasons>()({
  LIMITS_OTHERS_UNREAD: {
    says: "Stagecoach could not read the repo's other runs, and its limits count all runs together",
    subject: "repository",
  },
  LIMITS_LABELS_UNREAD: { says: "Stagecoach could not read the clusters, and a limit counts them by label", subject: "controlPlane" },
  LIMITS_FULL: {
    says: ({ over, now }) => {
      if (over.label !== undefined)
        return `${limitsPhrase(over)} allow ${whatIsOver({ ...over, have: over.most })} (${over.label.percent}%) at once, and this would make it ${over.have}`;
      return `${limitsPhrase(over)} allow ${whatIsOver({ ...over, have: over.most })} at once, and this would make it ${over.have}${now.length === 0 ? "" : ` (being updated now: ${now.join(", ")})`}`;
    },
    subject: "repository",
    means: `\`limits\` of ${SETTINGS_FILE} hold over all runs of the repo, those of a rollout for its own`,
    todo: "nothing: it goes on once others are healthy",
  },
  BATCH_TOO_LARGE: { says: ({ over }) => tooLarge(over), subject: "batch" },
  BATCH_MERGES_ALONE: {
    says: ({ over, now }) => `${tooLarge(over)}, so it merges alone, once nothing else is being updated (now: ${now.join(", ")})`,
    subject: "batch",
  },
  BATCH_NEVER_FITS: {
    says: ({ batch, over, clusters }, names) => {
      const together = clusters.length > 1 ? "share a pin and travel together" : "cannot travel in parts";
      return `${batchPhrase(batch)} can never merge: ${tooLarge(over)} (${names.clusters(clusters)}), which ${together}`;
    },
    subject: "batch",
    actions: ["resume", "skip", "abort"],
  },
  LIMIT_ALLOWS: {
    says: ({ over }) => `${count(over.most, over.setting.endsWith(".targets") ? "target" : "cluster")} at once (${limitPhrase(over)})`,
    subject: "repository",
  },
  DEPENDENCIES_UNREAD: { says: "Stagecoach could not read the rollouts that this one depends on", subject: "repository" },
  DEPENDENCY_MISSING: {
    says: "{cluster} waits for {rollout}: {because}",
    subject: "cluster",
    means: "`dependsOn` wants another rollout to be there first",
    todo: "nothing: it goes on once that rollout is healthy there",
  },
  VERSION_UNKNOWN: { says: "its version there is not known, since its run #{run} is {phase}", subject: "run" },
  VERSION_OTHER: { says: "it is at {there} there, and this rollout needs {wanted}", subject: "run" },
  VERSION_OLDER: { says: "it is at {there} there, and this rollout needs {wanted} or later", subject: "run" },
  VERSION_INCOMPARABLE: { says: "it is at {there} there, which cannot be compared with {wanted}", subject: "run" },
  APPROVAL_WANTED: {
    says: ({ stage, teams, want, have, lapsed, outdated, unread, unlinked = [], reviewed = [] }, names) => {
      const by = have.length === 0 ? "" : `, so far ${people(have)}`;
      const so = want === 1 ? "" : ` (${have.length} of ${want}${by})`;
      const members = `of ${people(teams, " or ")}`;
      const of = want === 1 ? `a member ${members} has` : `${want} members ${members} have`;
      const besides = [
        ...lapsed.map(({ by, because }) => `@${by} approved it, and ${names.because(because)}`),
        ...outdated.map((by) => `@${by} approved it before the stage's plan changed`),
        ...(unread ? ["Stagecoach could not read the reviews just now"] : []),
        ...(unlinked.length === 0 ? [] : [oneMore(unlinked, [...have, ...reviewed])]),
      ];
      return [`${of} to approve stage "${stage}"${so}`, ...(besides.length === 0 ? [] : [besides.join("; ")])].join(". ");
    },
    subject: "stage",
    actions: ["promote"],
    means: "the stage waits for its `approval`",
    todo: "a member approves the PR, or comments `/promote` on it; where GitHub knows no account for one of the release's commits, one more person does",
  },
  APPROVER_MERGED: { says: "@{by} merged the release, and somebody else has to approve this stage (`notBy`)", subject: "person" },
  APPROVER_RELEASED: { says: "@{by} released it, and somebody else has to approve", subject: "person" },
  APPROVER_TEAMS_UNSEEN: {
    says: ({ by, teams }) => `whether @${by} is in ${people(teams, " or ")} cannot be seen: the App needs \`members: read\``,
    subject: "person",
  },
  APPROVER_IN_NO_TEAM: { says: ({ by, teams }) => `@${by} is not in ${people(teams, " or ")}, who approve this stage`, subject: "person" },
  ANALYSIS_UNREAD: { says: "Stagecoach has yet to read the clusters, whose labels say what to measure", subject: "analysis" },
  ANALYSIS_BAD: { says: "{analysis}: {because}", subject: "analysis", actions: ["retry", "resume", "abort"] },
  ANALYSIS_RUNNING: {
    says: ({ analysis, because, more }, names) =>
      `waiting for the ${analysisPhrase(analysis, names)}: ${names.because(because)}${more === 0 ? "" : `, and ${more} more`}`,
    subject: "analysis",
  },
  ANALYSIS_BEGUN: { says: "it has begun", subject: "analysis" },
  ANALYSIS_BEGINS: {
    says: ({ analysis, attempt }, names) => `${analysisPhrase(analysis, names)} begins${attempt === 1 ? "" : `, attempt ${attempt}`}`,
    subject: "analysis",
  },
  ANALYSIS_ARGUMENT: { says: "the argument {name}: {because}", subject: "analysis" },
  ANALYSIS_ARGUMENT_MISSING: {
    says: ({ name, variable, cluster }, names) =>
      `the argument ${name} wants {{ ${variable} }}, which ${cluster === undefined ? "has no value" : `${names.cluster(cluster)} does not have`}`,
    subject: "analysis",
  },
  WAITS_ENDED: { says: "@{by} ended all waits", subject: "person" },
  BAKE_IS_OVER: { says: "the bake is over", subject: "batch" },
  STAGE_IS_DONE: { says: "the stage is done", subject: "stage" },
  HOOK_BAD: { says: "{hook}: {because}", subject: "hook", actions: ["retry", "resume", "abort"] },
  HOOK_HOLDS_STAGE: { says: "{hook} asks to wait: {because}", subject: "hook" },
  HOOK_UNCLEAR: { says: "{hook} gave no usable answer: {because}", subject: "hook" },
  HOOK_AWAITED: { says: "waiting for the answer of {hook}", subject: "hook" },
  PR_GATE_RUN_ENDED: { says: "the run is over ({phase}): {because}", subject: "run" },
  PR_GATE_CLOSING: { says: "Stagecoach is closing {pull}: {because}", subject: "pull" },
});

function tooLarge(over: OverLimit): string {
  return `${limitPhrase(over)} allows ${over.most} at once, and the batch has ${whatIsOver(over)}`;
}

/** Whose a commit is that GitHub links to nobody is not known: it may be an approver's. */
function oneMore(unlinked: readonly string[], looked: readonly string[]): string {
  const commits = unlinked.slice(0, 3).map((commit) => commit.slice(0, 10));
  const more = unlinked.length > commits.length ? ` and ${unlinked.length - commits.length} more` : "";
  const than = looked.length === 0 ? "" : ` than ${people([...new Set(looked)])}`;
  return `GitHub knows no account for ${unlinked.length === 1 ? "a commit" : "commits"} of the release (${commits.join(", ")}${more}), so one more person${than} has to approve`;
}
