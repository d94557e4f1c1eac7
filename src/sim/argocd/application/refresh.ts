import { GENERATE_PATHS } from "../../../core/argocd/generate-paths.ts";
import {
  type Actor,
  applicationOf,
  clusterOf,
  hasFault,
  LEVEL,
  type Level,
  patchApplication,
  type Shared,
  slowness,
  stretched,
} from "../actor.ts";
import { RepoError } from "../git/repositories.ts";
import { type Application, type Condition, isMultiSource, sourcesOf } from "../types.ts";
import { type AutoSync, decideAutoSync, isWindowClosed, requestOperation } from "./autosync.ts";
import type { Naming } from "./manifest-names.ts";
import type { Desired } from "./manifests.ts";
import { type Comparison, compared, isComparedTo, resourcesOf, withConditions, withHealth } from "./status.ts";
import type { Workload } from "./workload.ts";

const REFRESH = "argocd.argoproj.io/refresh";
const SKIP = "argocd.argoproj.io/skip-reconcile";

type Found = Omit<Condition, "lastTransitionTime">;

/** Asks for a comparison `ms` from now. One that waits is brought forward and made as thorough as either; one under way is followed by it. */
export function requestRefresh(shared: Shared, actor: Actor, level: Level, ms: number): void {
  if (actor.gone) return;
  const at = shared.scheduler.now() + ms;
  const { waiting } = actor;
  if (waiting !== undefined && waiting.at <= at && waiting.level >= level) return;
  waiting?.stop();
  const sooner = Math.min(at, waiting?.at ?? at);
  const deeper = Math.max(level, waiting?.level ?? level) as Level;
  const stop = shared.scheduler.after(sooner - shared.scheduler.now(), () => {
    actor.waiting = undefined;
    begin(shared, actor, deeper);
  });
  actor.waiting = { level: deeper, at: sooner, stop };
}

function begin(shared: Shared, actor: Actor, level: Level): void {
  if (shared.isDown(actor)) return;
  // The work queue never hands out a key twice: what is asked meanwhile comes after.
  if (actor.comparing) {
    requestRefresh(shared, actor, level, stretched(shared, actor, shared.lag.compare));
    return;
  }
  actor.comparing = true;
  const work = refresh(shared, actor, level).finally(() => {
    actor.comparing = false;
  });
  shared.scheduler.track(work);
}

/** What makes an Application invalid, in Argo CD's words. */
function specErrors(shared: Shared, { spec }: Application): Found[] {
  const messages: string[] = [];
  const destination = shared.clusters.resolve(spec.destination);
  if ("error" in destination) messages.push(destination.error);
  if (spec.project === "") messages.push("Application must have the project set");
  else if (shared.store.get("appprojects", shared.namespace, spec.project) === undefined) {
    messages.push(`Application referencing project ${spec.project} which does not exist`);
  }
  if (sourcesOf(spec).length === 0) messages.push("spec.repoURL and either spec.path or spec.chart are required");
  return messages.map((message) => ({ type: "InvalidSpecError", message }));
}

/** Health and sync become Unknown; comparedTo and reconciledAt stay, so that the rest of the status is an old one. */
function writeInvalid(shared: Shared, actor: Actor, errors: readonly Found[]): void {
  const now = shared.scheduler.now();
  patchApplication(shared, actor, (app, status) => {
    const sync = { ...status.sync, status: "Unknown" as const };
    return { status: withConditions(withHealth({ ...status, sync }, "Unknown", now), errors, now), metadata: withoutRefresh(app, app) };
  });
}

/** The annotation goes with the result, unless it was set anew in between; `lost`: it goes even then. */
function withoutRefresh(app: Application, asOf: Application, lost = false): Application["metadata"] {
  const asked = lost ? app.metadata.annotations?.[REFRESH] : asOf.metadata.annotations?.[REFRESH];
  if (asked === undefined || app.metadata.annotations?.[REFRESH] !== asked) return app.metadata;
  const { [REFRESH]: _, ...annotations } = app.metadata.annotations;
  return { ...app.metadata, annotations };
}

