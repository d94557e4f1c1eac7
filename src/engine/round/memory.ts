import { BoundedMap } from "../../core/base/bounded.ts";
import { type Commits, openCommits } from "../config-repo/commits.ts";
import { type DurationsOf, openDurations } from "../config-repo/history-durations.ts";
import { openReleases, type Releases } from "../config-repo/releases.ts";
import { openTags } from "../config-repo/releases-tags.ts";
import { openRemoteHeads, type RemoteHeads } from "../config-repo/remote-heads.ts";
import { openRenderer, type Renderer } from "../config-repo/rendered.ts";
import { openSettings, type Settings } from "../config-repo/settings.ts";
import { noPlans, type Plans } from "../release-pr/plans.ts";
import { openReruns, type Reruns } from "../release-pr/reruns.ts";
import { openPins, type Pins } from "../resolve/pin-values.ts";
import { openRolloutActions, type RolloutActions } from "./act/rollout-actions.ts";
import { type Analyses, openAnalyses } from "./act-analysis.ts";
import { type Backoff, openBackoff } from "./backoff.ts";
import { type BatchPulls, openBatchPulls } from "./batch-pulls.ts";
import { openRules, type Rules } from "./branch-rules.ts";
import type { RepoContext } from "./context.ts";
import { type GuardBatch, openGuard } from "./guard/guard.ts";
import { openRefresher, type Refresher } from "./guard/refresh.ts";
import { openTargetReader, type TargetReader } from "./guard/refresh-read.ts";
import { type MergeQueue, openMergeQueue } from "./merge-queue.ts";
import { type BranchHeads, openBranchHeads } from "./observe/branch-heads.ts";
import { type EditRemarks, openEditRemarks } from "./observe/edited-midrun.ts";
import { type FormerPlaces, openFormerPlaces } from "./observe/former-places.ts";
import { openFacts, type WithFacts } from "./observe/mirror-facts.ts";
import { type ObserveJoiners, openJoiners } from "./observe/observe-joiners.ts";
import { openPeople, type People } from "./observe/people.ts";
import { openRolloutReader, type RolloutReader } from "./observe/rollouts-seen.ts";
import { openStability, type Stability } from "./observe/stability.ts";
import { openPermissions, type Permissions } from "./permissions.ts";
import { openDeployments, type PutDeployments } from "./publish/deployments.ts";
import type { GateParts } from "./publish/gate-check.ts";
import { type GateChecks, openGateChecks } from "./publish/gate-checks.ts";
import { type Labels, openLabels } from "./publish/labels.ts";
import { openRolloutComments, type PublishRollouts } from "./publish/rollouts-publish.ts";
import { type Comments, openComments } from "./publish/send-comment.ts";
import { type MergedPull, openMergedPulls } from "./start/merged-pull.ts";
import { openRefusedReleases, type RefusedReleases } from "./start/refused-releases.ts";
import { openTrackingIssues, type TrackingIssues } from "./start/tracking-issue.ts";
/**
 * What a process remembers of a repo between rounds. All of it may be lost at any moment: it saves work and widens what
 * can be shown, and nothing is decided by it that could not be found out again.
 */
export interface RepoMemory {
  commits: Commits;
  remote: RemoteHeads;
  heads: BranchHeads;
  pins: Pins;
  withFacts: WithFacts;
  renderer: Renderer;
  releases: Releases;
  durationsOf: DurationsOf;
  refresher: Refresher;
  reader: TargetReader;
  stability: Stability;
  rollouts: RolloutReader;
  actions: RolloutActions;
  comments: Comments;
  publishRollouts: PublishRollouts;
  mergedPull: MergedPull;
  issues: TrackingIssues;
  permissions: Permissions;
  reruns: Reruns;
  plans: Plans;
  pulls: BatchPulls;
  rules: Rules;
  queue: MergeQueue;
  checks: GateChecks;
  gates: GateParts;
  putDeployments: PutDeployments;
  labels: Labels;
  guardBatch: GuardBatch;
  formerPlaces: FormerPlaces;
  settings: Settings;
  people: People;
  observeJoiners: ObserveJoiners;
  editRemarks: EditRemarks;
  refused: RefusedReleases;
  backoff: Backoff;
  analyses: Analyses;
  /** Rollout and PR → what its live page last showed, when, and whether something of it waits to be shown. */
  pages: Map<string, Page>;
  /** Rollout → when an observation was last recorded. */
  observedAt: Map<string, number>;
}

interface Page {
  run: number;
  phase: string;
  at: number;
  batches: number;
  changedAt: number;
  waiting: boolean;
  remarks: string;
}

const MOST_KEPT = 1000;

/** Opens all of them, once for a repo. */
export function repoMemory(context: RepoContext, remote = openRemoteHeads(context)): RepoMemory {
  const commits = openCommits(context.mirror);
  const comments = openComments(context);
  return { commits, remote, comments, ...openLooks(context, commits, remote), ...openDoings(context, commits, remote, comments) };
}

function openLooks(context: RepoContext, commits: Commits, remote: RemoteHeads) {
  const heads = openBranchHeads(context, remote);
  const pins = openPins(commits, heads);
  return {
    heads,
    pins,
    withFacts: openFacts({ context, commits, remote, pins }),
    renderer: openRenderer(context, commits),
    releases: openReleases(commits, openTags(context, remote)),
    durationsOf: openDurations(context),
    refresher: openRefresher(context),
    reader: openTargetReader(context),
    stability: openStability(),
    guardBatch: openGuard(context, commits),
    formerPlaces: openFormerPlaces(context),
    settings: openSettings(context, commits),
    people: openPeople(context),
    observeJoiners: openJoiners(context, commits),
    editRemarks: openEditRemarks(context, commits),
    analyses: openAnalyses(context, commits),
  };
}

function openDoings(context: RepoContext, _commits: Commits, remote: RemoteHeads, comments: Comments) {
  const permissions = openPermissions(context);
  const reruns = openReruns(permissions);
  const pulls = openBatchPulls();
  const rules = openRules(context);
  const queue = openMergeQueue({ context, rules, pulls, remote });
  const checks = openGateChecks(context, reruns, permissions);
  const rollouts = openRolloutReader(context);
  const mergedPull = openMergedPulls(context);
  return {
    permissions,
    reruns,
    pulls,
    rules,
    queue,
    checks,
    gates: { context, checks, queue, pulls },
    rollouts,
    actions: openRolloutActions(context, rollouts),
    publishRollouts: openRolloutComments(context, comments),
    putDeployments: openDeployments(context, permissions, comments),
    labels: openLabels(context),
    mergedPull,
    refused: openRefusedReleases(context, mergedPull),
    issues: openTrackingIssues(context, comments),
    backoff: openBackoff(context),
    plans: noPlans(),
    pages: new BoundedMap<string, Page>(MOST_KEPT),
    observedAt: new BoundedMap<string, number>(MOST_KEPT),
  };
}
