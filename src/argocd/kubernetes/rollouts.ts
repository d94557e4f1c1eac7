import { isInCluster } from "../cluster-views.ts";
import { decodeRollout, imagesOfTemplate } from "../decode-rollout.ts";
import { child, fields, list, word } from "../lenient.ts";
import type { ApplicationView, RolloutView } from "../port.ts";
import { statusOf } from "../wire/http.ts";
import type { KubeClient } from "./client.ts";

const GROUP = "/apis/argoproj.io/v1alpha1";
const MOST_ROLLOUTS = 50;

/**
 * The Rollouts of an Application that runs in the very cluster that this client reads, where RBAC lets it. Those of other
 * clusters cannot be seen from here.
 */
export async function readRollouts(client: KubeClient, application: ApplicationView): Promise<readonly RolloutView[] | "unavailable"> {
  if (!isInCluster(application.spec.destination)) return "unavailable";
  const { namespace, name } = application;
  const found: RolloutView[] = [];
  try {
    const path = `${GROUP}/namespaces/${encodeURIComponent(namespace)}/applications/${encodeURIComponent(name)}`;
    const status = child(fields(await client.get(path)), "status");
    for (const raw of list(status, "resources")) {
      const resource = fields(raw);
      if (word(resource, "group") !== "argoproj.io" || word(resource, "kind") !== "Rollout") continue;
      if (found.length === MOST_ROLLOUTS) break;
      const view = await readRollout(client, word(resource, "namespace") ?? "", word(resource, "name") ?? "");
      if (view !== undefined) found.push(view);
    }
  } catch {
    return "unavailable";
  }
  return found;
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
