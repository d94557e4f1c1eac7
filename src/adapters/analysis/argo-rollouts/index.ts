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
import { type Clock, iso } from "../../../core/base/time.ts";
import { objectName } from "../object-name.ts";
import { type AnalysisEngine, type AnalysisState, isOver } from "../port.ts";
import { analysisRun, GROUP, MARK, type SeenRun, seenRun, VERSION, withoutStatus } from "./analysis-run.ts";

interface ArgoRolloutsOptions {
  kubeConfig: KubeConfig;
  /** Where AnalysisRuns are made. Their Jobs and Secrets are this namespace's: give it one of its own. */
  namespace: string;
  clock: Clock;
  /** Of this clock. Default 5 s. */
  pollMs?: number;
  onError?: (error: unknown) => void;
}

const POLL_MS = 5000;
const MOST_KEPT = 1000;
const DEEPEST = 5;
const PLURAL = "analysisruns";

export function argoRolloutsEngine(options: ArgoRolloutsOptions): AnalysisEngine {
  const { namespace, clock } = options;
  const api = options.kubeConfig.makeApiClient(CustomObjectsApi);
  const place = { group: GROUP, version: VERSION, namespace, plural: PLURAL };
  /** undefined: made, and not seen yet. */
  const followed = new Map<string, AnalysisState | undefined>();
  const listeners = new Set<(id: string) => void>();
  let callOff = (): void => undefined;
  let polling = false;
  let closed = false;

  function see(id: string, state: AnalysisState): void {
    const before = followed.get(id);
    if (before !== undefined && isOver(before)) return;
    followed.set(id, state);
    if (JSON.stringify(before) !== JSON.stringify(state)) for (const listener of listeners) listener(id);
  }

  function follow(id: string): void {
    if (!followed.has(id)) followed.set(id, undefined);
    if (followed.size > MOST_KEPT) forget(followed);
    schedule();
  }

  function schedule(): void {
    const open = [...followed.values()].some((state) => state === undefined || !isOver(state));
    if (polling || closed || !open) return;
    polling = true;
    callOff = clock.after(options.pollMs ?? POLL_MS, () => void poll().catch(() => undefined));
  }

  async function poll(): Promise<void> {
    try {
      const asked = [...followed].filter(([, state]) => state === undefined || !isOver(state)).map(([id]) => id);
      const runs = await list();
      for (const id of asked) {
        const found = runs.get(objectName(id));
        see(id, found?.state ?? gone(followed.get(id)?.startedAt));
      }
    } catch (error) {
      options.onError?.(error);
    } finally {
      // Whatever came of this one, the next one is made.
      polling = false;
      schedule();
    }
  }

  function gone(startedAt: string | undefined): AnalysisState {
    const now = iso(clock.now());
    return { phase: "Error", message: "its AnalysisRun was deleted", startedAt: startedAt ?? now, finishedAt: now, metrics: [] };
  }

  async function list(): Promise<Map<string, SeenRun>> {
    const seen = new Map<string, SeenRun>();
    let next: string | undefined;
    do {
      const page = (await api.listNamespacedCustomObject(
        defined({ ...place, labelSelector: `${MARK}=true`, limit: 500, _continue: next }),
      )) as { items?: unknown[]; metadata?: { continue?: string } };
      for (const item of page.items ?? []) {
        const run = seenRun(item, iso(clock.now()));
        if (run !== undefined) seen.set(run.name, run);
      }
      next = page.metadata?.continue === "" ? undefined : page.metadata?.continue;
    } while (next !== undefined);
    return seen;
  }

  /** Templates of the cluster that the repo does not have, and those they name in turn. */
  async function withTemplates(asked: Asked, sources: Sources): Promise<Sources> {
    const templates = [...sources.templates];
    let wanted: Asked["templates"][number][] = [...asked.templates];
    for (let depth = 0; depth < DEEPEST && wanted.length > 0; depth++) {
      const inner: Asked["templates"][number][] = [];
      for (const ref of wanted) {
        const kind = ref.clusterScope === true ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
        const known = templates.find((one) => one.kind === kind && one.metadata.name === ref.templateName);
        const found = known ?? (await fromCluster(kind, ref.templateName));
        if (found === undefined) continue;
        if (known === undefined) templates.push(found);
        inner.push(...(found.spec.templates ?? []));
      }
      wanted = inner;
    }
    return { ...sources, templates };
  }

  async function fromCluster(kind: AnalysisTemplate["kind"], name: string): Promise<AnalysisTemplate | undefined> {
    const plural = `${kind.toLowerCase()}s`;
    const object = await orNotThere(() =>
      kind === "AnalysisTemplate"
        ? api.getNamespacedCustomObject({ ...place, plural, name })
        : api.getClusterCustomObject({ group: GROUP, version: VERSION, plural, name }),
    );
    if (object === undefined) return undefined;
    const read = templateSchema.safeParse(withoutStatus(object));
    if (read.success) return read.data;
    throw new AnalysisError(
      "ANALYSIS_TEMPLATE",
      `the ${kind} ${name} of the cluster cannot be read: ${read.error.issues[0]?.message ?? ""}`,
    );
  }

  return {
    kind: "argo-rollouts",
    async start(id, { asked, sources, mustEnd }) {
      if (followed.has(id)) return;
      const body = analysisRun(id, namespace, asked, await withTemplates(asked, sources), mustEnd);
      try {
        await api.createNamespacedCustomObject({ ...place, body });
      } catch (error) {
        const code = codeOf(error);
        if (code === 400 || code === 422) throw new AnalysisError("ANALYSIS_VALUE", `the AnalysisRun is refused: ${messageOf(error)}`);
        if (code === 404) throw new Error(`AnalysisRuns are not known in namespace ${namespace}: is Argo Rollouts installed there?`);
        // Ours, from a try before a crash: the name is made of the id.
        if (code !== 409) throw new Error(`the AnalysisRun could not be made: ${messageOf(error)}`);
      }
      follow(id);
    },
    state: (id) => followed.get(id),
    async stop(id) {
      const state = followed.get(id);
      if (state !== undefined && isOver(state)) return;
      const merge = setHeaderOptions("Content-Type", "application/merge-patch+json");
      const name = objectName(id);
      const patched = await orNotThere(() =>
        api.patchNamespacedCustomObject({ ...place, name, body: { spec: { terminate: true } } }, merge),
      );
      if (patched === undefined) see(id, gone(state?.startedAt));
      else follow(id);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closed = true;
      callOff();
      listeners.clear();
    },
  };
}

function forget(followed: Map<string, AnalysisState | undefined>): void {
  for (const [id, state] of followed) {
    if (state === undefined || !isOver(state)) continue;
    followed.delete(id);
    return;
  }
}

async function orNotThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (codeOf(error) === 404) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** The API server's own words, without the headers that the client's message holds. */
function messageOf(error: unknown): string {
  const body = typeof error === "object" && error !== null && "body" in error ? error.body : undefined;
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text.replaceAll('\\"', "'"))?.[1];
  return (message ?? (error instanceof Error ? error.message : String(error))).slice(0, 300);
}
