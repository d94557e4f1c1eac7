import type { BranchRules, Pull, QueueEntry } from "../../adapters/forge/port.ts";
import type { Approver, Guard, Joiner } from "../../core/run/state/world.ts";
import { type Commits, openCommits } from "../config-repo/commits.ts";
import { type DurationsOf, openDurations } from "../config-repo/history-durations.ts";
import { openReleases, type Releases } from "../config-repo/releases.ts";
import { openTags } from "../config-repo/releases-tags.ts";
import { openRemoteHeads, type RemoteHeads } from "../config-repo/remote-heads.ts";
import { openRenderer, type Renderer } from "../config-repo/rendered.ts";
import { noPlans, type Plans } from "../release-pr/plans.ts";
import { openReruns, type Reruns } from "../release-pr/reruns.ts";
import { openPins, type Pins } from "../resolve/pin-values.ts";
import { openRolloutActions, type RolloutActions } from "./act/rollout-actions.ts";
import type { RepoContext } from "./context.ts";
import { openRefresher, type Refresher } from "./guard/refresh.ts";
import { openTargetReader, type TargetReader } from "./guard/refresh-read.ts";
import { type BranchHeads, openBranchHeads } from "./observe/branch-heads.ts";
import type { PullOfRun } from "./observe/former-places.ts";
import { openFacts, type WithFacts } from "./observe/mirror-facts.ts";
import { type AnalysisTroubles, openAnalysisTroubles } from "./observe/observe-analysis.ts";
import { openRolloutReader, type RolloutReader } from "./observe/rollouts-seen.ts";
import { openStability, type Stability } from "./observe/stability.ts";
import { openPermissions, type Permissions } from "./permissions.ts";
import { openRolloutComments, type PublishRollouts } from "./publish/rollouts-publish.ts";
import { type Comments, openComments } from "./publish/send-comment.ts";
import { type MergedPull, openMergedPulls } from "./start/merged-pull.ts";
import type { RefusedReleases } from "./start/refused-releases.ts";
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
  analysisTroubles: AnalysisTroubles;
  comments: Comments;
  publishRollouts: PublishRollouts;
  mergedPull: MergedPull;
  issues: TrackingIssues;
  permissions: Permissions;
  reruns: Reruns;
  plans: Plans;
  /** `branch@head` → the last refusal of a merge call, and the time of the intention it was the answer to. */
  refusals: Map<string, { kind: "Retry" | "Wait" | "Human"; message: string; to?: string }>;
  /** Rules of the base branch as last read; undefined: not read yet. */
  rules: { branch: string; at: number; rules: BranchRules | undefined } | undefined;
  /**
   * The merge queue as last read, and whether the base branch is known to merge through it only. `mine`: `branch@head` put in by
   * this process. `groups`: PR → the last commit its merge group was seen at.
   */
  queue: { only: boolean; at: number; entries: readonly QueueEntry[]; mine: Set<string>; groups: Map<number, string> };
  /** Branch of a batch → its PR as last seen. */
  pulls: Map<string, Pull>;
  /** PRs whose labels and review requests were set by this process. */
  dressed: Set<number>;
  /** Commit → what our gate last said there, and when; kind `other`: of a PR that is not ours. `unsent`: it may not write checks. */
  gates: Map<string, { kind: string; title: string; at: number; unsent?: boolean }>;
  /** `environment task` → what its deployment last said. */
  deployments: Map<string, string>;
  /** Rollout → remarks for its status comment, by topic. */
  remarks: Map<string, Map<string, string>>;
  /** Branch → the last answer of the render guard, and what it was an answer to. */
  guards: Map<string, { key: string; guard: Guard }>;
  /**
   * PRs that an event told of as commented on, and until when they are read; and of which run a PR is, null for none. For those that
   * no run in progress reads anyway.
   */
  former: { until: Map<number, number>; pulls: Map<number, PullOfRun | null> };
  /** Rollout and PR → what its live page last showed, when, and whether something of it waits to be shown. */
  pages: Map<string, { run: number; phase: string; at: number; batches: number; changedAt: number; waiting: boolean; remarks: string }>;
  /** `journal.keep` of the settings as last read; undefined: not said, or not read yet. */
  journalKeep: number | undefined;
  /** `branch@head` → who has approved it, as last read. */
  approvals: Map<string, { at: number; approvers: readonly Approver[] }>;
  /** Person and teams → those the person is in, as last asked; undefined: could not be seen. */
  members: Map<string, { at: number; teams: string[] | undefined }>;
  /** Rollout → Applications that its run does not know, and what they resolve to. */
  joiners: Map<string, { key: string; joiners: Joiner[] }>;
  /** Rollout and run → the base that its resource was last compared with. */
  compared: Map<string, string>;
  /** Branches whose PR was asked for by this process. */
  proposed: Set<string>;
  /** Releases that cannot start because of an error on this base. */
  refused: RefusedReleases;
  /** Rollout → effects that failed in a row, and when they may be tried again. */
  troubles: Map<string, { count: number; until: number }>;
  /** Rollout → when an observation was last recorded. */
  observedAt: Map<string, number>;
}

