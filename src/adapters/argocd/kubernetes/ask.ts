/**
 * What is asked of the Kubernetes API about one Application at a time: read anew, refreshed, its project's sync windows, and the
 * Rollouts that run in this very cluster. Called by `index.ts` for a control plane's methods of these names.
 */
import { isInCluster } from "../../../core/argocd/cluster-views.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { child, fields, list, word } from "../../../core/argocd/decode/lenient.ts";
import { decodeRollout, imagesOfTemplate, MOST_ROLLOUTS } from "../../../core/argocd/decode/rollout.ts";
import { assessWindows, decodeWindows, windowsOfProject } from "../../../core/argocd/decode/windows.ts";
import type { ApplicationView, RolloutView, SyncWindowsView } from "../../../core/argocd/views.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { RefreshOutcome, RereadOutcome, RolloutsOutcome } from "../port.ts";
import { reasonOf, saysNotFound, statusOf, WireError } from "../wire/http.ts";
import { createObjectCutter } from "../wire/object.ts";
import { APPLICATION_SHAPES } from "../wire/shapes.ts";
import type { Log } from "../wire/source.ts";
import type { KubeClient } from "./client.ts";

/** Silence after which it is given up, of the wall. */
const IDLE_MS = 10_000;
const MOST_BYTES = 16 << 20;

/** The path of a collection of Argo's, in one namespace or in all of them. */
export function argoPath(namespace: string | undefined, plural: string): string {
  const group = "/apis/argoproj.io/v1alpha1";
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

function objectPath(namespace: string, plural: string, name: string): string {
  return `${argoPath(namespace, plural)}/${encodeURIComponent(name)}`;
}

/** Reads one anew and hands over what there is. Without a resourceVersion the API server answers with the latest, never from a cache. */
export async function readByName(
  client: KubeClient,
  { namespace, name, now }: { namespace: string; name: string; now: number },
  take: (view: ApplicationView | undefined) => void,
): Promise<RereadOutcome> {
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    const chunk = (bytes: Buffer) => {
      size += bytes.length;
      if (size > MOST_BYTES) throw new WireError(0, reason("ANSWER_TOO_LARGE", { what: "answer", most: MOST_BYTES }));
      chunks.push(bytes);
    };
    const { done } = await client.read(objectPath(namespace, "applications", name), {}, { chunk }, IDLE_MS);
    await done;
    const { raw, withheld } = createObjectCutter(APPLICATION_SHAPES.shape, APPLICATION_SHAPES.lesser)(Buffer.concat(chunks));
    const view = decodeApplication(raw, now, withheld);
    if (view === undefined) return { kind: "failed", why: reason("ANSWER_NO_APPLICATION") };
    take(view);
    return { kind: "read" };
  } catch (error) {
    if (!saysNotFound(error, name)) return { kind: "failed", why: reasonOf(error) };
    take(undefined);
    return { kind: "gone" };
  }
}

/** What is ever written, and the one thing of it: the annotation by which its controller is asked to look again. */
const REFRESH = {
  applications: { "argocd.argoproj.io/refresh": "normal" },
  applicationsets: { "argocd.argoproj.io/application-set-refresh": "true" },
} as const;

/** Asks Argo CD to compare an Application again, or to generate from an ApplicationSet anew. */
export async function annotate(
  client: KubeClient,
  log: Log,
  resource: keyof typeof REFRESH,
  { namespace, name }: { namespace: string; name: string },
): Promise<RefreshOutcome> {
  try {
    await client.mergePatch(objectPath(namespace, resource, name), { metadata: { annotations: REFRESH[resource] } });
    return "asked";
  } catch (error) {
    const because = reasonOf(error);
    const failed = statusOf(error) === 403 ? reason("PATCH_WANTED", { because, resource: `${resource}.argoproj.io` }) : because;
    log.warn({ [resource]: `${namespace}/${name}`, reason: sentenceOf(failed) }, "asking Argo CD for a refresh failed");
    return { failed };
  }
}

/** Reads the sync windows of an Application's project; undefined where the project may not be read or is not there. */
export async function readSyncWindows(
  client: KubeClient,
  argocdNamespace: string,
  application: ApplicationView,
  now: number,
): Promise<SyncWindowsView | undefined> {
  try {
    const project = await client.get(objectPath(argocdNamespace, "appprojects", application.spec.project || "default"));
    return assessWindows(decodeWindows(windowsOfProject(project, application)), now);
  } catch {
    // Not allowed, not there, or not reached: all the same to somebody who would like to know when it opens.
    return undefined;
  }
}

/**
 * Reads the Rollouts of an Application that runs in this client's own cluster, where RBAC lets it. Those of other clusters cannot be
 * seen from here.
 */
export async function readRollouts(client: KubeClient, application: ApplicationView): Promise<RolloutsOutcome> {
  if (!isInCluster(application.spec.destination)) return "unavailable";
  const found: RolloutView[] = [];
  try {
    const object = await client.get(objectPath(application.namespace, "applications", application.name));
    const resources = list(child(fields(object), "status"), "resources")
      .map(fields)
      .filter((resource) => word(resource, "group") === "argoproj.io" && word(resource, "kind") === "Rollout");
    if (resources.length > MOST_ROLLOUTS) return { tooMany: resources.length };
    for (const resource of resources) {
      const view = await readRollout(client, word(resource, "namespace") ?? "", word(resource, "name") ?? "");
      if (view !== undefined) found.push(view);
    }
  } catch {
    return "unavailable";
  }
  return found;
}

async function readRollout(client: KubeClient, namespace: string, name: string): Promise<RolloutView | undefined> {
  let raw: unknown;
  try {
    raw = await client.get(objectPath(namespace, "rollouts", name));
  } catch (error) {
    // Not created yet.
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
  const stable = word(child(fields(raw), "status"), "stableRS");
  if (stable === undefined) return decodeRollout(raw);
  const path = `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/replicasets/${encodeURIComponent(`${name}-${stable}`)}`;
  const replicaSet = await client.get(path).catch(() => undefined);
  const images = imagesOfTemplate(child(child(fields(replicaSet), "spec"), "template"));
  return decodeRollout(raw, { images: new Map([[stable, images]]) });
}
