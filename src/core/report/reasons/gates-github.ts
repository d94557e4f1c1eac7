/** What GitHub's rules want of a PR, and what GitHub answered: the gate's reasons that are GitHub's. */
import { count } from "../../base/count.ts";
import type { GatesReasons, GitHubChange, PullNeed } from "../../reasons/gates.ts";
import { entriesOf } from "./entry.ts";
import { obstaclePhrase } from "./obstacles.ts";
import { people, pullPhrase } from "./phrases.ts";

export const GITHUB = entriesOf<GatesReasons>()({
  MODE_MERGES_NOT: {
    says: "{pull} waits for a person to merge it: the rollout's mode is {mode}, so Stagecoach never merges",
    subject: "pull",
  },
  PULL_MANUAL: { says: "{pull} waits for a person to merge it (merge: Manual)", subject: "pull", actions: ["promote"] },
  PULL_QUEUED: { says: "{pull} is in GitHub's merge queue, place {place} ({state})", subject: "pull" },
  PULL_MERGING: { says: "Stagecoach is merging {pull}", subject: "pull" },
  HEAD_MOVED: { says: "Stagecoach does not merge it yet: somebody has pushed to it since", subject: "pull" },
  MERGE_BEGINS: { says: "Stagecoach merges {pull} at {head}", subject: "pull" },
  MERGEABLE_UNKNOWN: { says: "waiting for GitHub to say whether {pull} can be merged", subject: "pull" },
  GATE_UNSEEN: { says: "{pull} waits for GitHub to see its check stagecoach/gate", subject: "pull" },
  GITHUB_BLOCKS: { says: "{pull} waits for GitHub, which blocks it and does not tell by which rule of the base branch", subject: "pull" },
  GITHUB_WANTS: {
    says: ({ pull, needs, silent }) => `${pullPhrase(pull)} waits for GitHub: ${wanted(needs, silent)}`,
    subject: "pull",
    means: "a rule of the base branch wants something of the PR that it does not have yet",
    todo: "see that its checks report and pass, review it, or make the App a bypass actor of the rule",
  },
  GITHUB_ANSWERED: {
    says: ({ pull, obstacles, message }) => `GitHub does not merge ${pullPhrase(pull)} yet${obstaclePhrase({ obstacles, message })}`,
    subject: "pull",
  },
  NEXT_QUEUE: { by: "itself", says: "GitHub merges it, or takes it out of the queue" },
  NEXT_GITHUB_ANSWERS: { by: "itself", says: "GitHub answers" },
  NEXT_GATE_SEEN: { by: "itself", says: "GitHub sees the check" },
  NEXT_GITHUB_RULES: { by: "itself", says: "the pull request has its checks and reviews" },
  NEXT_CHECK_REPORTS: {
    by: "itself",
    says: ({ check }) =>
      `a person makes "${check.slice(0, 100)}" report on this pull request, or takes it out of the required checks; a workflow with a paths filter reports nothing for other paths`,
  },
  NEXT_CHECK_PASSES: { by: "person", says: "somebody runs the check again and it passes, or `/abort` ends the run", actions: ["abort"] },
  NEXT_CHECKS_DONE: { by: "itself", says: "the required checks are done" },
  NEXT_RULE_CHANGED: { by: "person", says: "a person changes the rule, or lets the App bypass it" },
  NEXT_REVIEWED: { by: "person", says: "a person reviews it, or lets the App bypass the rule" },
  NEXT_TRIED_AGAIN: { by: "itself", says: "Stagecoach tries again, at once if the pull request changes" },
  ASK_GITHUB_CHANGE: { says: ({ change }) => `${CHANGES[change]}, then \`/resume\`; or \`/abort\``, actions: ["resume", "abort"] },
});

const CHANGES: Record<GitHubChange, string> = {
  mergeMethod: "allow that way of merging in the repository's settings, or set `delivery.method` to one that is allowed",
  signatures: "have the App's commits signed, or make the App a bypass actor of that rule",
  workflows: "give the App the permission `workflows: write`, or take the workflow files out of what the rollout changes",
  permissions: "give the App `contents: write` and `pull_requests: write` on this repository",
  ruleset: "meet the ruleset's rules, or make the App a bypass actor of it (Settings, Rules)",
  protection: "let the App push to the base branch in its protection rule",
  archive: "take the repository out of the archive",
  named: "correct what GitHub names",
};

const MOST_NAMED = 5;

type Check = Extract<PullNeed, { kind: "check" }>;

/** `the required check "ci" has not reported yet`, several joined. */
function wanted(needs: readonly PullNeed[], silent: boolean): string {
  const checks = needs.filter((need) => need.kind === "check");
  const parts = [
    checksIn(checks, "failed", "failed"),
    checksIn(checks, "silent", silent ? "has not reported in 10 minutes" : "has not reported yet"),
    checksIn(checks, "pending", "is not done yet"),
    ...needs.flatMap((need) => (need.kind === "check" ? [] : [rule(need)])),
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function checksIn(checks: readonly Check[], state: Check["state"], words: string): string {
  const some = checks.filter((check) => check.state === state);
  if (some.length === 0) return "";
  const names = some.slice(0, MOST_NAMED).map((check) => `"${check.name.slice(0, 100)}"`);
  const more = some.length > MOST_NAMED ? ` and ${some.length - MOST_NAMED} more` : "";
  return `the required ${some.length === 1 ? "check" : "checks"} ${names.join(", ")}${more} ${words}`;
}

function rule(need: Exclude<PullNeed, Check>): string {
  switch (need.kind) {
    case "reviews":
      return `it has ${need.have} of the ${count(need.want, "approving review")} it needs (an App's does not count)`;
    case "changesRequested":
      return `${people(need.by.slice(0, MOST_NAMED))} asked for changes`;
    case "codeOwners":
      return "a code owner of the files it changes has not approved";
    case "lastPush":
      return "somebody other than the last to push has to approve";
    case "signatures":
      return "its commit has to be signed";
    case "method":
      return `the base branch does not take merges by ${need.method}${need.allowed.length === 0 ? "" : `, only by ${need.allowed.join(" or ")}`}`;
  }
}
