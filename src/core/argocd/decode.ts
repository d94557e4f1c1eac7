import { defined } from "../base/defined.ts";
import { iso, parseDuration } from "../base/time.ts";
import { decodeDestination, decodeSources, type IntendedSpec, intendedOf } from "./decode-source.ts";
import { child, count, type Fields, fields, labels, list, message, own, time, word, words } from "./lenient.ts";
import { equalHydrator, equalSources } from "./same.ts";
import { unreadableOf } from "./unreadable.ts";
import type { ApplicationSetView, ApplicationView, SourceView } from "./views.ts";

const REFRESH = "argocd.argoproj.io/refresh";
const SKIP = "argocd.argoproj.io/skip-reconcile";
/** Those that make a status bad come first, so that cutting a long list can never hide one. */
export const BAD_CONDITIONS: ReadonlySet<string> = new Set([
  "ComparisonError",
  "InvalidSpecError",
  "SyncError",
  "UnknownError",
  "DeletionError",
]);
const MAX_CONDITIONS = 100;

/**
 * An Application as `kubectl get -o yaml` or the API server gives it, cut down to what decisions use. Never throws: a
 * field of the wrong type is absent. undefined where it has no name, which nothing could refer to.
 * `readAt`: epoch milliseconds of the bot's clock when it was read. `withheld`: why `raw` is not all of it.
 */
export function decodeApplication(raw: unknown, readAt: number, withheld?: string): ApplicationView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const name = word(metadata, "name");
  if (name === undefined) return undefined;
  const owner = decodeOwner(metadata);
  const deletionTimestamp = own(metadata, "deletionTimestamp");
  const spec = decodeSpec(child(object, "spec"));
  const operation = own(object, "operation");
  const unreadable = withheld === undefined ? unreadableOf(object) : [withheld];
  return defined({
    uid: word(metadata, "uid") ?? "",
    namespace: word(metadata, "namespace") ?? "",
    name,
    resourceVersion: word(metadata, "resourceVersion") ?? "",
    labels: labels(metadata, "labels"),
    owner,
    // One that cannot be read as a time still means that the object goes away.
    deletionTimestamp: deletionTimestamp == null ? undefined : (time(metadata, "deletionTimestamp") ?? iso(readAt)),
    refreshRequested: word(child(metadata, "annotations"), REFRESH) !== undefined,
    skipReconcile: word(child(metadata, "annotations"), SKIP) === "true" ? true : undefined,
    readAt: iso(readAt),
    spec,
    operationRequested: typeof operation === "object" && operation !== null,
    status: decodeStatus(child(object, "status"), spec),
    unreadable,
  });
}

function decodeOwner(metadata: Fields): ApplicationView["owner"] {
  for (const raw of list(metadata, "ownerReferences").slice(0, 100)) {
    const reference = fields(raw);
    const kind = word(reference, "kind");
    const name = word(reference, "name");
    if (kind === "ApplicationSet" && name !== undefined) return { kind, name, uid: word(reference, "uid") ?? "" };
  }
  return undefined;
}

function decodeSpec(spec: Fields): ApplicationView["spec"] {
  const automated = own(child(spec, "syncPolicy"), "automated");
  return {
    ...intendedOf(spec),
    multiSource: decodeSources(spec).multiSource,
    automated: typeof automated === "object" && automated !== null && own(fields(automated), "enabled") !== false,
  };
}

type Status = ApplicationView["status"];

function decodeStatus(status: Fields, { sources, sourceHydrator }: ApplicationView["spec"]): Status {
  const operation = decodeOperation(child(status, "operationState"), sources);
  const reconciledAt = time(status, "reconciledAt");
  const hydrator = decodeHydrator(own(status, "sourceHydrator"), sourceHydrator);
  return defined({
    sync: decodeSync(child(status, "sync"), sources),
    health: decodeHealth(child(status, "health")),
    operation,
    conditions: decodeConditions(list(status, "conditions")),
    reconciledAt,
    hydrator,
  });
}

function decodeSync(sync: Fields, specSources: SourceView[]): Status["sync"] {
  const status = word(sync, "status");
  const compared = own(sync, "comparedTo");
  const comparedFields = fields(compared);
  const { sources } = decodeSources(comparedFields);
  const ignoreDifferences = own(comparedFields, "ignoreDifferences");
  return defined({
    status,
    revisions: decodeRevisions(sync, "revision", "revisions"),
    ...(sources.length === 0
      ? {}
      : {
          comparedTo: defined({
            // Nearly always what the spec says: kept once, and compared at once.
            sources: equalSources(sources, specSources) ? specSources : sources,
            destination: decodeDestination(own(comparedFields, "destination")),
            ignoreDifferences: ignoreDifferences ?? undefined,
          }),
        }),
  });
}

/** `revisions` of several sources, else `revision` of the only one. */
function decodeRevisions(object: Fields, single: string, several: string): string[] {
  const found = words(object, several);
  if (found.length > 0) return found;
  const revision = word(object, single);
  return revision === undefined ? [] : [revision];
}

function decodeHealth(health: Fields): Status["health"] {
  const status = word(health, "status");
  const text = message(health, "message");
  const lastTransitionTime = time(health, "lastTransitionTime");
  return defined({ status, message: text, lastTransitionTime });
}

