import { COMMIT, LATER, MERGED, OLDER, REPO } from "../../src/adapters/argocd/testing/application.ts";
import type { Change, LivenessInput } from "../../src/core/argocd/liveness/types.ts";
import { defined } from "../../src/core/base/defined.ts";
import { type Random, random } from "../../src/simulate/generate/random.ts";
import {
  type HydratorState,
  holdsChange,
  hydrates,
  hydratorOf,
  hydratorSpec,
  hydratorStatus,
  isHydrated,
  manifestsOf,
  revisionOf,
  SYNCED,
} from "./hydrator-model.ts";

type Raw = Record<string, unknown>;
type Manifests = "old" | "new";
type Health = "Healthy" | "Progressing" | "Degraded" | "Suspended";

/** One second after the other, as Argo CD's controllers and a workload live through them. Seconds count from the merge. */
export interface History {
  seed: number;
  change: Change;
  /** What the API server holds from `at` on. */
  writes: { at: number; raw: Raw | null }[];
  /** The first second in which the change truly ran and was healthy, for as long as it was. Infinity: it never was. */
  liveFrom: number;
  /** The first second in which something was truly wrong. */
  badFrom: number;
  /** Nothing goes wrong in it, so it must come out as live. */
  calm: boolean;
  intended: NonNullable<LivenessInput["intended"]>;
  ancestry: NonNullable<LivenessInput["ancestry"]>;
  connection(second: number): "Successful" | "Failed";
  /** What stands beside the manifests on the synced branch. */
  hydrated: NonNullable<LivenessInput["hydrated"]>;
}

export const LAST = 1000;
const START = -240;
const EVER = Number.POSITIVE_INFINITY;
const T = Date.parse(MERGED);
const DESTINATION = { server: "https://eu-1.example.com", namespace: "payments" };

interface Plan {
  /** hydrated: a commit in a dry source. dry: the ApplicationSet changes that dry source itself. */
  kind: "commit" | "revision" | "generator" | "hydrated" | "dry";
  /** The commit changes no manifest of this Application. */
  noop: boolean;
  /** The cluster's clock, in seconds ahead of everybody else's. */
  skew: number;
  setLag: number;
  cacheAge: number;
  laterAt: number;
  webhook: boolean;
  /** After apply: healthy for a moment, then on the way, then this. */
  flash: number;
  starting: number;
  outcome: Health;
  mends: number;
  tries: ("ok" | "fails")[];
  hook: number;
  /** That hook fails, after everything was applied. */
  hookFails: boolean;
  /** When the last sync before had failed, for something else. */
  failedAt: number | undefined;
  hydrationFails: number;
  notes: boolean;
  cutOff: number;
  /** Argo CD notices only some time after, but sooner than a target settles: later than that nothing could tell. */
  noticed: number;
  /** It is cut off in the very moment of the apply, while everything still looks healthy. */
  cutAtApply: boolean;
  /** No automated sync begins before. */
  windowOpens: number;
  deletedAt: number;
  away: [number, number];
}

