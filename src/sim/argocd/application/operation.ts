import { isDeepStrictEqual } from "node:util";
import { defined } from "../../../core/base/defined.ts";
import { parseDuration } from "../../../core/base/time.ts";
import { kubeTime } from "../../kubernetes/store.ts";
import { type Actor, applicationOf, clusterOf, endOperation, LEVEL, patchApplication, type Shared, slowness, stretched } from "../actor.ts";
import { canGoOn, canSync, windowsOf } from "../api/windows.ts";
import { IN_CLUSTER } from "../clusters.ts";
import { RepoError } from "../git/repositories.ts";
import { ManifestError } from "../render/files.ts";
import type { Application, ApplicationSpec, HistoryRow, Operation, OperationState, RetryStrategy, SyncResult } from "../types.ts";
import type { Desired } from "./manifests.ts";
import { namingOf } from "./refresh.ts";
import { revisionFields, sourceFields } from "./status.ts";

const DEFAULT_HISTORY = 10;

/** Takes up the operation of an Application, after the time that takes. One at a time. */
export function requestOperationRun(shared: Shared, actor: Actor): void {
  if (actor.operating || actor.gone) return;
  if (shared.isDown(actor)) return;
  const { life } = actor;
  actor.operating = true;
  shared.scheduler.after(stretched(shared, actor, shared.lag.operation), () => {
    if (actor.life === life) start(shared, actor);
  });
}

function end(shared: Shared, actor: Actor): void {
  actor.operating = false;
  if (applicationOf(shared, actor)?.operation !== undefined) requestOperationRun(shared, actor);
}

function start(shared: Shared, actor: Actor): void {
  const app = applicationOf(shared, actor);
  if (app?.operation === undefined || actor.gone) {
    end(shared, actor);
    return;
  }
  const { operation } = app;
  const begun = app.status?.operationState;
  // A controller that was started anew goes on with what the one before had begun.
  const resumed = begun?.phase === "Running" && isDeepStrictEqual(begun.operation, operation) ? begun : undefined;
  const startedAt = resumed?.startedAt ?? kubeTime(shared.scheduler.now());
  const retryCount = resumed?.retryCount ?? 0;
  if (resumed === undefined) running(shared, actor, { operation, startedAt, retryCount }, "waiting for the sync to start");
  attempt(shared, actor, { operation, startedAt, retryCount });
}

function running(shared: Shared, actor: Actor, { operation, startedAt, retryCount }: Attempt, message: string): void {
  const counted = retryCount === 0 ? {} : { retryCount };
  patchApplication(shared, actor, (_, status) => ({
    status: { ...status, operationState: { operation, phase: "Running", message, startedAt, ...counted } },
  }));
}

/** Holds the operation in Running while its window is closed: it is looked at again whenever the Application was compared. */
function isBlocked(shared: Shared, actor: Actor, one: Attempt, begun: boolean): boolean {
  const app = applicationOf(shared, actor);
  const windows = app === undefined ? [] : windowsOf(shared.store, shared.namespace, app);
  const may = begun ? canGoOn : canSync;
  if (may(windows, shared.scheduler.now(), one.operation.initiatedBy?.automated !== true)) return false;
  running(shared, actor, one, "Sync operation blocked by sync window");
  actor.blocked = () => {
    actor.blocked = undefined;
    if (applicationOf(shared, actor)?.operation === undefined) end(shared, actor);
    else attempt(shared, actor, one);
  };
  return true;
}

function attempt(shared: Shared, actor: Actor, one: Attempt): void {
  const { life } = actor;
  if (isBlocked(shared, actor, one, false)) return;
  shared.scheduler.track(
    (async () => {
      const outcome = await sync(shared, actor, one.operation, one.retryCount);
      if (shared.scheduler.closed || actor.gone || actor.life !== life) return;
      if (outcome.phase === "Succeeded" && isBlocked(shared, actor, one, true)) return;
      conclude(shared, actor, one, outcome);
    })(),
  );
}

type Outcome = { phase: "Succeeded" | "Failed" | "Error"; message: string; result?: SyncResult; desired?: Desired; spec?: ApplicationSpec };

/** The revisions asked for; `retry.refresh` lets a retry take the newest ones. */
function askedRevisions(operation: Operation, retryCount: number): readonly string[] | undefined {
  if (retryCount > 0 && operation.retry?.refresh === true) return undefined;
  const { revisions, revision = "" } = operation.sync ?? {};
  if (revisions !== undefined && revisions.length > 0) return revisions;
  return revision === "" ? undefined : [revision];
}

async function sync(shared: Shared, actor: Actor, operation: Operation, retryCount: number): Promise<Outcome> {
  const app = applicationOf(shared, actor);
  if (app === undefined) return { phase: "Error", message: "application is gone" };
  const cluster = clusterOf(shared, app);
  if (cluster === undefined) return { phase: "Error", message: "application spec is invalid: InvalidSpecError" };
  const revisions = askedRevisions(operation, retryCount);
  const texts = shared.board.texts(cluster.name);
  let desired: Desired;
  try {
    desired = await shared.manifests.desired(defined({ spec: app.spec, force: true, texts, revisions, naming: namingOf(app) }));
  } catch (error) {
    if (!(error instanceof RepoError)) throw error;
    return { phase: "Error", message: `ComparisonError: Failed to load target state: ${error.message}` };
  }
  await shared.scheduler.sleep(stretched(shared, actor, shared.lag.sync) * slowness(shared, app));
  const result = syncResult(app.spec, desired);
  const failure = failureOf(shared, actor, app, cluster.name, desired);
  if (failure !== undefined) return { phase: "Failed", message: failure, result, spec: app.spec };
  const refused = cluster.server === IN_CLUSTER.server ? await applyOwn(shared, app, desired) : undefined;
  if (refused !== undefined) return { phase: "Failed", message: refused, result, spec: app.spec };
  return { phase: "Succeeded", message: "successfully synced (all tasks run)", result, desired, spec: app.spec };
}

