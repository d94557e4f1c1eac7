/**
 * The calls of the argo-rollouts engine to Kubernetes: AnalysisRuns made, listed and ended, and templates of the cluster read.
 * Called by `index.ts` alone, which keeps what comes of them.
 */
import { CustomObjectsApi, type KubeConfig, setHeaderOptions } from "@kubernetes/client-node";
import { AnalysisError, type Asked, type Sources } from "../../../core/analysis/request.ts";
import { type AnalysisTemplate, templateSchema } from "../../../core/analysis/template-schema.ts";
import { defined } from "../../../core/base/defined.ts";
import { codeOf } from "../kubernetes.ts";
import { type AnalysisRunObject, GROUP, MARK, type SeenRun, seenRun, VERSION, withoutStatus } from "./analysis-run.ts";

const DEEPEST = 5;

/** Where AnalysisRuns are, and the client that reaches them. */
interface Cluster {
  api: CustomObjectsApi;
  namespace: string;
}

export function clusterOf(kubeConfig: KubeConfig, namespace: string): Cluster {
  return { api: kubeConfig.makeApiClient(CustomObjectsApi), namespace };
}

function placeOf({ namespace }: Cluster) {
  return { group: GROUP, version: VERSION, namespace, plural: "analysisruns" };
}

/** Makes an AnalysisRun, or leaves the one of this name. Throws AnalysisError where it can never be made. */
export async function createRun(cluster: Cluster, body: AnalysisRunObject): Promise<void> {
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
export async function terminateRun(cluster: Cluster, name: string): Promise<boolean> {
  const merge = setHeaderOptions("Content-Type", "application/merge-patch+json");
  const body = { spec: { terminate: true } };
  const patched = await orNotThere(() => cluster.api.patchNamespacedCustomObject({ ...placeOf(cluster), name, body }, merge));
  return patched !== undefined;
}

/** Lists the AnalysisRuns with our label, by their names. */
export async function listRuns(cluster: Cluster, now: () => string): Promise<Map<string, SeenRun>> {
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
export async function withTemplates(cluster: Cluster, asked: Asked, sources: Sources): Promise<Sources> {
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
  return (message ?? (error instanceof Error ? error.message : String(error))).slice(0, 300);
}