function planOf(dice: Random): Plan {
  const kind = dice.pick(["commit", "commit", "revision", "generator", "hydrated", "dry"] as const);
  const away = dice.chance(0.2) ? dice.int(-60, 120) : EVER;
  const cutAtApply = dice.chance(0.08);
  const cutOff = dice.chance(0.06) ? dice.int(-100, 200) : EVER;
  const hydrated = kind === "hydrated" || kind === "dry";
  return {
    kind,
    noop: (kind === "commit" || kind === "hydrated") && dice.chance(0.2),
    skew: dice.chance(0.4) ? (dice.chance(0.3) ? dice.int(-200, 200) : dice.int(-40, 40)) : 0,
    setLag: dice.int(1, 180),
    cacheAge: dice.chance(0.4) ? dice.int(1, 120) : 0,
    laterAt: dice.chance(0.3) ? dice.int(5, 200) : EVER,
    webhook: dice.chance(0.5),
    flash: cutAtApply || dice.chance(0.4) ? dice.int(1, 4) : 0,
    starting: dice.int(0, 100),
    outcome: dice.chance(0.8) ? "Healthy" : dice.pick(["Degraded", "Suspended", "Progressing"] as const),
    mends: dice.chance(0.5) ? dice.int(20, 150) : EVER,
    tries: dice.chance(0.8)
      ? ["ok"]
      : dice.pick([
          ["fails", "ok"],
          ["fails", "fails", "ok"],
          ["fails", "fails", "fails"],
        ] as ("ok" | "fails")[][]),
    hook: dice.chance(0.3) ? dice.int(5, 60) : 0,
    hookFails: dice.chance(0.15),
    failedAt: dice.chance(0.15) ? (hydrated ? -1000 : dice.int(-1000, -1)) : undefined,
    hydrationFails: dice.chance(0.15) ? dice.int(1, 3) : 0,
    notes: dice.chance(0.5),
    cutOff,
    noticed: cutOff + dice.int(0, 8),
    cutAtApply,
    windowOpens: dice.chance(0.15) ? dice.int(0, 250) : -EVER,
    deletedAt: dice.chance(0.08) ? dice.int(0, 150) : EVER,
    away: [away, away + dice.int(20, 200)],
  };
}

interface State {
  now: number;
  spec: Manifests;
  /** What truly runs, and since when. */
  runs: Manifests;
  since: number;
  status: { sync: string; revision: string; comparedTo: Manifests; health: Health; healthSince: number; reconciledAt: number };
  operation: { phase: string; startedAt: number; finishedAt?: number; retries: number; revision: string; spec: Manifests } | undefined;
  hydrator: HydratorState;
  /** The hydrator has not looked since the last comparison began. */
  looks: boolean;
  requested: boolean;
  refresh: { began: number; ends: number; revision: string; spec: Manifests } | undefined;
  refreshDue: number;
  startDue: number;
  applyDue: number;
  endDue: number;
  healthDue: number;
  attempted: string;
  applied: boolean;
  dirty: boolean;
}

/** Plays one history; the same seed gives the same. */
export function history(seed: number): History {
  const dice = random(seed);
  const plan = planOf(dice);
  const status = {
    sync: "Synced",
    revision: isHydrated(plan) ? revisionOf("old") : OLDER,
    comparedTo: "old" as Manifests,
    health: "Healthy" as Health,
    healthSince: -9000,
    reconciledAt: START,
  };
  const idle = { startDue: EVER, applyDue: EVER, endDue: EVER, healthDue: EVER };
  const operation = formerly(plan);
  const rest = {
    operation,
    hydrator: hydratorOf(plan),
    looks: false,
    requested: false,
    refresh: undefined,
    attempted: OLDER,
    applied: false,
    dirty: true,
  };
  const self: State = {
    now: START,
    spec: "old",
    runs: "old",
    since: -9000,
    status,
    refreshDue: START + dice.int(1, 150),
    ...idle,
    ...rest,
  };
  const writes: History["writes"] = [];
  let liveFrom = EVER;
  let badFrom = EVER;
  for (; self.now <= LAST; self.now++) {
    const { status: was, operation, requested, spec } = self;
    const { current: hydration, compared } = self.hydrator;
    step(self, plan, dice);
    const truth = trueHealth(self, plan);
    // While its sync still runs something of it may fail yet.
    const there = self.now >= 0 && (plan.noop || self.runs === "new") && self.operation?.phase !== "Running";
    const failed = self.operation?.phase === "Failed" && self.operation.startedAt >= 0;
    const arrived = !failed && there && self.now < plan.deletedAt && self.now < plan.cutOff;
    if (arrived && truth === "Healthy" && (plan.noop || self.now >= self.since + plan.flash)) liveFrom = Math.min(liveFrom, self.now);
    const unhydrated = isHydrated(plan) && self.hydrator.current.phase === "Failed";
    if (self.now >= 0 && (truth === "Degraded" || failed || unhydrated)) badFrom = Math.min(badFrom, self.now);
    const still = was === self.status && operation === self.operation && requested === self.requested;
    const same = still && spec === self.spec && hydration === self.hydrator.current && compared === self.hydrator.compared;
    if (self.dirty || !same || self.now === plan.deletedAt || self.now === plan.deletedAt + 60) {
      writes.push({ at: self.now, raw: self.now >= plan.deletedAt + 60 ? null : rawOf(self, plan, writes.length) });
    }
    self.dirty = false;
  }
  return {
    seed,
    change: changeOf(plan),
    writes,
    liveFrom,
    badFrom,
    calm: isCalm(plan),
    ...knowledge(plan),
    hydrated: (_, seen) => ({ drySHA: self.hydrator.written[manifestsOf(seen)] }),
  };
}