/** Why Argo CD's own objects could not be applied, if so. */
async function applyOwn(shared: Shared, app: Application, desired: Desired): Promise<string | undefined> {
  try {
    await shared.applyOwn(app, desired);
    return undefined;
  } catch (error) {
    if (error instanceof ManifestError) return `one or more objects failed to apply, reason: ${error.message}`;
    throw error;
  }
}

function syncResult(spec: ApplicationSpec, desired: Desired): SyncResult {
  return { revision: "", ...revisionFields(spec, desired.revisions), ...sourceFields(spec) };
}

function failureOf(shared: Shared, actor: Actor, app: Application, cluster: string, desired: Desired): string | undefined {
  if (shared.board.has("unreachable", cluster))
    return "one or more synchronization tasks are not valid: failed to discover server resources for group version apps/v1: dial tcp: i/o timeout";
  const subject = { cluster, application: app.metadata.name, mentions: (text: string) => desired.mentions.has(text) };
  const fault = shared.board.find("sync-failed", subject);
  if (fault === undefined || actor.syncFailures >= (fault.attempts ?? Number.POSITIVE_INFINITY)) return undefined;
  actor.syncFailures += 1;
  return fault.message ?? 'one or more objects failed to apply, reason: admission webhook "validate.example.com" denied the request';
}

/** Default 5 s, doubling, at most 3 min. */
export function backoffMs(retry: RetryStrategy | undefined, retryCount: number): number {
  const { duration = "5s", factor = 2, maxDuration = "3m" } = retry?.backoff ?? {};
  const first = parseDuration(/^\d+$/.test(duration) ? `${duration}s` : duration) ?? 5000;
  return Math.min(first * factor ** retryCount, parseDuration(maxDuration) ?? 180_000);
}

type Attempt = { operation: Operation; startedAt: string; retryCount: number };

function conclude(shared: Shared, actor: Actor, { operation, startedAt, retryCount }: Attempt, outcome: Outcome): void {
  const limit = operation.retry?.limit ?? 0;
  const finishedAt = kubeTime(shared.scheduler.now());
  const state: OperationState = { operation, phase: outcome.phase, message: outcome.message, startedAt, finishedAt };
  if (outcome.result !== undefined) state.syncResult = outcome.result;
  if (outcome.phase !== "Succeeded" && (limit < 0 || retryCount < limit)) {
    retryLater(shared, actor, { operation, startedAt, retryCount }, state);
    return;
  }
  if (retryCount > 0) state.retryCount = retryCount;
  if (outcome.phase !== "Succeeded" && retryCount > 0) state.message = `${outcome.message} (retried ${retryCount} times).`;
  if (outcome.phase === "Succeeded") succeed(shared, actor, operation, startedAt, outcome);
  endOperation(shared, actor, (status) => ({ ...status, operationState: state }));
  end(shared, actor);
  shared.refresh(actor, LEVEL.latest);
}

/** The wait between two attempts: Running, with finishedAt set, and the operation still asked for. */
function retryLater(shared: Shared, actor: Actor, { operation, startedAt, retryCount }: Attempt, state: OperationState): void {
  const { life } = actor;
  // Counted before it is waited: 10 s the first time, where the back-off begins at 5.
  const wait = backoffMs(operation.retry, retryCount + 1);
  const at = kubeTime(shared.scheduler.now() + wait);
  const message = `${state.message}. Retrying attempt #${retryCount + 1} at ${at}.`;
  const waiting: OperationState = { ...state, phase: "Running", retryCount: retryCount + 1, message };
  patchApplication(shared, actor, (_, status) => ({ status: { ...status, operationState: waiting } }));
  shared.scheduler.after(wait, () => {
    if (actor.life !== life) return;
    if (applicationOf(shared, actor)?.operation === undefined) {
      end(shared, actor);
      return;
    }
    const next: Attempt = { operation, startedAt, retryCount: retryCount + 1 };
    running(shared, actor, next, `Retrying operation. Attempt #${retryCount + 1}`);
    attempt(shared, actor, next);
  });
}

/** What was applied is there, and the history has a row for it, before the operation's own end is written. */
function succeed(shared: Shared, actor: Actor, operation: Operation, startedAt: string, { desired, spec, result }: Outcome): void {
  if (desired === undefined || spec === undefined || result === undefined) return;
  actor.syncFailures = 0;
  actor.workload.apply(desired);
  patchApplication(shared, actor, (app, status) => {
    const old = status.history ?? [];
    const row: HistoryRow = defined({
      id: (old.at(-1)?.id ?? -1) + 1,
      ...revisionFields(spec, desired.revisions),
      ...sourceFields(spec),
      deployStartedAt: startedAt,
      deployedAt: kubeTime(shared.scheduler.now()),
      initiatedBy: operation.initiatedBy,
    });
    return { status: { ...status, history: [...old, row].slice(-(app.spec.revisionHistoryLimit ?? DEFAULT_HISTORY)) } };
  });
}