/** What the repo server goes by to call manifests that it has by the name of another revision. */
export function namingOf(app: Application): Naming {
  const { annotations, namespace = "", name } = app.metadata;
  const { revision = "", revisions = [revision] } = app.status?.sync ?? {};
  const hydrated = app.spec.sourceHydrator !== undefined;
  const hard = annotations?.[REFRESH] === "hard";
  return { app: `${namespace}/${name}`, annotation: annotations?.[GENERATE_PATHS], hydrated, synced: revisions, hard };
}

/** Desired state; "quiet" where the repository failed and this is kept quiet for the time of grace. */
async function load(shared: Shared, actor: Actor, app: Application, level: Level): Promise<Desired | RepoError | "quiet"> {
  if (level === LEVEL.live && actor.desired !== undefined) return actor.desired;
  const texts = shared.board.texts(clusterOf(shared, app)?.name ?? "");
  try {
    const force = level === LEVEL.force;
    const desired = await shared.manifests.desired({ spec: app.spec, force, texts, naming: namingOf(app) });
    actor.repoErrorSince = undefined;
    return desired;
  } catch (error) {
    if (!(error instanceof RepoError)) throw error;
    const now = shared.scheduler.now();
    actor.repoErrorSince ??= now;
    const graceful = level !== LEVEL.force && now - actor.repoErrorSince <= shared.lag.repoErrorGrace;
    return graceful ? "quiet" : error;
  }
}

interface Look {
  app: Application;
  startedAt: number;
  full: boolean;
  desired: Desired | RepoError;
  live: Workload;
  /** It cannot be reached, and nothing of it is remembered. */
  unreachable: boolean;
}

function comparisonOf({ app, startedAt, full, desired, live, unreachable }: Look, { persistsHealth, madeBy }: Shared): Comparison {
  const base = { startedAt: full ? startedAt : undefined, persistsHealth };
  const old = app.status?.health?.status;
  if (unreachable) {
    const message = `Failed to load live state: failed to get cluster info for "${app.spec.destination.server ?? app.spec.destination.name}": error synchronizing cache state: dial tcp: i/o timeout`;
    const revisions = desired instanceof RepoError ? [] : desired.revisions;
    return {
      ...base,
      status: "Unknown",
      revisions,
      health: old ?? "Unknown",
      conditions: [{ type: "ComparisonError", message }],
      resources: undefined,
    };
  }
  if (desired instanceof RepoError) {
    const message = `Failed to load target state: failed to generate manifest for source 1 of ${sourcesOf(app.spec).length}: ${desired.message}`;
    return {
      ...base,
      status: "Unknown",
      // Nothing was resolved: of a single source the name itself is shown.
      revisions: isMultiSource(app.spec) ? [] : sourcesOf(app.spec).map(({ targetRevision = "" }) => targetRevision),
      health: live.health,
      conditions: [{ type: "ComparisonError", message }],
      resources: undefined,
    };
  }
  const status = live.content === desired.content ? "Synced" : "OutOfSync";
  const resources = resourcesOf(app, status, live, { rollouts: desired.rollouts, persistsHealth, made: madeBy(app.metadata.name) });
  return { ...base, status, revisions: desired.revisions, health: live.health, conditions: [], resources };
}

