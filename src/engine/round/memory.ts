import type { BranchRules, Pull, QueueEntry } from "../../adapters/forge/port.ts";
import type { Approver, Guard, Joiner } from "../../core/run/state/world.ts";
import { type Commits, openCommits } from "../config-repo/commits.ts";
import { openRemoteHeads, type RemoteHeads } from "../config-repo/remote-heads.ts";
import type { SpecsByPlane } from "../config-repo/rendered.ts";
import type { RepoContext } from "./context.ts";
import type { PullOfRun } from "./observe/former-places.ts";
import type { RefusedReleases } from "./start/refused-releases.ts";

/**
 * What a process remembers of a repo between rounds. All of it may be lost at any moment: it saves work and widens what
 * can be shown, and nothing is decided by it that could not be found out again.
 */
export interface RepoMemory {
  commits: Commits;
  remote: RemoteHeads;
  /** Comments on their way, by PR: they follow the rounds and hold none up. */
  publishing: Map<number, Promise<void>>;
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
  /** Checks or deployments that the App was not given the permission for: not tried again until `permissionsMoved`. */
  forbidden: Set<"checks" | "deployments">;
  /** The App may have been given more since: the next look gets itself a new token, which has it, and tries again what was forbidden. */
  permissionsMoved: boolean;
  /** When a resync last had it tried again; epoch milliseconds. */
  permissionsAskedAt: number;
  /** Commit → names of the checks of ours there that somebody asked for again. */
  again: Map<string, Set<string>>;
  /** `environment task` → what its deployment last said. */
  deployments: Map<string, string>;
  /** Rollout → remarks for its status comment, by topic. */
  remarks: Map<string, Map<string, string>>;
  /** Branch → the last answer of the render guard, and what it was an answer to. */
  guards: Map<string, { key: string; guard: Guard }>;
  /** `base branch` → pins of a batch's targets at that base. */
  pins: Map<string, Map<string, (string | null)[]>>;
  /** `rollout commit` → what the ApplicationSet yields there, for the fleet it was rendered with. */
  renders: Map<string, { fleet: string; specs: SpecsByPlane }>;
  /**
   * PRs that an event told of as commented on, and until when they are read; and of which run a PR is, null for none. For those that
   * no run in progress reads anyway.
   */
  former: { until: Map<number, number>; pulls: Map<number, PullOfRun | null> };
  /** Comment → what it was last wanted to say. */
  comments: Map<string, { body: string }>;
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

export function repoMemory(context: Pick<RepoContext, "mirror" | "clock" | "journalBranch">): RepoMemory {
  return {
    commits: openCommits(context.mirror),
    remote: openRemoteHeads(context),
    publishing: new Map(),
    refusals: new Map(),
    rules: undefined,
    queue: { only: false, at: 0, entries: [], mine: new Set(), groups: new Map() },
    pulls: new Map(),
    dressed: new Set(),
    gates: new Map(),
    forbidden: new Set(),
    permissionsMoved: false,
    permissionsAskedAt: Number.NEGATIVE_INFINITY,
    again: new Map(),
    deployments: new Map(),
    remarks: new Map(),
    guards: new Map(),
    pins: new Map(),
    renders: new Map(),
    former: { until: new Map(), pulls: new Map() },
    comments: new Map(),
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
