import { COMMIT, LATER, OLDER } from "../../src/adapters/argocd/testing/application.ts";
import { type Random, random } from "../../src/simulate/generate/random.ts";
import { changeOf, knowledge, rawOf, type State } from "./application-written.ts";
import { EVER, type Health, type History, isCalm, type Manifests, type Plan, planOf } from "./history-plan.ts";
import { hydrates, hydratorOf, isHydrated, manifestsOf, revisionOf } from "./hydrator-model.ts";

export const LAST = 1000;
const START = -240;

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
