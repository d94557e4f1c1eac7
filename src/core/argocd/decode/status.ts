/**
 * Reads an Application's `status`, for `application.ts` alone. What it says of sources is compared with the spec of the same read
 * here, so that neither is kept twice.
 */
import { defined } from "../../base/defined.ts";
import { parseDuration } from "../../base/time.ts";
import { equalHydrator, equalSources } from "../same.ts";
import type { ApplicationView, DestinationView, SourceView } from "../views.ts";
import {
  child,
  count,
  type Fields,
  fields,
  isChild,
  isWord,
  list,
  MOST_CHILDREN,
  MOST_LISTED,
  message,
  own,
  time,
  word,
  words,
} from "./lenient.ts";
import { sharedWords } from "./shared.ts";
import { decodeDestination, decodeSources } from "./source.ts";
import { decodeDegraded, decodeFailed } from "./unwell.ts";

type Status = ApplicationView["status"];

/** One for all that never reported anything, such as those that a set is rendered to. */
const UNREPORTED: Status = Object.freeze({ sync: Object.freeze({ revisions: [] }), health: Object.freeze({}), conditions: [] });

export function decodeStatus(status: Fields, spec: ApplicationView["spec"]): Status {
  if (Object.keys(status).length === 0) return UNREPORTED;
  const { sources, sourceHydrator } = spec;
  return defined({
    sync: decodeSync(child(status, "sync"), spec),
    health: decodeHealth(child(status, "health")),
    operation: decodeOperation(child(status, "operationState"), sources),
    conditions: decodeConditions(list(status, "conditions")),
    reconciledAt: time(status, "reconciledAt"),
    images: decodeImages(status),
    children: decodeChildren(status, "Application"),
    childSets: decodeChildren(status, "ApplicationSet"),
    hydrator: decodeHydrator(own(status, "sourceHydrator"), sourceHydrator),
    degraded: decodeDegraded(status),
  });
}

function decodeImages(status: Fields): string[] | undefined {
  const images = list(child(status, "summary"), "images");
  const hasJobs = list(status, "resources").some((one) => /^(Cron)?Job$/.test(word(fields(one), "kind") ?? ""));
  if (hasJobs || images.length === 0 || images.length > MOST_LISTED) return undefined;
  return sharedWords(images.filter(isWord));
}

/** More than can be looked at are told by `unreadable.ts`. */
function decodeChildren(status: Fields, kind: string): string[] | undefined {
  const found = list(status, "resources").flatMap((raw) => {
    const one = fields(raw);
    const [namespace, name] = [word(one, "namespace"), word(one, "name")];
    return isChild(raw, [kind]) && namespace !== undefined && name !== undefined ? [`${namespace}/${name}`] : [];
  });
  return found.length === 0 ? undefined : found.slice(0, MOST_CHILDREN);
}

function decodeSync(sync: Fields, spec: ApplicationView["spec"]): Status["sync"] {
  const compared = child(sync, "comparedTo");
  const { sources } = decodeSources(compared);
  const destination = decodeDestination(own(compared, "destination"));
  const comparedTo = defined({
    // Nearly always what the spec says: kept once, and compared at once.
    sources: equalSources(sources, spec.sources) ? spec.sources : sources,
    destination: isDestination(destination, spec.destination) ? spec.destination : destination,
    ignoreDifferences: own(compared, "ignoreDifferences") ?? undefined,
  });
  return defined({
    status: word(sync, "status"),
    revisions: decodeRevisions(sync),
    comparedTo: sources.length === 0 ? undefined : comparedTo,
  });
}

/** To the letter: what else is the same is for the comparison to say. */
function isDestination(a: DestinationView, b: DestinationView): boolean {
  return a.server === b.server && a.name === b.name && a.namespace === b.namespace;
}

/** Reads `revisions` of several sources, else `revision` of the only one. */
function decodeRevisions(object: Fields): string[] {
  const found = words(object, "revisions");
  if (found.length > 0) return sharedWords(found);
  const revision = word(object, "revision");
  return revision === undefined ? [] : sharedWords([revision]);
}

function decodeHealth(health: Fields): Status["health"] {
  return defined({
    status: word(health, "status"),
    message: message(health, "message"),
    lastTransitionTime: time(health, "lastTransitionTime"),
  });
}

function decodeOperation(state: Fields, sources: SourceView[]): Status["operation"] {
  const phase = word(state, "phase");
  if (phase === undefined) return undefined;
  const operation = child(state, "operation");
  const result = child(state, "syncResult");
  const applied = decodeSources(result).sources;
  // Argo CD writes an empty source beside `sources`; a source without a repo was never recorded.
  const isRecorded = applied.some((source) => source.repoURL !== "");
  return defined({
    phase,
    message: message(state, "message"),
    startedAt: time(state, "startedAt"),
    finishedAt: time(state, "finishedAt"),
    retryCount: count(state, "retryCount"),
    retry: decodeRetry(child(operation, "retry")),
    requestedRevisions: decodeRevisions(child(operation, "sync")),
    appliedRevisions: decodeRevisions(result),
    ofSpec: isRecorded ? equalSources(applied, sources) : undefined,
    failed: decodeFailed(state),
    local: list(child(operation, "sync"), "manifests").length > 0 ? (true as const) : undefined,
    partial: isPartial(child(operation, "sync")) ? (true as const) : undefined,
  });
}

/** A dry run, or of some objects alone: it succeeds at a revision that is not deployed by it. Argo CD leaves it out of its history, too. */
function isPartial(sync: Fields): boolean {
  return own(sync, "dryRun") === true || list(sync, "resources").length > 0;
}

/** No back-off is longer; one that says so is taken for a slip. */
const DAY_MS = 86_400_000;

function decodeRetry(retry: Fields): NonNullable<Status["operation"]>["retry"] {
  const limit = own(retry, "limit");
  const backoff = child(retry, "backoff");
  const factor = count(backoff, "factor");
  const found = defined({
    limit: Number.isSafeInteger(limit) ? Number(limit) : undefined,
    durationMs: backoffMs(backoff, "duration"),
    maxMs: backoffMs(backoff, "maxDuration"),
    factor: factor === 0 || factor > 100 ? undefined : factor,
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

function backoffMs(backoff: Fields, key: string): number | undefined {
  const ms = parseDuration(word(backoff, key) ?? "");
  return ms === undefined || ms > DAY_MS ? undefined : ms;
}

/** Those that make a status bad come first, so that cutting a long list can never hide one. */
export const BAD_CONDITIONS: ReadonlySet<string> = new Set([
  "ComparisonError",
  "InvalidSpecError",
  "SyncError",
  "UnknownError",
  "DeletionError",
]);
const MAX_CONDITIONS = 100;

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
  return defined({
    current: decodeHydration(own(hydrator, "currentOperation"), spec),
    last: decodeHydration(own(hydrator, "lastSuccessfulOperation"), spec),
    lastComparedDryRevision: word(hydrator, "lastComparedDryRevision"),
  });
}

type Hydration = NonNullable<NonNullable<Status["hydrator"]>["current"]>;

/** `spec`: the sourceHydrator of this read; whether this was for it is kept, and not the whole of it once more. */
function decodeHydration(raw: unknown, spec: unknown): Hydration | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  const hydration = fields(raw);
  return defined({
    ofSpec: equalHydrator(own(hydration, "sourceHydrator"), spec),
    phase: word(hydration, "phase"),
    drySHA: word(hydration, "drySHA"),
    hydratedSHA: word(hydration, "hydratedSHA"),
    message: message(hydration, "message"),
    finishedAt: time(hydration, "finishedAt"),
  });
}
