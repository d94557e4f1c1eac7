import type { RepoProblems } from "../../reasons/problems-repo.ts";
import type { Help } from "./problem-entry.ts";

/** What stands outside of the file: why each code is told, and what to do. */
export const REPO_HELP: { readonly [Code in keyof RepoProblems]: Help } = {
  BASE_NOT_DEFAULT: {
    means: "`delivery.base` names another branch than the repo's default one, and batches are written to that one only",
    todo: "remove `delivery.base` and let Argo CD read the default branch, or make the other branch the default one; [ADR 13](adr/0013-batches-are-written-to-the-default-branch.md) says why",
  },
  BASE_REVISION: {
    means:
      "a generator, the parent Application or a source reads what batches write from another branch than they write to: a merge would be seen never, or only in part",
    todo: "let it read that branch",
  },
  NO_GENERATE_PATHS: {
    means: "every push makes Argo CD render everything that follows this repo",
    todo: "add the annotation to the template",
    warns: true,
  },
  NOT_APPLIED: {
    means: "nothing brings the ApplicationSet from Git to the cluster",
    todo: "let a parent Application read that folder, or apply the file after each merge",
    warns: true,
  },
  ROLLING_SYNC: {
    means: "the ApplicationSet stages its syncs itself, and switches auto-sync off for that",
    todo: "remove `spec.strategy`",
  },
  CREATE_ONLY: { means: "the ApplicationSet creates Applications and never updates them", todo: "`sync` or `create-update`" },
  AUTO_SYNC_OFF: {
    means: "Argo CD would see each batch and wait for a person to sync it",
    todo: "`syncPolicy: { automated: {} }` in the template",
  },
  IGNORED_PIN: { means: "the ApplicationSet is told to leave alone what batches change", todo: "take it out" },
  IMAGE_UPDATER: {
    means: "Argo CD Image Updater sets the image that pins set: each undoes the other",
    todo: "remove the annotation, or the Applications from the ImageUpdater's `applicationRefs`, or the pin",
  },
  SILENT_CHECK: {
    means:
      "a check that the branch requires comes from a workflow that does not run for what batches change (its `paths`, `branches` or events), so GitHub would wait for it for ever; the bot knows it from the branch's rules and `.github/workflows`",
    todo: "let the workflow run on every pull request to the base and skip its jobs by `if:` (a skipped job counts as passed), or do not require the check",
  },
  INVENTORY_NOT_FOUND: { means: "the file of `spec.inventory` is not in the repo", todo: "add it, or correct its name" },
  INVENTORY_INVALID: { means: "the file of `spec.inventory` cannot be read as cluster Secrets", todo: "correct the place that it names" },
  INVENTORY_CREDENTIALS: {
    means: "the file of `spec.inventory` holds credentials, in `data.config` or in what `kubectl apply` noted",
    todo: "replace them, they are in Git's history now; print the file without",
  },
  RELEASE_NOT_FOUND: { means: "the release's file or the path in it is not there", todo: "correct `release.from`" },
  SOURCE_NOT_FOUND: {
    means: "neither the ApplicationSet nor an Application that the selector selects is in the repo or the inventory",
    todo: "correct `sourceRef`, or give `--inventory` with its Applications",
    warns: true,
  },
  CONTROL_PLANE_NOT_GRANTED: {
    means: "the server's config does not let this repository use that control plane",
    todo: "name one that is granted, or ask the server's operator for a rule under [`tenancy`](configuration.md#tenancy)",
  },
  PROJECT_NOT_GRANTED: {
    means: "what a rollout names may exist, in an Argo CD project that this repository may not see",
    todo: "check `sourceRef`, or ask the server's operator for a rule under [`tenancy`](configuration.md#tenancy)",
  },
  PLANE_LOST: {
    means: "a control plane of the rollout cannot be read now: its clusters are planned as last read, or are missing from the plan",
    todo: "do what the reason says; [Several control planes](argocd.md#several-control-planes)",
    warns: true,
  },
  IN_QUARANTINE: {
    means: "clusters that the rule `quarantine` would leave out now; on a release PR only",
    todo: "nothing, or bring it back before its turn",
    warns: true,
  },
  TEAM_UNSEEN: {
    means: "nobody can approve as a member of this team; on a release PR only",
    todo: "correct the slug, or grant `members: read`",
    warns: true,
  },
  DEPENDS_NOWHERE: {
    means: "a rollout that this one depends on is on none of its clusters; on a release PR only",
    todo: "correct the name, or remove it",
    warns: true,
  },
  WINDOW_CLOSED: {
    means: "a window or freeze would hold the release now; on a release PR only",
    todo: "merge the PR later, or let its batches wait",
    warns: true,
  },
  UNSTAGED: {
    means: "merging the PR itself changes clusters, past the stages; only in the check `stagecoach/plan`",
    todo: "[releases](releases.md#does-it-pass-the-stages-by) has what to do",
  },
};