/** The last sync before, which is over. */
function formerly(plan: Plan): State["operation"] {
  if (plan.failedAt === undefined) return undefined;
  const revision = isHydrated(plan) ? revisionOf("old") : OLDER;
  return { phase: "Failed", startedAt: plan.failedAt - 5, finishedAt: plan.failedAt, retries: 0, revision, spec: "old" };
}

function step(self: State, plan: Plan, dice: Random): void {
  const { now } = self;
  // A controller that goes away in the very seconds in which the flash of health is all it has written cannot be told from
  // one that has nothing more to say: docs/liveness.md has it among the limits.
  const justApplied = self.runs === "new" && now < self.since + plan.flash + 3;
  const isAway = now >= plan.away[0] && now < plan.away[1] && !justApplied;
  if (plan.kind !== "commit" && plan.kind !== "hydrated" && now === plan.setLag) {
    self.spec = "new";
    self.refreshDue = Math.min(self.refreshDue, now + dice.int(0, 3));
  }
  if (plan.kind === "commit" && plan.webhook && now === 2) self.refreshDue = Math.min(self.refreshDue, now + dice.int(0, 3));
  if (isAway) return;
  // The loops run beside each other: which comes first within a second is anybody's guess.
  const loops = [() => refreshes(self, plan, dice), () => operates(self, plan, dice), () => healths(self, plan, dice)];
  if (isHydrated(plan)) loops.push(() => rehydrates(self, plan, dice));
  if (dice.chance(0.5)) loops.reverse();
  for (const loop of loops) loop();
}

function rehydrates(self: State, plan: Plan, dice: Random): void {
  const dry = seenInGit(plan, self.now);
  // It looks when the Application was compared, or its spec has changed.
  const looks =
    self.looks || self.hydrator.under !== undefined || self.hydrator.queued !== EVER || self.hydrator.current.spec !== self.spec;
  self.looks = false;
  if (looks && hydrates(self.hydrator, plan, dice, self.now, self.spec, dry)) {
    self.refreshDue = Math.min(self.refreshDue, self.now + dice.int(0, 3));
  }
}

/** The refresh loop: what it writes is of the moment it began, but for health. */
function refreshes(self: State, plan: Plan, dice: Random): void {
  const { now, refresh } = self;
  if (refresh === undefined && now >= self.refreshDue) {
    self.refresh = { began: now, ends: now + dice.int(0, 5), revision: seen(self, plan), spec: self.spec };
    self.looks = true;
    self.refreshDue = now + dice.int(120, 180);
  }
  if (self.refresh === undefined || now < self.refresh.ends) return;
  const { began, revision, spec } = self.refresh;
  self.refresh = undefined;
  const wanted = manifests(plan, spec, revision);
  const sync = now >= plan.noticed ? "Unknown" : wanted === self.runs ? "Synced" : "OutOfSync";
  self.status = { ...self.status, sync, revision, comparedTo: spec, reconciledAt: began };
  writeHealth(self, plan);
  const attempt = `${revision} ${spec}`;
  const open = now >= plan.windowOpens;
  if (open && sync === "OutOfSync" && self.operation?.phase !== "Running" && !self.requested && self.attempted !== attempt) {
    self.attempted = attempt;
    self.requested = true;
    self.startDue = now + dice.int(0, 2);
  }
}

