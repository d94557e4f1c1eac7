import { defined } from "../../core/base/defined.ts";
import { hasCode } from "../../core/base/reason.ts";
import { type Cluster, type Plan, type PlannedTarget, type Target, targetsOf } from "../../core/plan/plan-types.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { clustersOfPlan } from "../../core/run/start.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import { freezesOf, type RepoBounds } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { driveWorld } from "../drive.ts";
import { START } from "../driver.ts";
import { type Random, random } from "../generate/random.ts";
import { type Behaviour, CALM, FOREVER, MEMBERS } from "../generate/scenario.ts";
import type { RepoRollout, Setup, Truth } from "../world/world.ts";
import { type Fault, scriptOf } from "./faults.ts";
import { attend, type Returns } from "./people.ts";
import { type Moment, openTimeline } from "./timeline.ts";
import type { Times } from "./times.ts";

export interface SimulateInput {
  rollout: Rollout;
  plan: Plan;
  clusters: readonly Cluster[];
  faults: readonly Fault[];
  bounds: RepoBounds;
  /** From past runs; undefined: drawn as Argo CD and workloads usually take. */
  times: Times | undefined;
  /** More are taken for a run without an end; by default as many as such a fleet may need. */
  mostSteps?: number;
  /** Called after every step. */
  sight?: (run: Run, now: number) => void;
}

