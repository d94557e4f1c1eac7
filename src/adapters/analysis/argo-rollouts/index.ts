/**
 * The engine argo-rollouts: an AnalysisRun object for each analysis, in a cluster and namespace where Argo Rollouts' controller
 * runs. Its name is made of the id, so that asking twice, or after a crash, finds the one that is there: what it has measured
 * since was measured of this very id. They are followed by listing those with our label, and removed by the controller
 * a week after their end.
 */
import { CustomObjectsApi, type KubeConfig, setHeaderOptions } from "@kubernetes/client-node";
import { AnalysisError, type Asked, type Sources } from "../../../core/analysis/request.ts";
import { type AnalysisTemplate, templateSchema } from "../../../core/analysis/template-schema.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { createListeners } from "../../../core/base/listeners.ts";
import { type Clock, iso } from "../../../core/base/time.ts";
import { codeOf, type Namespaces, namespaceFor, objectName } from "../kubernetes.ts";
import { type AnalysisEngine, type AnalysisState, isOver } from "../port.ts";
import { type AnalysisRunObject, analysisRun, GROUP, MARK, type SeenRun, seenRun, VERSION, withoutStatus } from "./analysis-run.ts";

/** AnalysisRuns are made in the repository's namespace: their Jobs, Secrets and templates are that one's. */
interface ArgoRolloutsOptions extends Namespaces {
  kubeConfig: KubeConfig;
  clock: Clock;
  /** Of this clock. Default 5 s. */
  pollMs?: number;
  onError?: (error: unknown) => void;
}

const POLL_MS = 5000;
const MOST_KEPT = 1000;

export function argoRolloutsEngine(options: ArgoRolloutsOptions): AnalysisEngine {
  const { clock } = options;
  const api = options.kubeConfig.makeApiClient(CustomObjectsApi);
  const clusterOf = (id: string): Cluster => ({ api, namespace: namespaceFor(options, id) });
  const listeners = createListeners<string>(options.onError);
  const followed = createFollowed(listeners.tell);
  const now = () => iso(clock.now());
  const look = async () => {
    const asked = Map.groupBy(followed.open(), (id) => clusterOf(id).namespace);
    // One repository's namespace that cannot be listed is not the others' trouble.
    const looked = [...asked].map(async ([namespace, ids]) => {
      const runs = await listRuns({ api, namespace }, now);
      for (const id of ids) followed.see(id, runs.get(objectName(id))?.state ?? deleted(followed.state(id), now()));
    });
    for (const one of await Promise.allSettled(looked)) if (one.status === "rejected") options.onError?.(one.reason);
  };
  const polling = repeat(options, look, () => followed.open().length > 0);
  return {
    kind: "argo-rollouts",
    async start(id, { asked, sources, mustEnd }) {
      if (followed.has(id)) return;
      const cluster = clusterOf(id);
      await createRun(cluster, analysisRun(id, cluster.namespace, asked, await withTemplates(cluster, asked, sources), mustEnd));
      followed.add(id);
      polling.start();
    },
    state: followed.state,
    async stop(id) {
      const state = followed.state(id);
      if (state !== undefined && isOver(state)) return;
      if (await terminateRun(clusterOf(id), objectName(id))) {
        followed.add(id);
        polling.start();
      } else followed.see(id, deleted(state, now()));
    },
    onChange: listeners.add,
    async close() {
      polling.close();
      listeners.clear();
    },
  };
}

function deleted(before: AnalysisState | undefined, now: string): AnalysisState {
  return { phase: "Error", message: "its AnalysisRun was deleted", startedAt: before?.startedAt ?? now, finishedAt: now, metrics: [] };
}

/** What is known of each analysis. One that is over stays as it was. */
function createFollowed(changed: (id: string) => void) {
  /** undefined: made, and not seen yet. */
  const states = new Map<string, AnalysisState | undefined>();
  const isOpen = (state: AnalysisState | undefined) => state === undefined || !isOver(state);
  return {
    has: (id: string) => states.has(id),
    state: (id: string) => states.get(id),
    open: () => [...states].filter(([, state]) => isOpen(state)).map(([id]) => id),
    add(id: string): void {
      if (!states.has(id)) states.set(id, undefined);
      const oldest = states.size > MOST_KEPT ? [...states].find(([, state]) => !isOpen(state)) : undefined;
      if (oldest !== undefined) states.delete(oldest[0]);
    },
    see(id: string, state: AnalysisState): void {
      const before = states.get(id);
      if (!isOpen(before)) return;
      states.set(id, state);
      if (JSON.stringify(before) !== JSON.stringify(state)) changed(id);
    },
  };
}