async function refresh(shared: Shared, actor: Actor, asked: Level): Promise<void> {
  const app = applicationOf(shared, actor);
  if (app === undefined || app.metadata.deletionTimestamp !== undefined) return;
  if (app.metadata.annotations?.[SKIP] === "true" || clusterOf(shared, app)?.annotations[SKIP] === "true") {
    return schedulePeriodic(shared, actor);
  }
  const { life } = actor;
  const startedAt = shared.scheduler.now();
  const stale = !isComparedTo(app);
  const level: Level = app.metadata.annotations?.[REFRESH] !== undefined || stale ? LEVEL.force : asked;
  const errors = specErrors(shared, app);
  if (errors.length > 0) {
    writeInvalid(shared, actor, errors);
    return schedulePeriodic(shared, actor);
  }
  const isCut = hasFault(shared, clusterOf(shared, app)?.name, "unreachable");
  if (isCut && level === LEVEL.live) return;
  const desired = await load(shared, actor, app, level);
  const full = level !== LEVEL.live;
  if (full) schedulePeriodic(shared, actor);
  if (desired === "quiet") return;
  if (!(desired instanceof RepoError)) actor.desired = desired;
  // Live state is read here and written later: a status can be out of date the moment it appears.
  const seen = { ...actor.workload.live };
  if (!isCut) actor.remembered = seen;
  const look: Look = { app, startedAt, full, desired, live: actor.remembered ?? seen, unreachable: actor.remembered === undefined };
  const reading = full ? stretched(shared, actor, shared.lag.compare) * slowness(shared, app) : 0;
  if (reading > 0) await shared.scheduler.sleep(reading);
  if (shared.scheduler.closed || actor.life !== life) return;
  if (full) await showReferenced(shared, look);
  write(shared, actor, look);
  if (!full) return;
  shared.hydrate(actor);
  actor.blocked?.();
}

/** The revision of a source that only others refer to is looked up in a call of its own, after the manifests were made. */
async function showReferenced(shared: Shared, { app, desired }: Look): Promise<void> {
  if (desired instanceof RepoError || !isMultiSource(app.spec)) return;
  for (const [index, source] of sourcesOf(app.spec).entries()) {
    if (source.ref === undefined || source.path !== undefined || source.chart !== undefined) continue;
    try {
      desired.revisions[index] = (await shared.repositories.resolve(source, source.targetRevision ?? "HEAD", true)).revision;
    } catch (error) {
      if (!(error instanceof RepoError)) throw error;
    }
  }
}

function write(shared: Shared, actor: Actor, look: Look): void {
  if (actor.gone) return;
  const comparison = comparisonOf(look, shared);
  const current = applicationOf(shared, actor);
  if (current === undefined) return;
  const auto: AutoSync =
    comparison.status === "OutOfSync" && !(look.desired instanceof RepoError)
      ? decideAutoSync(shared, actor, { ...current, spec: look.app.spec }, look.desired)
      : { kind: "nothing" };
  if (comparison.status === "Synced" && auto.kind === "nothing" && actor.heals > 0 && look.full) actor.heals = 0;
  // The operation is asked for first, in a write of its own; then comes the status.
  if (auto.kind === "sync") requestOperation(shared, actor, auto.operation);
  if (auto.kind === "heal") scheduleHeal(shared, actor, auto);
  const tried = auto.kind === "exhausted" ? [{ type: "SyncError", message: auto.message }] : [];
  const kept = isWindowClosed(shared, current) ? (current.status?.conditions ?? []).filter(({ type }) => type === "SyncError") : tried;
  const conditions = [...comparison.conditions, ...kept];
  const now = shared.scheduler.now();
  const lost = hasFault(shared, clusterOf(shared, look.app)?.name, "refresh-lost");
  patchApplication(shared, actor, (app, status) => ({
    status: compared(status, look.app.spec, { ...comparison, conditions }, now),
    metadata: look.full ? withoutRefresh(app, look.app, lost) : app.metadata,
  }));
}

function scheduleHeal(shared: Shared, actor: Actor, { operation, inMs }: Extract<AutoSync, { kind: "heal" }>): void {
  shared.scheduler.after(inMs, () => {
    const app = applicationOf(shared, actor);
    if (
      app === undefined ||
      shared.isDown(actor) ||
      app.operation !== undefined ||
      actor.operating ||
      app.status?.sync?.status !== "OutOfSync"
    )
      return;
    actor.heals += 1;
    requestOperation(shared, actor, operation);
  });
}

/** The comparison that comes at the latest. */
function schedulePeriodic(shared: Shared, actor: Actor): void {
  actor.periodic();
  const ms = shared.lag.reconciliation + shared.lag.reconciliationJitter * actor.random();
  actor.periodic = shared.scheduler.after(ms, () => shared.refresh(actor, LEVEL.latest, 0));
}
