/**
 * Keeps the clusters and the state of their connections, asked for at a steady pace. Started by `index.ts`.
 */
import { decodeClusterItem, IN_CLUSTER_SERVER } from "../../../core/argocd/decode/cluster.ts";
import { fields, list } from "../../../core/argocd/decode/lenient.ts";
import type { ClusterView } from "../../../core/argocd/views.ts";
import { compareText } from "../../../core/base/compare-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type Clock, iso } from "../../../core/base/time.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { reasonOf, statusOf, WireError } from "../wire/http.ts";
import type { Informer } from "../wire/informer.ts";
import { CLUSTER_ITEM } from "../wire/shapes.ts";
import type { Log, Tuning } from "../wire/source.ts";
import type { ArgoClient } from "./client.ts";

interface ClusterPollOptions {
  client: ArgoClient;
  clock: Clock;
  log: Log;
  tuning: Tuning;
  /** How often it asks, of the clock. */
  everyMs: number;
  /** Something but the time of the last attempt is different, or it cannot be reported any more. */
  changed: () => void;
}

export interface ClusterPoll extends Pick<Informer<unknown>, "ready" | "problem" | "freshSince" | "close"> {
  /** undefined: the account may not see any. */
  clusters(): readonly ClusterView[] | undefined;
}

const WHAT = "clusters";

interface Polled {
  clusters: ClusterView[] | undefined;
  reported: string;
  readAt: number | undefined;
  lost: { why: AnyReason; since: number } | undefined;
  freshSince: number;
}

/**
 * Asks for the clusters and the state of their connections at a steady pace, since no stream tells. Who may not get clusters
 * sees none instead of a refusal: they are then not known, which is no failure.
 */
export function startClusterPoll(options: ClusterPollOptions): ClusterPoll {
  const { clock, tuning, everyMs } = options;
  const openedAt = clock.now();
  const polled: Polled = { clusters: undefined, reported: "", readAt: undefined, lost: undefined, freshSince: openedAt };
  let closed = false;
  let cancel: () => void = () => undefined;
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => undefined);
  const silent = reason("COLLECTION_SILENT", { what: WHAT, seconds: Math.round(tuning.readyMs / 1000) });
  const patience = setTimeout(() => first.reject(new WireError(0, polled.lost?.why ?? silent)), tuning.readyMs);

  async function poll(): Promise<void> {
    await ask(options, polled);
    if (closed) return;
    if (polled.readAt !== undefined) {
      clearTimeout(patience);
      first.resolve();
    } else if (tuning.impatient === true && polled.lost !== undefined) first.reject(new WireError(0, polled.lost.why));
    const pause = polled.lost === undefined ? everyMs : Math.min(everyMs, 1000);
    cancel = clock.after(pause * (0.9 + tuning.random() / 5), () => void poll());
  }
  void poll();

  return {
    clusters: () => polled.clusters,
    ready: () => first.promise,
    problem() {
      if (polled.readAt === undefined) return polled.lost ?? { why: reason("COLLECTION_UNLISTED", { what: WHAT }), since: openedAt };
      return polled.lost !== undefined && clock.now() - polled.lost.since >= tuning.staleMs ? polled.lost : undefined;
    },
    freshSince: () => polled.freshSince,
    close() {
      closed = true;
      cancel();
      clearTimeout(patience);
      first.reject(new WireError(0, reason("COLLECTION_CLOSED", { what: WHAT })));
    },
  };
}

async function ask({ client, clock, log, changed }: ClusterPollOptions, polled: Polled): Promise<void> {
  try {
    const found = await read(client);
    if (found === undefined && polled.clusters !== undefined) log.warn({}, "Argo CD no longer shows this account any cluster");
    polled.clusters = found;
    polled.readAt = clock.now();
    const isBack = polled.lost !== undefined;
    if (isBack) polled.freshSince = clock.now();
    polled.lost = undefined;
    const reported = JSON.stringify(found, (key, value: unknown) => (key === "attemptedAt" ? undefined : value)) ?? "";
    if (reported !== polled.reported || isBack) changed();
    polled.reported = reported;
  } catch (error) {
    const because = reasonOf(error);
    polled.lost = { why: reason("COLLECTION_LOST", { what: WHAT, because }), since: polled.lost?.since ?? clock.now() };
    log.warn({ reason: sentenceOf(because), since: iso(polled.lost.since) }, "reading Argo CD's clusters failed");
    changed();
  }
}

async function read(client: ArgoClient): Promise<ClusterView[] | undefined> {
  let answer: unknown;
  try {
    answer = await client.get("/api/v1/clusters", {}, { shape: { "*": false, items: CLUSTER_ITEM } });
  } catch (error) {
    if (statusOf(error) === 403) return undefined;
    throw error;
  }
  const found: ClusterView[] = [];
  for (const raw of list(fields(answer), "items")) {
    const cluster = decodeClusterItem(raw);
    if (cluster !== undefined) found.push(isBareInCluster(cluster) ? { ...cluster, registered: false } : cluster);
  }
  return found.length === 0 ? undefined : found.sort((a, b) => compareText(a.name, b.name));
}

/** Argo CD always shows its own cluster; only one with a Secret of its own can have labels or annotations. */
function isBareInCluster({ server, labels, annotations }: ClusterView): boolean {
  return server === IN_CLUSTER_SERVER && Object.keys(labels).length === 0 && annotations === undefined;
}