/** Works again and again, one time after the other, for as long as there is more to do. */
function repeat({ clock, pollMs = POLL_MS, onError }: ArgoRolloutsOptions, work: () => Promise<void>, hasMore: () => boolean) {
  let callOff = (): void => undefined;
  let isPlanned = false;
  let isClosed = false;

  async function once(): Promise<void> {
    try {
      await work();
    } catch (error) {
      // Whatever came of this one, the next one is made.
      onError?.(error);
    }
    isPlanned = false;
    if (hasMore()) start();
  }

  function start(): void {
    if (isPlanned || isClosed) return;
    isPlanned = true;
    callOff = clock.after(pollMs, () => void once());
  }

  return {
    start,
    close(): void {
      isClosed = true;
      callOff();
    },
  };
}

const DEEPEST = 5;

/** Where AnalysisRuns are, and the client that reaches them. */
interface Cluster {
  api: CustomObjectsApi;
  namespace: string;
}

function placeOf({ namespace }: Cluster) {
  return { group: GROUP, version: VERSION, namespace, plural: "analysisruns" };
}

/** Makes an AnalysisRun, or leaves the one of this name. Throws AnalysisError where it can never be made. */
async function createRun(cluster: Cluster, body: AnalysisRunObject): Promise<void> {
  try {
    await cluster.api.createNamespacedCustomObject({ ...placeOf(cluster), body });
  } catch (error) {
    const code = codeOf(error);
    if (code === 400 || code === 422) throw new AnalysisError({ code: "ANALYSIS_VALUE", kind: "Refused", said: messageOf(error) });
    if (code === 404) throw new Error(`AnalysisRuns are not known in namespace ${cluster.namespace}: is Argo Rollouts installed there?`);
    // Ours, from a try before a crash: the name is made of the id.
    if (code !== 409) throw new Error(`the AnalysisRun could not be made: ${messageOf(error)}`);
  }
}

/** Ends the measuring of an AnalysisRun; false: it is not there. */
async function terminateRun(cluster: Cluster, name: string): Promise<boolean> {
  const merge = setHeaderOptions("Content-Type", "application/merge-patch+json");
  const body = { spec: { terminate: true } };
  const patched = await orNotThere(() => cluster.api.patchNamespacedCustomObject({ ...placeOf(cluster), name, body }, merge));
  return patched !== undefined;
}

/** Lists the AnalysisRuns with our label, by their names. */
async function listRuns(cluster: Cluster, now: () => string): Promise<Map<string, SeenRun>> {
  const seen = new Map<string, SeenRun>();
  let next: string | undefined;
  do {
    const query = defined({ ...placeOf(cluster), labelSelector: `${MARK}=true`, limit: 500, _continue: next });
    const page = (await cluster.api.listNamespacedCustomObject(query)) as { items?: unknown[]; metadata?: { continue?: string } };
    for (const item of page.items ?? []) {
      const run = seenRun(item, now());
      if (run !== undefined) seen.set(run.name, run);
    }
    next = page.metadata?.continue === "" ? undefined : page.metadata?.continue;
  } while (next !== undefined);
  return seen;
}

/** Adds the templates of the cluster that the repo does not have, and those they name in turn. */
async function withTemplates(cluster: Cluster, asked: Asked, sources: Sources): Promise<Sources> {
  const templates = [...sources.templates];
  let wanted: Asked["templates"][number][] = [...asked.templates];
  for (let depth = 0; depth < DEEPEST && wanted.length > 0; depth++) {
    const inner: Asked["templates"][number][] = [];
    for (const ref of wanted) {
      const kind = ref.clusterScope === true ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
      const known = templates.find((one) => one.kind === kind && one.metadata.name === ref.templateName);
      const found = known ?? (await readTemplate(cluster, kind, ref.templateName));
      if (found === undefined) continue;
      if (known === undefined) templates.push(found);
      inner.push(...(found.spec.templates ?? []));
    }
    wanted = inner;
  }
  return { ...sources, templates };
}

async function readTemplate(cluster: Cluster, kind: AnalysisTemplate["kind"], name: string): Promise<AnalysisTemplate | undefined> {
  const plural = `${kind.toLowerCase()}s`;
  const object = await orNotThere(() =>
    kind === "AnalysisTemplate"
      ? cluster.api.getNamespacedCustomObject({ ...placeOf(cluster), plural, name })
      : cluster.api.getClusterCustomObject({ group: GROUP, version: VERSION, plural, name }),
  );
  if (object === undefined) return undefined;
  const read = templateSchema.safeParse(withoutStatus(object));
  if (read.success) return read.data;
  const said = read.error.issues[0]?.message ?? "";
  throw new AnalysisError({ code: "ANALYSIS_TEMPLATE", kind: "Unreadable", templateKind: kind, name, said });
}

async function orNotThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (codeOf(error) === 404) return undefined;
    throw error;
  }
}

/** The API server's own words, without the headers that the client's message holds. */
function messageOf(error: unknown): string {
  const body = typeof error === "object" && error !== null && "body" in error ? error.body : undefined;
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text.replaceAll('\\"', "'"))?.[1];
  return (message ?? errorText(error)).slice(0, 300);
}