function decodeOperation(state: Fields, sources: SourceView[]): Status["operation"] {
  const phase = word(state, "phase");
  if (phase === undefined) return undefined;
  const text = message(state, "message");
  const startedAt = time(state, "startedAt");
  const finishedAt = time(state, "finishedAt");
  const result = child(state, "syncResult");
  const applied = decodeSources(result).sources;
  const retry = decodeRetry(child(child(state, "operation"), "retry"));
  return defined({
    phase,
    message: text,
    startedAt,
    finishedAt,
    retryCount: count(state, "retryCount"),
    retry,
    requestedRevisions: decodeRevisions(child(child(state, "operation"), "sync"), "revision", "revisions"),
    appliedRevisions: decodeRevisions(result, "revision", "revisions"),
    // Argo CD writes an empty source beside `sources`; a source without a repo was never recorded.
    ...(applied.some((source) => source.repoURL !== "") ? { ofSpec: equalSources(applied, sources) } : {}),
  });
}

function decodeRetry(retry: Fields): NonNullable<Status["operation"]>["retry"] {
  const limit = own(retry, "limit");
  const backoff = child(retry, "backoff");
  const durationMs = parseDuration(word(backoff, "duration") ?? "");
  const maxMs = parseDuration(word(backoff, "maxDuration") ?? "");
  const factor = count(backoff, "factor");
  const found = defined({
    limit: Number.isSafeInteger(limit) ? Number(limit) : undefined,
    durationMs: durationMs === undefined || durationMs > DAY_MS ? undefined : durationMs,
    maxMs: maxMs === undefined || maxMs > DAY_MS ? undefined : maxMs,
    factor: factor === 0 || factor > 100 ? undefined : factor,
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

/** No back-off is longer; one that says so is taken for a slip. */
const DAY_MS = 86_400_000;

function decodeConditions(raw: unknown[]): Status["conditions"] {
  const bad: Status["conditions"] = [];
  const rest: Status["conditions"] = [];
  for (const item of raw) {
    const condition = fields(item);
    const type = word(condition, "type");
    if (type === undefined) continue;
    const into = BAD_CONDITIONS.has(type) ? bad : rest;
    if (into.length === MAX_CONDITIONS) continue;
    const lastTransitionTime = time(condition, "lastTransitionTime");
    into.push(defined({ type, message: message(condition, "message") ?? "", lastTransitionTime }));
  }
  return bad.concat(rest).slice(0, MAX_CONDITIONS);
}

function decodeHydrator(raw: unknown, spec: unknown): Status["hydrator"] {
  if (typeof raw !== "object" || raw === null) return undefined;
  const hydrator = fields(raw);
  const last = own(hydrator, "lastSuccessfulOperation");
  const current = own(hydrator, "currentOperation");
  const compared = word(hydrator, "lastComparedDryRevision");
  return defined({
    current: typeof current === "object" && current !== null ? decodeHydration(fields(current), spec) : undefined,
    last: typeof last === "object" && last !== null ? decodeHydration(fields(last), spec) : undefined,
    lastComparedDryRevision: compared,
  });
}

type Hydration = NonNullable<NonNullable<Status["hydrator"]>["current"]>;

/** `spec`: the sourceHydrator of this read; whether this was for it is kept, and not the whole of it once more. */
function decodeHydration(raw: Fields, spec: unknown): Hydration {
  const found: Hydration = { ofSpec: equalHydrator(own(raw, "sourceHydrator"), spec) };
  for (const key of ["phase", "drySHA", "hydratedSHA"] as const) {
    const value = word(raw, key);
    if (value !== undefined) found[key] = value;
  }
  const text = message(raw, "message");
  if (text !== undefined) found.message = text;
  const finishedAt = time(raw, "finishedAt");
  if (finishedAt !== undefined) found.finishedAt = finishedAt;
  return found;
}

/** The part of an Application's spec that liveness compares: of a rendered or a hand-written Application. */
export function decodeIntended(raw: unknown): IntendedSpec {
  return intendedOf(child(fields(raw), "spec"));
}

/** An ApplicationSet with its spec as it is; undefined where it has no name. */
export function decodeApplicationSet(raw: unknown): ApplicationSetView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const name = word(metadata, "name");
  if (name === undefined) return undefined;
  const deletionTimestamp = time(metadata, "deletionTimestamp");
  return defined({
    namespace: word(metadata, "namespace") ?? "",
    name,
    uid: word(metadata, "uid") ?? "",
    resourceVersion: word(metadata, "resourceVersion") ?? "",
    spec: child(object, "spec"),
    conditions: decodeSetConditions(list(child(object, "status"), "conditions")),
    deletionTimestamp,
  });
}

function decodeSetConditions(raw: unknown[]): ApplicationSetView["conditions"] {
  const found: ApplicationSetView["conditions"] = [];
  for (const item of raw.slice(0, MAX_CONDITIONS)) {
    const condition = fields(item);
    const type = word(condition, "type");
    if (type === undefined) continue;
    const reason = word(condition, "reason");
    const text = message(condition, "message");
    found.push(defined({ type, status: word(condition, "status") ?? "", reason, message: text }));
  }
  return found;
}
