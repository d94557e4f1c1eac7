import { isInCluster } from "../../../core/argocd/cluster-views.ts";
import { child, type Fields, fields, list, word } from "../../../core/argocd/decode/lenient.ts";
import { decodeRollout, imagesOfTemplate, MOST_ROLLOUTS } from "../../../core/argocd/decode/rollout.ts";
import type { ApplicationView, RolloutView } from "../../../core/argocd/views.ts";
import type { RolloutsOutcome } from "../port.ts";
import { statusOf } from "../wire/http.ts";
import type { KubeClient } from "./client.ts";

const GROUP = "/apis/argoproj.io/v1alpha1";

/**
 * The Rollouts of an Application that runs in the very cluster that this client reads, where RBAC lets it. Those of other
 * clusters cannot be seen from here.
 */
export async function readRollouts(client: KubeClient, application: ApplicationView): Promise<RolloutsOutcome> {
  if (!isInCluster(application.spec.destination)) return "unavailable";
  const { namespace, name } = application;
  const found: RolloutView[] = [];
  try {
    const path = `${GROUP}/namespaces/${encodeURIComponent(namespace)}/applications/${encodeURIComponent(name)}`;
    const status = child(fields(await client.get(path)), "status");
    const resources = list(status, "resources").map(fields).filter(isRollout);
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

function isRollout(resource: Fields): boolean {
  return word(resource, "group") === "argoproj.io" && word(resource, "kind") === "Rollout";
}

async function readRollout(client: KubeClient, namespace: string, name: string): Promise<RolloutView | undefined> {
  const scope = `namespaces/${encodeURIComponent(namespace)}`;
  let raw: unknown;
  try {
    raw = await client.get(`${GROUP}/${scope}/rollouts/${encodeURIComponent(name)}`);
  } catch (error) {
    // Not created yet.
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
  const stable = word(child(fields(raw), "status"), "stableRS");
  if (stable === undefined) return decodeRollout(raw);
  const path = `/apis/apps/v1/${scope}/replicasets/${encodeURIComponent(`${name}-${stable}`)}`;
  const replicaSet = await client.get(path).catch(() => undefined);
  const images = imagesOfTemplate(child(child(fields(replicaSet), "spec"), "template"));
  return decodeRollout(raw, { images: new Map([[stable, images]]) });
}