/** The operation loop. */
function operates(self: State, plan: Plan, dice: Random): void {
  const { now } = self;
  if (now >= self.startDue) {
    self.startDue = EVER;
    const retries = self.operation?.phase === "Running" ? self.operation.retries : 0;
    self.operation = { phase: "Running", startedAt: now, retries, revision: seen(self, plan), spec: self.spec };
    self.applyDue = now + dice.int(0, 3);
  }
  const { operation } = self;
  if (operation === undefined) return;
  if (now >= self.applyDue) {
    self.applyDue = EVER;
    const ok = (plan.tries[operation.retries] ?? "fails") === "ok" && now < plan.cutOff;
    const wanted = manifests(plan, self.spec, operation.revision);
    if (ok && wanted !== self.runs) {
      self.runs = wanted;
      self.since = now;
      self.healthDue = now + plan.flash + dice.int(0, 1);
      // Live objects have changed, which is a reason to compare, too.
      if (dice.chance(0.5)) self.refreshDue = Math.min(self.refreshDue, now + dice.int(0, 5));
      if (plan.cutAtApply) {
        plan.cutOff = now;
        plan.noticed = now + dice.int(5, 9);
      }
    }
    self.applied = ok && !(plan.hookFails && plan.hook > 0);
    self.endDue = now + (ok ? plan.hook : 0) + dice.int(0, 2);
  }
  if (now >= self.endDue) end(self, dice, operation);
}

function end(self: State, dice: Random, operation: NonNullable<State["operation"]>): void {
  const { now } = self;
  self.endDue = EVER;
  const ok = self.applied;
  if (!ok && operation.retries < 2) {
    // The pause between two tries: Running, with the end of the try before in place.
    self.operation = { ...operation, finishedAt: now, retries: operation.retries + 1 };
    self.startDue = now + 5 * 2 ** operation.retries;
    return;
  }
  self.operation = { ...operation, phase: ok ? "Succeeded" : "Failed", finishedAt: now };
  self.requested = false;
  self.refreshDue = Math.min(self.refreshDue, now + dice.int(0, 4));
}

/** Changes of live objects are written without a comparison: health moves and reconciledAt stays. */
function healths(self: State, plan: Plan, dice: Random): void {
  if (self.status.health !== trueHealth(self, plan) && self.healthDue === EVER) self.healthDue = self.now + dice.int(0, 2);
  if (self.now < self.healthDue) return;
  self.healthDue = EVER;
  writeHealth(self, plan);
}

function writeHealth(self: State, plan: Plan): void {
  // A cluster that cannot be reached keeps the health it had.
  if (self.now >= plan.cutOff) return;
  const health = trueHealth(self, plan);
  if (health !== self.status.health) self.status = { ...self.status, health, healthSince: self.now };
}

function trueHealth({ now, runs, since }: State, plan: Plan): Health {
  if (runs === "old") return "Healthy";
  const age = now - since - plan.flash;
  if (age < 0) return "Healthy";
  if (age < plan.starting) return "Progressing";
  return age >= plan.starting + plan.mends ? "Healthy" : plan.outcome;
}

/** What a comparison that begins now takes for the head. */
function seen({ spec, now, hydrator }: State, plan: Plan): string {
  if (plan.kind === "revision") return spec === "new" ? COMMIT : OLDER;
  return isHydrated(plan) ? revisionOf(hydrator.head) : seenInGit(plan, now);
}

function seenInGit(plan: Plan, now: number): string {
  const head = now - plan.cacheAge;
  return head >= plan.laterAt ? LATER : head >= 0 ? COMMIT : OLDER;
}

