import { count } from "../../../base/count.ts";
import type { RepoProblems } from "../../../reasons/problems/repo.ts";
import { firstOf, present } from "../../markdown.ts";
import { bareBranches } from "../phrases.ts";
import { problemsOf } from "./entry.ts";

export type GitHubCode =
  | "SILENT_CHECK"
  | "METHOD_FORBIDDEN"
  | "BASE_WANTS_PERSON"
  | "BASE_WANTS_SIGNED"
  | "BRANCHES_UNPROTECTED"
  | "CHECK_UNBOUND"
  | "RULES_PASSED_BY"
  | "APP_PASSES_NOT"
  | "TEAM_UNSEEN";

/** What stands on GitHub outside of a rollout's file: the base branch's rules, checks and teams. */
export const GITHUB_PROBLEMS = problemsOf<Pick<RepoProblems, GitHubCode>>()({
  SILENT_CHECK: {
    says: (r) =>
      `the required check "${r.check}" is never reported on a pull request that changes only ${firstOf(r.changed, 3)}: ${firstOf(r.workflows, 3)} does not run for it, and GitHub would wait for ever`,
    hint: "let the workflow run on every pull request to the base and skip its jobs by `if:`, which counts as passed; or do not require the check",
    means:
      "a check that the branch requires comes from a workflow that does not run for what batches change (its `paths`, `branches` or events), so GitHub would wait for it for ever; the bot knows it from the branch's rules and `.github/workflows`",
  },
  METHOD_FORBIDDEN: {
    says: "{branch} does not take merges by {method}, only by {allowed}: GitHub would refuse every batch",
    hint: "set delivery.method to one of {allowed}, or allow {method} in the repository's settings and rules",
    means:
      "the base branch's rules or the repository's settings forbid `delivery.method`: GitHub would refuse every batch; on a release PR only",
    todo: "set `delivery.method` to one that is allowed, or allow it",
  },
  BASE_WANTS_PERSON: {
    says: ({ branch, batches, reviews, codeOwners, owners, lastPush }) => {
      const theirs = owners === undefined || owners.batches === batches ? "" : ` for ${owners.batches} of the ${batches} batches`;
      const wants = present(
        reviews > 0 && count(reviews, "approving review"),
        codeOwners && `a code owner's approval${owners === undefined ? "" : ` (${owners.names.join(", ")})`}${theirs}`,
        lastPush && "approval by somebody other than the last to push",
      );
      return `${branch} wants ${wants.join(", and ")}, which no App can give. Unless Stagecoach may bypass that rule, ${batches === 1 ? "the batch waits" : `each of the ${batches} batches waits`} for a person`;
    },
    hint: "make the App a bypass actor of that rule, or count on approving each batch",
    means: "the base branch's rules want a review of every batch's pull request, which no App can give; on a release PR only",
    todo: "make the App a bypass actor of the ruleset, or count on approving each batch; [rules of the branch](gates.md#what-githubs-rules-mean-for-a-batch)",
    warns: true,
  },
  BASE_WANTS_SIGNED: {
    says: "{branch} takes signed commits only, and batches are committed unsigned: GitHub would refuse every one of the {batches}",
    hint: "set commits.signing in the server's configuration",
    means: "the base branch takes signed commits only, and the server signs none; on a release PR only",
    todo: "set [`commits.signing`](configuration.md#commits)",
    warns: true,
  },
  BRANCHES_UNPROTECTED: {
    says: ({ bare }) =>
      `others may write to ${bareBranches(bare)}, so \`mode: Run\` opens no batch: an active ruleset has to let only the App write there`,
    hint: "set the ruleset that `stagecoach lint --online` prints, or have the operator set allowUnprotected",
    means:
      "with `mode: Run` no active ruleset keeps others from the journal's branch and from those of batches; on a release PR and with `lint --online`. As long as that is so no batch is opened",
    todo: "set the ruleset that `stagecoach lint --online` prints ready to paste; [the journal's branch](onboarding.md#the-journals-branch)",
    warns: true,
  },
  CHECK_UNBOUND: {
    says: "{branch} requires {checks} of whoever reports it: anybody with write can post one of that name",
    hint: "bind it to the App: choose the App as its source, in the API integration_id",
    means:
      "a required check of Stagecoach's is not bound to the App (`integration_id`), so a status of that name by anybody with write counts as well",
    todo: "choose the App as the check's source in the rule; [the journal's branch](onboarding.md#the-journals-branch)",
    warns: true,
  },
  RULES_PASSED_BY: {
    says: "{who} may pass by the rules that keep others from {branch}",
    hint: "let only the App pass them by",
    means:
      "the rules for a branch of Stagecoach's let others than the App pass, too; with `lint --online` and an administrator's token only",
    todo: "take them off the ruleset's bypass list",
    warns: true,
  },
  APP_PASSES_NOT: {
    says: "no App may pass by the rules that keep others from {branch}: GitHub would refuse Stagecoach's own writes",
    hint: "add the App to the ruleset's bypass list, mode always",
    means: "the rules for a branch of Stagecoach's keep Stagecoach from it, too; with `lint --online` and an administrator's token only",
    todo: "add the App to the ruleset's bypass list (`bypass_actors`, mode `always`)",
    warns: true,
  },
  TEAM_UNSEEN: {
    says: "nobody can approve as a member of {teams}: there is no such team, or the App was not given members: read",
    hint: "correct the slug, or grant members: read",
    means: "nobody can approve as a member of this team; on a release PR only",
    warns: true,
  },
});