export interface Simulated {
  /** Of the run, or of the rollback that followed it. */
  phase: Run["phase"];
  why: string;
  timeline: Moment[];
  /** Clusters that the release had reached when the run first stopped on a failure; 0 also where it never did. */
  blastRadius: number;
  /** It stopped on a failure. */
  stopped: boolean;
  /** It waits for what never comes. */
  endless: boolean;
  /** Milliseconds, of its own and not of yours. */
  tookMs: number;
  steps: number;
  violations: string[];
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** One run of the real plan through the pure simulated world. The same input gives the same answer. */
export function simulate(input: SimulateInput, seed: number): Simulated {
  const dice = random(seed);
  const clusters = clustersOfPlan(input.plan);
  const faults = drawn(input.faults, clusters, dice);
  const returns = returnsOf(input.rollout, input.plan, faults, dice);
  const visited = new Set<string>();
  const timeline = openTimeline();
  let blast: number | undefined;
  const outcome = driveWorld(setupFor(input, seed, faults, dice), [{ at: 0, kind: "release", rollout: 0, version: RELEASED }], {
    reread: 0,
    operate: (driver) => attend(driver, returns, visited),
    // A window may open once a year; a fleet may travel cluster by cluster.
    patience: { steps: input.mostSteps ?? 50_000 + 60 * clusters.length, idleMs: 400 * DAY, longestMs: 1500 * DAY },
    rest: ([run]) => (run === undefined ? 0 : restOf(run, clusters.length)),
    enough: ([run]) => run !== undefined && run.ending === undefined && (run.paused !== undefined || isShutForEver(run)),
    watch: ([run], now, truth) => {
      if (run === undefined) return;
      timeline.look(run, now);
      input.sight?.(run, now);
      if (blast === undefined && hasStopped(run)) blast = reached(run);
      begin(faults, run, truth, now);
    },
  });
  const { run, tookMs, steps } = outcome;
  const endless = outcome.violations.some(isEndless) || isShutForEver(run);
  return {
    phase: run.phase,
    why: sentenceOf(run.why, run),
    timeline: timeline.moments(endless ? START + tookMs : undefined),
    blastRadius: blast ?? 0,
    stopped: blast !== undefined,
    endless,
    tookMs,
    steps,
    violations: outcome.violations.filter((one) => !isEndless(one)),
  };
}

function setupFor(input: SimulateInput, seed: number, faults: Parameters<typeof behaviourOf>[1], dice: Random): Setup {
  return {
    seed,
    chaos: CALM,
    queue: false,
    rollouts: [repoRolloutOf(input)],
    clusters: input.clusters,
    behaviourOf: (target) => behaviourOf(target, faults, input.times, dice),
    freezes: freezesOf(input.bounds.freezes),
    limits: input.bounds.limits,
  };
}

const NEVER = ["WINDOWS_NEVER_OPEN", "WINDOWS_NEVER_TOGETHER"];

/** Its windows and freezes never open: looking on for a year would tell nothing else, and take long. */
function isShutForEver(run: Run): boolean {
  return run.batches.some((batch) => batch.phase === "Open" && NEVER.some((code) => hasCode(batch.why, code)));
}

/** Nothing of the machinery is broken: what the rollout or the settings ask for never comes. */
function isEndless(violation: string): boolean {
  return violation.startsWith("hangs: ") || violation.startsWith("never ends: ");
}

/** Those that are drawn are drawn among the clusters that have none yet. */
function drawn(faults: readonly Fault[], clusters: readonly string[], dice: Random): (Fault & { cluster: string })[] {
  const taken = new Set(faults.map(({ cluster }) => cluster));
  return faults.map((fault) => {
    const cluster = fault.cluster ?? dice.pick(clusters.filter((key) => !taken.has(key)));
    taken.add(cluster);
    return { ...fault, cluster };
  });
}

/** The more is in flight in a fleet, the rarer one look more tells anything. */
function restOf(run: Run, fleet: number): number {
  let awaited = 0;
  let most = MINUTE;
  for (const batch of run.batches) {
    if (batch.phase === "Merged") for (const { phase } of batch.targets) awaited += phase === "Merged" || phase === "Syncing" ? 1 : 0;
    // What goes on with a pull request is a matter of seconds.
    else if (batch.phase === "Proposing" || batch.phase === "Open" || batch.phase === "Merging") most = SECOND;
  }
  return Math.min(most, awaited * fleet * 0.15);
}

/** What stands in the release's file; the plan has the release itself. */
const RELEASED = "(the release of the plan)";

/** Clusters that are put off come back by some look that is still counted; those that cannot be reached do not. */
function returnsOf({ stages }: Rollout, plan: Plan, faults: readonly Fault[], dice: Random): Returns {
  const returns = new Map<string, number>();
  for (const [index, { requeued }] of plan.stages.entries()) {
    const attempts = stages[index]?.requeue?.attempts ?? 1;
    for (const key of requeued) {
      const look = dice.int(1, attempts);
      if (!faults.some((fault) => fault.cluster === key && fault.kind === "unreachable")) returns.set(key, look);
    }
  }
  return returns;
}

/** The rollouts that it depends on are not in it: clusters wait for none of them. */
function repoRolloutOf({ rollout, plan: given }: SimulateInput): RepoRollout {
  const plan = withHeads(given);
  const { dependsOn: _, ...rest } = rollout;
  // As many people are there as are asked for.
  const stages = rollout.stages.map(({ approval, ...stage }) =>
    approval === undefined ? stage : { ...stage, approval: { ...approval, count: Math.min(approval.count, MEMBERS.length - 1) } },
  );
  const targets = targetsOf(plan).map(
    (target): Target => ({ ...target, namespace: "", controlPlane: target.cluster.slice(0, target.cluster.indexOf("/")) }),
  );
  return { index: 0, name: rollout.name, spec: { ...rest, stages }, plan, targets };
}

/** Where branches and tags are the remote alone knows: here they are somewhere, so that there is a way back. */
function withHeads(plan: Plan): Plan {
  const at = <T extends PlannedTarget>(target: T): T => {
    const edits = target.edits.map((edit) => (edit.kind === "branch" && edit.from === null ? { ...edit, from: "where it was" } : edit));
    return { ...target, edits };
  };
  const stages = plan.stages.map(({ batches, requeuedTargets, ...stage }) => ({
    ...stage,
    batches: batches.map((batch) => ({ ...batch, targets: batch.targets.map(at) })),
    requeuedTargets: requeuedTargets.map(at),
  }));
  return { ...plan, stages };
}

/** Argo CD sees a commit within seconds by its webhook, now and then by its next poll; a workload takes some minutes. */
function behaviourOf(target: Target, faults: readonly Fault[], times: Times | undefined, dice: Random): Behaviour {
  const known = times?.of(target, dice);
  const lagMs = known?.lagMs ?? (dice.chance(0.9) ? dice.int(2, 20) : dice.int(20, 180)) * SECOND;
  const progressMs = known?.progressMs ?? dice.int(20, 240) * SECOND;
  const fault = faults.find((one) => one.cluster === target.cluster && one.batch === undefined);
  const back = [
    { state: "Progressing" as const, forMs: progressMs },
    { state: "Healthy" as const, forMs: FOREVER },
  ];
  const kind = fault?.kind ?? known?.failed;
  if (kind === undefined) return { lagMs, script: back };
  return defined({ lagMs, script: scriptOf(kind, progressMs), back: kind === "unreachable" ? undefined : back });
}

/** Faults that wait for a batch begin when it has merged. The old version mends them, but for a cluster that cannot be reached. */
function begin(faults: readonly Fault[], run: Run, truth: Truth, now: number): void {
  const back = run.kind === "Rollback";
  for (const { cluster, kind, batch } of faults) {
    if (batch === undefined || cluster === undefined || (!back && run.batches[batch - 1]?.merged === undefined)) continue;
    // Argo CD says so of clusters that wait for their batch, too.
    if (kind === "unreachable" && !truth.outages.has(cluster)) truth.outages.set(cluster, [{ from: now, to: now + FOREVER }]);
    for (const target of truth.targets.values()) {
      if (target.cluster !== cluster) continue;
      if (back && kind !== "unreachable") delete target.fault;
      else target.fault ??= { from: now, script: scriptOf(kind, MINUTE) };
    }
  }
}

/** Paused on a failure, or over with one. */
function hasStopped(run: Run): boolean {
  if (run.kind === "Rollback") return false;
  return run.paused !== undefined || run.ending !== undefined || (isEnded(run) && run.phase !== "Succeeded");
}

/** Clusters whose change was merged. */
function reached(run: Run): number {
  const clusters = new Set<string>();
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const { cluster, edits, phase } of batch.targets)
      if (phase !== "Skipped" && edits.some((edit) => edit.from !== edit.to)) clusters.add(cluster);
  }
  return clusters.size;
}

/** When every simulated run begins: a Monday, nine o'clock UTC. */
export const BEGINS = START;
