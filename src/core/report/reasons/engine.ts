import { sayRef } from "../../base/ref-name.ts";
import { formatDuration } from "../../base/time.ts";
import type { EngineReasons } from "../../reasons/engine.ts";
import type { Problem } from "../../reasons/problems/problem.ts";
import { GUARD } from "./engine-guard.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { few, release, sha } from "./phrases.ts";
import { sayProblem } from "./problems/problems.ts";

const killed = (by = "time or memory", end = true) =>
  `planning it takes too much ${by}: Stagecoach ${end ? "leaves it alone until its head changes" : "tries again"}`;
const OF_RUN = "it belongs to run {rollout} #{run}";

/** A problem of a file as the cause of something else, with its place. */
function placed(problem: Problem): string {
  return `${sayProblem(problem).message} (${problem.file}:${problem.line}:${problem.column})`;
}

/** What the engine sees, cannot see, and tells. */
export const ENGINE: Entries<EngineReasons> = entriesOf<EngineReasons>()({
  SAID_OF: { subject: "application", says: "{application}: {because}" },

  ...GUARD,
  BRANCH_NOT_FOLLOWED: {
    subject: "application",
    says: ({ application, branch }) => `${application} does not follow ${sayRef(branch)}: moving it would not reach it`,
  },
  BRANCH_GONE: { subject: "repository", says: ({ branch }) => `${sayRef(branch)} no longer exists` },
  BRANCH_UNFETCHED: { subject: "repository", says: "Stagecoach has not fetched the head of {branch}, {head}, yet" },
  BRANCH_PAST: { subject: "repository", says: "{branch} is at {head}, past {commit}: Stagecoach moves it forward only" },
  BRANCH_APART: {
    subject: "repository",
    says: ({ branch, head, commit, tip }) =>
      `Stagecoach cannot fast-forward ${branch} to ${sha(commit)}: it is at ${sha(head)}${tip === undefined ? "" : ` by ${tip.author} (${tip.subject})`}, which the release does not contain`,
  },
  PULL_RUN_OVER: { subject: "pull", says: `${OF_RUN}, which is over` },
  PULL_ATTEMPT_OVER: { subject: "pull", says: `${OF_RUN}, whose batch was built again as attempt {attempt}` },
  PULL_BATCH_CLOSED: { subject: "pull", says: `${OF_RUN}, whose batch is closed` },
  PULL_RUN_PAUSED: { subject: "pull", says: `${OF_RUN}, which is paused: \`/resume\` on the release's pull request opens a new one` },

  CONNECTION_FAILED: { subject: "cluster", says: "connection failed" },
  PLANES_NOT_CONFIGURED: { subject: "controlPlane", says: "the server has no control plane {planes}" },
  PLANE_UNSEEN_NOW: { subject: "controlPlane", says: "Stagecoach cannot read control plane {plane}: [{because}|it is not configured]" },
  INVENTORY_UNREADABLE: {
    subject: "file",
    says: ({ problem }) => `Stagecoach cannot read the inventory${problem === undefined ? "" : `: ${placed(problem)}`}`.slice(0, 500),
  },
  SETTINGS_INVALID: {
    subject: "file",
    says: ({ problem }) => `${problem.file}:${problem.line}:${problem.column}: ${sayProblem(problem).message}`,
  },
  ARGOCD_UNSEEN: { subject: "controlPlane", says: "Stagecoach cannot read what Argo CD has" },
  NO_ANALYSES: { subject: "analysis", says: "this server runs no analyses" },
  NO_HOOKS: { subject: "hook", says: "this server asks no hooks" },
  APPROVER_UNSEEN: { subject: "person", says: "Stagecoach cannot see right now whether they are still in one of the teams" },
  APPROVER_LEFT: { subject: "person", says: "is in none of the teams any more" },
  REPOSITORY_ARCHIVED: { subject: "repository", says: "the repository is archived, so nobody can write to it, and the run waits" },
  ASK_UNARCHIVE: { subject: "repository", says: "somebody takes the repository out of the archive" },

  ROLLOUTS_NOT_SHOWN: { subject: "controlPlane", says: "control plane {plane} cannot show Argo Rollouts" },
  ROLLOUTS_UNREADABLE: {
    subject: "application",
    says: {
      how: {
        notAllowed:
          "Stagecoach cannot read the Argo Rollouts of {application} through control plane {plane}: docs/argo-rollouts.md says what that needs",
        failed: "Stagecoach could not read the Argo Rollouts of {application} through control plane {plane}",
        now: "Stagecoach cannot read the Argo Rollouts of {application} through control plane {plane} now",
      },
    },
  },
  ROLLOUTS_BEYOND_COUNT: {
    subject: "application",
    says: "{application} has {count} Argo Rollouts, more than are shown and steered one by one: resume or promote them in Argo CD",
  },
  ROLLOUT_GONE: { subject: "application", says: "{application} has no Rollout {name} any more" },
  CONTENT_UNSEEN: {
    subject: "controlPlane",
    says: "control plane {plane} is not of `kind: api`, and only Argo CD's API tells what objects hold",
  },
  PLANE_MISSING: { subject: "controlPlane", says: "there is no control plane {plane}" },
  ACTIONS_NOT_ALLOWED: {
    subject: "controlPlane",
    says: "control plane {plane} may not run actions on Argo Rollouts: give it `kind: api` and `allowRolloutActions: true`, and its account `p, ACCOUNT, applications, action/argoproj.io/Rollout/*, PROJECT/*, allow` (docs/argo-rollouts.md)",
  },
  NOT_TRIED_TOGETHER: { subject: "batch", says: "Stagecoach did not try it, since the batch moves together: {because}" },

  RESOURCE_GONE: { subject: "file", says: "The rollout is no longer in {declaredIn}: this run goes on as it began." },
  RESOURCE_EDITED: {
    subject: "file",
    says: "{declaredIn} was edited since this run began ({fields}): the run keeps what it started with, and the next one takes the edit.",
  },
  SET_GONE: { subject: "file", says: "{declaredIn} no longer declares ApplicationSet {set}." },
  SET_EDITED: {
    subject: "file",
    says: "{declaredIn} was edited since this run began ({fields}): Argo CD applies that to every cluster at once, beside the batches of this run.",
  },
  SOURCE_LEFT: { subject: "application", says: ({ applications }) => `sourceRef no longer takes ${few(applications)}: the plan stands` },
  JOINERS_UNRESOLVED: {
    subject: "application",
    says: ({ problem }) => `Applications appeared during the run and cannot join it yet: ${sayProblem(problem).message}`,
  },
  INVENTORY_UNREAD: {
    subject: "file",
    says: ({ problem }) =>
      `Stagecoach cannot read the clusters, so nothing that depends on them goes on: ${placed(problem)}. To correct it, ${sayProblem(problem).hint}.`,
  },
  ANALYSIS_NOT_STARTED: { subject: "analysis", says: "Stagecoach could not start an analysis, and tries again: {said}" },
  LABELS_NOT_SET: {
    subject: "pull",
    says: ({ number, said }) => `Stagecoach could not set the labels of #${number} or ask its reviewers, as the rollout wants: ${said}`,
  },
  RATE_LIMIT_NEAR: {
    subject: "repository",
    says: ({ limit, remaining, resetAt, everyMs }) => {
      const until = new Date(resetAt).toISOString().slice(11, 16);
      return `This App has nearly used up GitHub's limit (${remaining} of ${limit} calls left until ${until} UTC): Stagecoach looks every ${formatDuration(everyMs)} until then, and edits this comment only where something needs you.`;
    },
  },

  ROLLOUT_ADOPTED: { subject: "run", says: (r) => `adopted at ${release(r)}` },
  RUN_BEGUN: { subject: "run", says: (r) => `started for ${release(r)}` },
  RUN_ROLLS_BACK: { subject: "run", says: "rolls back #{run}: {because}" },
  RUN_MAKES_WAY: { subject: "run", says: (r) => `makes way for ${release(r)}` },
  MODE_STARTS_NO_RUN: { subject: "run", says: "its mode is Observe, so no run starts" },
  RELEASE_SUPERSEDED: { subject: "run", says: (r) => `${release(r)} was superseded before it started` },
  RELEASE_REFUSED: {
    subject: "run",
    says: (reason) => `no run starts from ${release(reason)}, which was merged: its plan has problems`,
  },
  RUN_BEGUN_LATE: {
    subject: "run",
    says: (reason) =>
      `the run of ${release(reason)} has begun: what held it back since ${reason.since.slice(0, 16).replace("T", " ")} UTC is over`,
  },
  RELEASE_REJECTED: { subject: "run", says: (r) => `${release(r)} was rejected: #${r.run} is in progress` },
  RELEASE_HAS_NO_RUN: { subject: "run", actions: ["retry"], says: "this release was rejected, and has no run; `/retry` starts it" },
  RELEASE_STARTS_ALREADY: { subject: "run", says: "Stagecoach is starting it already" },
  RELEASE_STARTED: { subject: "run", says: "Stagecoach starts it" },
  RUN_GOES_ON: { subject: "run", says: "run #{run} is in progress: comment again once it has ended" },

  PLAN_MADE_AFRESH: { subject: "pull", says: "Stagecoach makes the plan again" },
  PLAN_OF_FORK: {
    subject: "pull",
    actions: ["plan"],
    says: "it comes from a fork: Stagecoach plans it once somebody with write permission comments `/plan`",
  },
  PLAN_KILLED: { subject: "pull", says: ({ by, final }) => killed(by, final) },
  NOTE_ROLLOUT_GOES: {
    subject: "file",
    says: "Merging this removes rollout **{rollout}**: no release of it starts a run any more; a run in progress goes on as it began.",
  },
  NOTE_ROLLOUT_NEW: {
    subject: "file",
    says: "Rollout **{rollout}** is new: Stagecoach takes its release for what runs already, so merging it starts no run.",
  },
  NOTE_SOURCE_OF_FORK: {
    subject: "file",
    says: "Rollout **{rollout}** names another `sourceRef` than the base does. A pull request from a fork is planned with those of the base only: push it to a branch of this repository to see what it would do.",
  },
  NOTE_NO_RELEASE: { subject: "file", says: "Rollout **{rollout}** has no release, so it can be planned but not run." },
  NOTE_NO_TAG: { subject: "file", says: "Rollout **{rollout}** has no release yet: no tag has a version in {range}." },
  PULL_TOO_LARGE: {
    subject: "pull",
    says: "this pull request from a fork brings more than {mebibytes} MiB, so Stagecoach does not look at what it would do: make it smaller, or push it to a branch of this repository",
  },
  PULL_LARGE_FILE: {
    subject: "pull",
    says: "this pull request from a fork changes a large file that the base has changed, too, so Stagecoach does not look at what it would do: rebase it, or push it to a branch of this repository",
  },
  PULL_NO_ROOM: {
    subject: "repository",
    says: "the server's copy of this repository is full ({mebibytes} MiB), so Stagecoach does not look at what pull requests would do: close large ones, or ask the operator for a larger `quota.repository`",
  },
  UNSTAGED_UNTOLD: {
    subject: "application",
    says: {
      kind: {
        Unasked:
          "Argo CD ({plane}) cannot be asked what {parent} would render from it: read it with `kind: api` and a token that may `get` {parent}",
        Fork: "Argo CD ({plane}) is not asked what {parent} would render from it, since its head is a fork's: push it to a branch of this repository",
        Behind:
          "the base has changed {object} since it branched off, and {parent} in {plane} is made from that: update the branch, so that Argo CD can be asked what merging it gives",
        Missing: "Argo CD ({plane}) does not render {object} from {parent} at the base, though {parent} applies it",
        Empty: "Argo CD ({plane}) would render nothing at all from {parent}",
        Spec: "{object} changes where {parent} in {plane} takes its Applications from, which Argo CD cannot show ahead: change what {parent} reads instead of its spec, or have somebody look and put `stagecoach/bypass` on it",
        Generators: "what {object} would generate, as {parent} in {plane} would render it, cannot be worked out",
      },
    },
  },
  NOTE_UNSTAGED_UNTOLD: { subject: "pull", says: "Whether merging this changes clusters past the stages is not known: {because}." },
  UNSTAGED_DELETED: { subject: "application", says: "it would be deleted, with its workloads" },
  UNSTAGED_CHANGED: { subject: "application", says: ({ places }) => `its ${places.join(" and ")} would change` },
  UNSTAGED_PIN: { subject: "application", says: "its pin in {pinFile} would go from [{from}|nothing] to [{to}|nothing]" },
  UNSTAGED_FOLLOWS: { subject: "application", says: "it follows {branch}, so every merge reaches it at once" },
  UNSTAGED_NO_PIN: { subject: "application", says: "none of its pins is the revision that it follows" },
  UNSTAGED_READS: { subject: "application", says: "it reads {changed} from {branch}, which this changes" },
});