export function repoMemory(context: RepoContext, remote = openRemoteHeads(context)): RepoMemory {
  const commits = openCommits(context.mirror);
  const heads = openBranchHeads(context, remote);
  const pins = openPins(commits, heads);
  const rollouts = openRolloutReader(context);
  const comments = openComments(context);
  const permissions = openPermissions(context);
  return {
    commits,
    remote,
    heads,
    pins,
    withFacts: openFacts({ context, commits, remote, pins }),
    renderer: openRenderer(context, commits),
    releases: openReleases(commits, openTags(context, remote)),
    durationsOf: openDurations(context),
    refresher: openRefresher(context),
    reader: openTargetReader(context),
    stability: openStability(),
    rollouts,
    actions: openRolloutActions(context, rollouts),
    analysisTroubles: openAnalysisTroubles(),
    comments,
    publishRollouts: openRolloutComments(context, comments),
    mergedPull: openMergedPulls(context),
    issues: openTrackingIssues(context, comments),
    permissions,
    reruns: openReruns(permissions),
    plans: noPlans(),
    ...nothing(),
  };
}

/** What is no concern of its own yet. */
function nothing(): Pick<
  RepoMemory,
  | "refusals"
  | "rules"
  | "queue"
  | "pulls"
  | "dressed"
  | "gates"
  | "deployments"
  | "remarks"
  | "guards"
  | "former"
  | "pages"
  | "journalKeep"
  | "approvals"
  | "members"
  | "joiners"
  | "compared"
  | "proposed"
  | "refused"
  | "troubles"
  | "observedAt"
> {
  return {
    refusals: new Map(),
    rules: undefined,
    queue: { only: false, at: 0, entries: [], mine: new Set(), groups: new Map() },
    pulls: new Map(),
    dressed: new Set(),
    gates: new Map(),
    deployments: new Map(),
    remarks: new Map(),
    guards: new Map(),
    former: { until: new Map(), pulls: new Map() },
    pages: new Map(),
    journalKeep: undefined,
    approvals: new Map(),
    members: new Map(),
    joiners: new Map(),
    compared: new Map(),
    proposed: new Set(),
    refused: { base: undefined, found: [], missing: [] },
    troubles: new Map(),
    observedAt: new Map(),
  };
}

/** Something for people to read beside the run's own words; undefined takes it back. */
export function remark(memory: RepoMemory, rollout: string, topic: string, text: string | undefined): void {
  const remarks = memory.remarks.get(rollout) ?? new Map<string, string>();
  if (text === undefined) remarks.delete(topic);
  else remarks.set(topic, text);
  memory.remarks.set(rollout, remarks);
}

/** Remembers the newest so many. */
export function keep<K, V>(map: Map<K, V>, key: K, value: V, most = 1000): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next().value;
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
