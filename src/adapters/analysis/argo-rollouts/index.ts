/**
 * The engine argo-rollouts: an AnalysisRun object for each analysis, in a cluster and namespace where Argo Rollouts' controller
 * runs. Its name is made of the id, so that asking twice, or after a crash, finds the one that is there: what it has measured
 * since was measured of this very id. They are followed by listing those with our label, and removed by the controller
 * a week after their end.
 */
import type { KubeConfig } from "@kubernetes/client-node";
import { createListeners } from "../../../core/base/listeners.ts";
import { type Clock, iso } from "../../../core/base/time.ts";
import { objectName } from "../kubernetes.ts";
import { type AnalysisEngine, type AnalysisState, isOver } from "../port.ts";
import { analysisRun } from "./analysis-run.ts";
import { clusterOf, createRun, listRuns, terminateRun, withTemplates } from "./cluster.ts";

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

export function argoRolloutsEngine(options: ArgoRolloutsOptions): AnalysisEngine {
  const { namespace, clock } = options;
  const cluster = clusterOf(options.kubeConfig, namespace);
  const listeners = createListeners<string>(options.onError);
  const followed = createFollowed(listeners.tell);
  const now = () => iso(clock.now());
  const look = async () => {
    const asked = followed.open();
    const runs = await listRuns(cluster, now);
    for (const id of asked) followed.see(id, runs.get(objectName(id))?.state ?? deleted(followed.state(id), now()));
  };
  const polling = repeat(options, look, () => followed.open().length > 0);
  return {
    kind: "argo-rollouts",
    async start(id, { asked, sources, mustEnd }) {
      if (followed.has(id)) return;
      await createRun(cluster, analysisRun(id, namespace, asked, await withTemplates(cluster, asked, sources), mustEnd));
      followed.add(id);
      polling.start();
    },
    state: followed.state,
    async stop(id) {
      const state = followed.state(id);
      if (state !== undefined && isOver(state)) return;
      if (await terminateRun(cluster, objectName(id))) {
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
