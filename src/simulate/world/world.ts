import type { Cluster, Plan, Target } from "../../core/plan/plan-types.ts";
import { WORTH_REMEMBERING } from "../../core/run/state/batch.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Command } from "../../core/spec/commands.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Limits } from "../../core/spec/schema-common.ts";
import type { PlacedFreeze, Freeze as SettingsFreeze } from "../../core/spec/windows-binding.ts";
import { type Random, random } from "../generate/random.ts";
import type { Behaviour, Chaos, ModelFreeze, ModelOutside, ModelRollout } from "../generate/scenario.ts";
import { type ModelTarget, modelTarget } from "./argocd.ts";
import { type ModelForge, modelForge } from "./forge.ts";
import { type ModelGit, modelGit, pinOf, releaseEdit } from "./git.ts";
import { type Outside, outsideOf, WELL } from "./outside.ts";
import type { ModelPages } from "./page.ts";

/** What the journal holds of one rollout: its last run, and up to where its releases were looked at. */
export interface Entry {
  run: Run | undefined;
  lastRun: number;
  lastRelease: Record<string, string>;
  /** Index of a commit of the base. */
  cursor: number;
  rejected?: { version: string; pull: number; at: number };
}

export interface RepoRollout {
  index: number;
  name: string;
  spec: Rollout;
  /** As they were at first. */
  targets: Target[];
  /** Given where there is one: what its first release does. */
  plan?: Plan;
  /** What the model itself knows of it, to judge runs by. */
  model?: ModelRollout;
}

/** What a world is made of. */
export interface Setup {
  seed: number;
  chaos: Chaos;
  queue: boolean;
  rollouts: RepoRollout[];
  clusters: readonly Cluster[];
  behaviourOf: (target: RepoRollout["targets"][number]) => Behaviour;
  freezes: readonly Freeze[];
  limits: Limits | undefined;
  /** Absent: all is well outside. */
  outside?: ModelOutside | undefined;
}

/** `model`: what it is by the time of the day. */
/** Where the freezes of the model stand. */
export const REPO = { kind: "File", file: ".github/stagecoach.yaml" } as const;
export type Freeze = SettingsFreeze & Partial<Pick<PlacedFreeze, "where" | "at">> & { model?: ModelFreeze };

/** A command as it stands on a PR. */
export interface Said {
  command: Command;
  pull: number;
  answered: boolean;
}

/** The outside world as it truly is: what runs are judged against, and never shown as such. */
export interface Truth {
  chaos: Chaos;
  queue: boolean;
  rollouts: RepoRollout[];
  git: ModelGit;
  forge: ModelForge;
  targets: Map<string, ModelTarget>;
  /** As they are registered now. */
  clusters: Map<string, Cluster>;
  commands: Said[];
  /** The repo's settings, as they are on the base. */
  freezes: (Freeze & { where: PlacedFreeze["where"]; until: number })[];
  limits: Limits | undefined;
  /** Epoch milliseconds until which a part cannot be seen. */
  settingsBrokenUntil: number;
  /** While others may write to the branches that are ours. */
  unprotectedUntil: number;
  argoDownUntil: number;
  forgeDownUntil: number;
  guard: { until: number; retry: boolean };
  /** By cluster key: while Argo CD cannot reach it. */
  outages: Map<string, { from: number; to: number }[]>;
  outside: Outside;
  /** `payments #3`: its tag was moved. */
  movedTags: Map<string, number>;
  behaviourOf: Setup["behaviourOf"];
  dice: Random;
  /** Of its own, so that what was drawn before there were such reads is still drawn. */
  healthDice: Random;
  pages: ModelPages;
  pageDice: Random;
}

/** What a pin is taken to hold where nobody can tell. */
const UNKNOWN = "(unknown)";

export function truthOf(setup: Setup, start: number): Truth {
  const { rollouts, clusters, chaos, queue, limits } = setup;
  const pins = new Map<string, string | null>();
  const targets = new Map<string, ModelTarget>();
  for (const rollout of rollouts) {
    for (const target of rollout.targets) {
      for (const edit of target.edits) pins.set(pinOf(edit), edit.from ?? (edit.create === true ? null : UNKNOWN));
      targets.set(target.key, modelTarget(target.key, target.cluster, target.edits, setup.behaviourOf(target), rollout.model?.byHand));
    }
    pins.set(pinOf(releaseEdit(rollout.name)), "v1");
  }
  return {
    chaos,
    queue,
    rollouts,
    git: modelGit(start - 3_600_000, pins),
    forge: modelForge(),
    targets,
    clusters: new Map(clusters.map((cluster) => [cluster.key, cluster])),
    commands: [],
    freezes: setup.freezes.map((window) => ({ where: REPO, ...window, until: Number.POSITIVE_INFINITY })),
    limits,
    settingsBrokenUntil: 0,
    unprotectedUntil: 0,
    argoDownUntil: 0,
    forgeDownUntil: 0,
    guard: { until: 0, retry: true },
    outages: new Map(),
    movedTags: new Map(),
    outside: outsideOf(setup.outside ?? WELL, setup.seed),
    behaviourOf: setup.behaviourOf,
    dice: random(setup.seed ^ 0x5eed),
    healthDice: random(setup.seed ^ 0x4ea1),
    pages: { edits: new Map(), known: new Map() },
    pageDice: random(setup.seed ^ 0x9a6e),
  };
}

const found = new WeakMap<Batch, { truth: Truth; commits: number; targets: readonly (ModelTarget | undefined)[] }>();

/** The targets of a batch as they truly are, in its order: looked up once for each commit of the base, as nothing appears without one. */
export function targetsOf(truth: Truth, batch: Batch): readonly (ModelTarget | undefined)[] {
  if (batch.targets.length < WORTH_REMEMBERING) return batch.targets.map(({ key }) => truth.targets.get(key));
  const commits = truth.git.commits.length;
  const before = found.get(batch);
  if (before?.truth === truth && before.commits === commits) return before.targets;
  const targets = batch.targets.map(({ key }) => truth.targets.get(key));
  found.set(batch, { truth, commits, targets });
  return targets;
}

/** Argo CD cannot reach it at that moment. */
export function isUnreachable(truth: Truth, cluster: string, now: number): boolean {
  return truth.outages.get(cluster)?.some(({ from, to }) => from <= now && now < to) === true;
}