function manifests(plan: Plan, spec: Manifests, revision: string): Manifests {
  if (isHydrated(plan)) return manifestsOf(revision);
  if (plan.kind !== "commit") return spec;
  return plan.noop || revision === OLDER ? "old" : "new";
}

function isCalm(plan: Plan): boolean {
  const well = plan.outcome === "Healthy" || plan.mends <= 150;
  const hook = plan.hook === 0 || !plan.hookFails;
  return (
    well &&
    hook &&
    // What changes no manifest is never written to the branch, so nothing can prove it.
    !(plan.kind === "hydrated" && plan.noop) &&
    plan.tries.at(-1) === "ok" &&
    plan.hydrationFails < 2 &&
    !plan.cutAtApply &&
    plan.cutOff === EVER &&
    plan.deletedAt === EVER
  );
}

function changeOf({ kind }: Plan): Change {
  if (kind === "commit" || kind === "hydrated") return { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
  return kind === "revision" ? { kind, revision: "v2", repoURL: REPO, mergedAt: MERGED } : { kind: "generator", mergedAt: MERGED };
}

function knowledge(plan: Plan): Pick<History, "intended" | "ancestry" | "connection"> {
  return {
    intended: defined({
      sources: [sourceOf(plan, plan.kind === "commit" ? "old" : "new")],
      destination: DESTINATION,
      sourceHydrator: isHydrated(plan) ? hydratorSpec(plan, "new") : undefined,
    }),
    ancestry: (revision) => (holdsChange(revision) ? "contains" : "missing"),
    connection: (second) => (second >= plan.noticed ? "Failed" : "Successful"),
  };
}

function sourceOf(plan: Plan, spec: Manifests): { repoURL: string; path: string; targetRevision: string; rest?: Raw } {
  const { kind } = plan;
  if (isHydrated(plan)) return SYNCED;
  const source = { repoURL: REPO, path: "apps/payments", targetRevision: kind === "revision" ? (spec === "new" ? "v2" : "v1") : "main" };
  return kind === "generator" ? { ...source, rest: { helm: { parameters: [{ name: "tag", value: spec }] } } } : source;
}

function rawOf(self: State, plan: Plan, version: number): Raw {
  const { status, operation } = self;
  const stamp = (second: number) => `${new Date(T + (second + plan.skew) * 1000).toISOString().slice(0, 19)}Z`;
  const written = (spec: Manifests) => {
    const { rest, ...source } = sourceOf(plan, spec);
    return { ...source, ...rest };
  };
  const deleted = self.now >= plan.deletedAt ? { deletionTimestamp: stamp(plan.deletedAt) } : {};
  const { health, healthSince, reconciledAt, revision } = status;
  return defined({
    metadata: { name: "payments-eu-1", namespace: "argocd", uid: "uid-1", resourceVersion: String(1000 + version), ...deleted },
    spec: {
      project: "default",
      ...(isHydrated(plan) ? { sourceHydrator: hydratorSpec(plan, self.spec) } : { source: written(self.spec) }),
      destination: DESTINATION,
      syncPolicy: { automated: {} },
    },
    operation: self.requested ? { sync: {} } : undefined,
    status: defined({
      sync: { status: status.sync, revision, comparedTo: { source: written(status.comparedTo), destination: DESTINATION } },
      health: { status: health, lastTransitionTime: stamp(healthSince) },
      reconciledAt: stamp(reconciledAt),
      sourceHydrator: isHydrated(plan) ? hydratorStatus(self.hydrator, plan, stamp) : undefined,
      operationState:
        operation === undefined
          ? undefined
          : defined({
              phase: operation.phase,
              startedAt: stamp(operation.startedAt),
              finishedAt: operation.finishedAt === undefined ? undefined : stamp(operation.finishedAt),
              retryCount: operation.retries,
              operation: { sync: {} },
              syncResult: { revision: operation.revision, source: written(operation.spec) },
            }),
    }),
  });
}
