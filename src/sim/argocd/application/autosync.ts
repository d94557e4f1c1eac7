import { isDeepStrictEqual } from "node:util";
import { defined } from "../../../core/base/defined.ts";
import { type Actor, clusterOf, patchApplication, type Shared } from "../actor.ts";
import { canSync, windowsOf } from "../api/windows.ts";
import { type Application, type ApplicationSource, type ApplicationSpec, type Operation, type SyncResult, sourcesOf } from "../types.ts";
import type { Desired } from "./manifests.ts";
import { revisionFields } from "./status.ts";

const DEFAULT_RETRIES = 5;
const HEAL_MS = 2000;
const HEAL_CAP_MS = 300_000;

/** What the automatism does about an Application that is OutOfSync. */
export type AutoSync =
  | { kind: "nothing" }
  /** This revision was tried, failed, and is not tried again. */
  | { kind: "exhausted"; message: string }
  | { kind: "sync"; operation: Operation }
  | { kind: "heal"; operation: Operation; inMs: number };

const withoutRevision = (sources: readonly ApplicationSource[]) => sources.map(({ targetRevision: _, ...rest }) => rest);

/** One attempt per revision and source, whether it succeeded or not. */
function attempted(spec: ApplicationSpec, desired: Desired, result: SyncResult | undefined): boolean {
  if (result === undefined) return false;
  const revisions = result.revisions ?? [result.revision];
  if (!isDeepStrictEqual(revisions, desired.revisions)) return false;
  const sources = result.sources ?? (result.source === undefined ? [] : [result.source]);
  return isDeepStrictEqual(withoutRevision(sources), withoutRevision(sourcesOf(spec)));
}

function operationFor({ spec }: Application, desired: Desired, heals: number): Operation {
  const { automated, retry, syncOptions } = spec.syncPolicy ?? {};
  return {
    sync: defined({
      ...revisionFields(spec, desired.revisions),
      prune: automated?.prune === undefined ? undefined : automated.prune,
      syncOptions,
      autoHealAttemptsCount: heals === 0 ? undefined : heals,
    }),
    initiatedBy: { automated: true },
    retry: retry ?? { limit: DEFAULT_RETRIES },
  };
}

/** Whether a sync window keeps the automatism away; what a SyncError said of an earlier try stays for as long. */
export function isWindowClosed(shared: Shared, app: Application): boolean {
  return !canSync(windowsOf(shared.store, shared.namespace, app), shared.scheduler.now(), false);
}

/** Whether a person has to press Sync, or time has to pass. Nothing in the status says so. */
function held(shared: Shared, app: Application, desired: Desired): boolean {
  const cluster = clusterOf(shared, app)?.name;
  if (cluster === undefined) return true;
  const subject = { cluster, application: app.metadata.name, mentions: (text: string) => desired.mentions.has(text) };
  if (shared.board.find("autosync-off", subject) !== undefined || shared.board.find("window-closed", subject) !== undefined) return true;
  return isWindowClosed(shared, app);
}

export function decideAutoSync(shared: Shared, actor: Actor, app: Application, desired: Desired): AutoSync {
  const automated = app.spec.syncPolicy?.automated;
  if (automated === undefined || automated.enabled === false) return { kind: "nothing" };
  if (app.operation !== undefined || actor.operating || held(shared, app, desired)) return { kind: "nothing" };
  const last = app.status?.operationState;
  if (last === undefined || !attempted(app.spec, desired, last.syncResult)) {
    actor.heals = 0;
    return { kind: "sync", operation: operationFor(app, desired, 0) };
  }
  if (last.phase === "Failed" || last.phase === "Error") {
    return { kind: "exhausted", message: `Failed last sync attempt to [${desired.revisions.join(" ")}]: ${last.message ?? ""}` };
  }
  if (automated.selfHeal !== true) return { kind: "nothing" };
  const inMs = Math.min(HEAL_CAP_MS, HEAL_MS * 3 ** actor.heals);
  return { kind: "heal", operation: operationFor(app, desired, actor.heals + 1), inMs };
}

/** Asks for the operation, unless somebody else did meanwhile. */
export function requestOperation(shared: Shared, actor: Actor, operation: Operation): void {
  // Argo CD empties the state of the one before in the same write (SetAppOperation).
  patchApplication(shared, actor, (app, { operationState: _, ...status }) => (app.operation === undefined ? { operation, status } : {}));
}
