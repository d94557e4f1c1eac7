/**
 * Argo CD through its own API, for a bot outside the cluster. Opened by the server for each control plane that names an address.
 */
import { clustersOfApplications } from "../../../core/argocd/cluster-views.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { decodeApplicationSet } from "../../../core/argocd/decode/application-set.ts";
import type { ApplicationSetView, ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { openBreakers } from "../../outbound/breaker.ts";
import type { ControlPlane, RefreshOutcome } from "../port.ts";
import { statusOf } from "../wire/http.ts";
import { startInformer } from "../wire/informer.ts";
import { type Changed, each, openReading, type Parts, type Reading } from "../wire/plane.ts";
import { APPLICATION_SHAPES, SET_SHAPES } from "../wire/shapes.ts";
import type { Log, Tuning } from "../wire/source.ts";
import { byName, generateSet, missingOf, readSyncWindows, refusalOf, rereadApplication } from "./ask.ts";
import { type ArgoClient, type ArgoClientOptions, argoClient } from "./client.ts";
import { type ClusterPoll, startClusterPoll } from "./clusters.ts";
import { contentOf } from "./content.ts";
import { renderedAt } from "./manifests.ts";
import { offersAction, readRollouts, runAction } from "./rollouts.ts";
import { type ArgoSourceOptions, argoSource } from "./source.ts";
import { syncApplication } from "./sync.ts";

export interface ApiOptions extends ArgoClientOptions {
  /** Name of the control plane. */
  name: string;
  /** AppProjects whose Applications and ApplicationSets are looked at; default: all that the account may see. */
  projects?: string[];
  /** Label selector of the Applications that are looked at; default: all. */
  selector?: string;
  /** Namespaces whose Applications and ApplicationSets are looked at; default: all. */
  appNamespaces?: string[];
  /** May run resource actions on Argo Rollouts: the only write to Argo CD. Default: no. */
  allowRolloutActions?: boolean;
  /** May ask for syncs of Applications whose automated sync is off. Default: no. */
  allowSync?: boolean;
  /** May have Argo CD generate from an ApplicationSet, for which it wants the right to create them. Default: no. */
  allowGenerate?: boolean;
  /** Where people look at its Applications. Default: the address that it is asked at. */
  uiUrl?: string;
  clock: Clock;
  log: Log;
  tuning?: Partial<ApiTuning>;
}

interface ApiTuning extends Tuning {
  /** How often the state of the clusters' connections is asked for. */
  clustersMs: number;
  /** How long `refresh` waits for the comparison, of the wall; it goes on without it. */
  refreshMs: number;
}

const DEFAULTS: ApiTuning = {
  pageSize: 0,
  silentMs: 300_000,
  watchMs: 900_000,
  relistMs: 900_000,
  staleMs: 15_000,
  maxBackoffMs: 30_000,
  readyMs: 150_000,
  clustersMs: 30_000,
  refreshMs: 10_000,
  random: Math.random,
};
/** How long Argo CD may take for one comparison. */
const REFRESH_TOTAL_MS = 120_000;

interface ApiParts extends Parts {
  poll: ClusterPoll;
}

/**
 * Argo CD through its REST API, for a bot outside the cluster. Reads, asks for refreshes, and with `allowRolloutActions` runs
 * actions of Rollouts. Returns at once; `ready()` tells when there is something to read. Throws WireError for options that
 * cannot be used.
 */
export function openApiPlane(options: ApiOptions): ControlPlane {
  const { clock, log } = options;
  const tuning = { ...DEFAULTS, ...options.tuning };
  const client = argoClient(options, openBreakers(options.clock, options.log));
  const { reads, offer } = openReading(options.name, clock, (changed) => startAll(options, tuning, client, changed), clustersOf);
  const plane: ControlPlane = {
    ...reads,
    uiUrl: options.uiUrl ?? options.url,
    async reread(namespace, name) {
      const view = reads.application(namespace, name);
      if (view === undefined) return { kind: "gone" };
      const asked = clock.now();
      return await rereadApplication(client, view, asked, (fresh) => offer(namespace, name, fresh, asked));
    },
    async refresh(namespace, name) {
      const view = reads.application(namespace, name);
      if (view === undefined) return { failed: reason("APPLICATION_UNKNOWN", { namespace, name }) };
      return await refresh(client, view, { clock, log, tuning, offer });
    },
    async rollouts(namespace, name) {
      const view = reads.application(namespace, name);
      return view === undefined ? "unavailable" : await readRollouts(client, view);
    },
    async syncWindows(namespace, name) {
      const view = reads.application(namespace, name);
      return view === undefined ? undefined : await readSyncWindows(client, view, clock.now());
    },
    async content(namespace, name, question) {
      const view = reads.application(namespace, name);
      if (view === undefined) return { kind: "failed", why: reason("APPLICATION_UNKNOWN", { namespace, name }) };
      return await contentOf(client, view, question);
    },
    async manifests(namespace, name, revisions) {
      const view = reads.application(namespace, name);
      if (view === undefined) return { kind: "failed", why: reason("APPLICATION_UNKNOWN", { namespace, name }) };
      return await renderedAt(client, view, revisions);
    },
    async close() {
      await reads.close();
      client.close();
    },
  };
  if (options.allowRolloutActions === true) Object.assign(plane, actionsOf(client, reads.application));
  if (options.allowSync === true)
    plane.sync = async (namespace, name, wanted) => {
      const view = reads.application(namespace, name);
      if (view === undefined) return { kind: "refused", why: reason("APPLICATION_UNKNOWN", { namespace, name }) };
      return await syncApplication(client, view, wanted, clock.now());
    };
  if (options.allowGenerate === true) plane.generate = (applicationSet) => generateSet(client, applicationSet);
  return plane;
}

function actionsOf(client: ArgoClient, application: ControlPlane["application"]): Pick<ControlPlane, "runAction" | "offersAction"> {
  const missing = ({ namespace, name }: { namespace: string; name: string }) =>
    ({ kind: "failed", why: reason("APPLICATION_UNKNOWN", { namespace, name }) }) as const;
  return {
    async offersAction(target, rollout, action) {
      const view = application(target.namespace, target.name);
      return view === undefined ? missing(target) : await offersAction(client, view, rollout, action);
    },
    async runAction(target, rollout, action) {
      const view = application(target.namespace, target.name);
      return view === undefined ? missing(target) : await runAction(client, view, rollout, action);
    },
  };
}

function startAll(options: ApiOptions, tuning: ApiTuning, client: ArgoClient, changed: Changed): ApiParts {
  const { clock, log, projects, selector, appNamespaces } = options;
  const missing = missingOf(client, () => clock.now());
  const common = { client, clock, log, tuning, projects };
  const [only] = appNamespaces ?? [];
  const namespace = appNamespaces?.length === 1 ? only : undefined;
  const filter = defined({ projects, selector });
  const within = <View extends { namespace: string }>(view: View | undefined) =>
    view !== undefined && (appNamespaces === undefined || appNamespaces.includes(view.namespace)) ? view : undefined;
  const query = { ...filter, appNamespace: namespace };
  const ofApplications: ArgoSourceOptions<ApplicationView> = {
    ...common,
    what: "applications",
    query,
    streamQuery: query,
    ...APPLICATION_SHAPES,
    missing: missing.applications,
    project: (raw, now, withheld) => within(decodeApplication(raw, now, withheld)),
  };
  const ofSets: ArgoSourceOptions<ApplicationSetView> = {
    ...common,
    what: "applicationsets",
    query: { projects, appsetNamespace: namespace },
    streamQuery: { projects, appSetNamespace: namespace },
    ...SET_SHAPES,
    missing: missing.sets,
    project: (raw, _, withheld) => within(decodeApplicationSet(raw, withheld)),
  };
  const anything = () => changed(null);
  const applications = [startInformer({ source: argoSource(ofApplications), clock, log, tuning, changed, freshness: anything })];
  const sets = [startInformer({ source: argoSource(ofSets), clock, log, tuning, changed: anything, freshness: anything })];
  const poll = startClusterPoll({ client, clock, log, tuning, everyMs: tuning.clustersMs, changed: anything });
  return { applications, sets, others: [poll], poll };
}

function clustersOf({ applications, poll }: ApiParts): ClusterView[] {
  const known = poll.clusters();
  return known === undefined ? clustersOfApplications(each(applications)) : [...known];
}

/** Resolves when Argo CD has compared, or after a while without waiting for that. */
async function refresh(
  client: ArgoClient,
  view: ApplicationView,
  { clock, log, tuning, offer }: { clock: Clock; log: Log; tuning: ApiTuning; offer: Reading["offer"] },
): Promise<RefreshOutcome> {
  const now = clock.now();
  const asked = byName(client, view, { refresh: true, totalMs: REFRESH_TOTAL_MS, now }).then(
    (fresh): RefreshOutcome => {
      offer(view.namespace, view.name, fresh, now);
      return "asked";
    },
    (error: unknown): RefreshOutcome => {
      // It has taken longer than somebody in between would wait: the wish stands.
      if (statusOf(error) === 504) return "asked";
      const failed = refusalOf(error, view);
      log.warn({ application: `${view.namespace}/${view.name}`, reason: sentenceOf(failed) }, "asking Argo CD for a refresh failed");
      return { failed };
    },
  );
  let patience: NodeJS.Timeout | undefined;
  const waited = new Promise<"asked">((resolve) => {
    patience = setTimeout(() => resolve("asked"), tuning.refreshMs);
  });
  const outcome = await Promise.race([asked, waited]);
  clearTimeout(patience);
  return outcome;
}
