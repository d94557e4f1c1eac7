import type { Run } from "../../src/core/run/state/run.ts";
import type { GitHubSim } from "../../src/sim/github/start.ts";
import type { RealNames } from "./files.ts";
import type { Kube } from "./kube.ts";
import { applicationObject } from "./objects.ts";

/** An Application of a batch before the one that was merged, as it was in that moment. */
export interface AtMerge {
  batch: number;
  application: string;
  revision: string;
  sync: string;
  health: string;
}

/** Who asked for a sync, of which commit, and what came of it. */
export interface Synced {
  by: string;
  revision: string;
  phase: string;
}

interface OperationState {
  phase?: string;
  operation?: { initiatedBy?: { username?: string } };
  syncResult?: { revision?: string };
}

/** What the bot has written on a pull request: where no run begins at all it is all there is to go by. */
export async function saidOn({ url, token }: GitHubSim, repository: string, pull: number): Promise<string> {
  const headers = { authorization: `token ${token("alice")}` };
  const response = await fetch(`${url}/repos/${repository}/issues/${pull}/comments`, { headers });
  return ((await response.json()) as { body: string }[]).map(({ body }) => body).join("\n\n") || "nothing";
}

/** Reads the Applications of every batch before the newest anew, past all that the bot remembers. */
export async function lookBehind(api: Kube, names: RealNames, run: Run, outcome: { atMerge: AtMerge[] }): Promise<void> {
  const number = run.batches.filter((batch) => batch.merged !== undefined).at(-1)?.number ?? 0;
  for (const batch of run.batches) {
    if (batch.number >= number) continue;
    for (const { application } of batch.targets) {
      const metadata = { name: application, namespace: names.argocd };
      const read = (await api.read({ apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata })) ?? {};
      const { spec, status } = read as { spec?: { source?: { targetRevision?: string } }; status?: Record<string, { status?: string }> };
      outcome.atMerge.push({
        batch: number,
        application,
        revision: spec?.source?.targetRevision ?? "",
        sync: status?.["sync"]?.status ?? "",
        health: status?.["health"]?.status ?? "",
      });
    }
  }
}

/** The newest sync of a target's Application, read anew. */
export async function lastSync(api: Kube, names: RealNames, cluster: string): Promise<Synced> {
  const read = await api.read(applicationObject(names, cluster));
  const state = (read as { status?: { operationState?: OperationState } } | undefined)?.status?.operationState;
  return { by: state?.operation?.initiatedBy?.username ?? "", revision: state?.syncResult?.revision ?? "", phase: state?.phase ?? "" };
}

/** Asks until there is an answer: these are objects that nothing here watches. */
export async function until<T>(what: string, patience: number, ask: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > end) throw new Error(`${what}: not within ${patience / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
