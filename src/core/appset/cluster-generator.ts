import { normaliseName } from "../gotemplate/sprig-names.ts";
import { stringMap } from "../gotemplate/value.ts";
import type { Environment } from "./environment.ts";
import { addValues } from "./params.ts";
import { compileSelector, isEmptySelector } from "./selector.ts";
import type { AppSetCluster, ParamSet } from "./types.ts";

const IN_CLUSTER = { name: "in-cluster", server: "https://kubernetes.default.svc" };

/**
 * `clusters`: one set for each cluster the selector takes, in the order given. Argo CD's own cluster has no labels unless
 * it has a Secret, so it is there only where nothing is selected.
 */
export function clusterParams(raw: Record<string, unknown>, environment: Environment, where: string): ParamSet[] {
  const selector = compileSelector(raw["selector"] ?? {}, { where: `${where}.selector`, anyValue: false });
  const clusters = environment.context.clusters;
  const sets: ParamSet[] = [];
  const hasOwnSecret = clusters.some((cluster) => cluster.server.replace(/\/+$/, "") === IN_CLUSTER.server);
  if (isEmptySelector(raw["selector"]) && !hasOwnSecret) sets.push(localParams(raw, environment, where));
  for (const cluster of clusters) {
    if (selector?.(cluster.labels) !== false) sets.push(paramsOf(cluster, raw, environment, where));
  }
  return raw["flatList"] === true ? [{ clusters: sets }] : sets;
}

function localParams(raw: Record<string, unknown>, environment: Environment, where: string): ParamSet {
  const params: ParamSet = { name: IN_CLUSTER.name, nameNormalized: IN_CLUSTER.name, server: IN_CLUSTER.server, project: "" };
  addValues(params, raw["values"], environment.templating, where);
  return params;
}

function paramsOf(cluster: AppSetCluster, raw: Record<string, unknown>, environment: Environment, where: string): ParamSet {
  const params: ParamSet = {
    name: cluster.name,
    nameNormalized: normaliseName(cluster.name),
    server: cluster.server,
    project: cluster.project ?? "",
  };
  if (environment.templating.go) params["metadata"] = nestedMetadata(cluster);
  else addFlatMetadata(params, cluster);
  addValues(params, raw["values"], environment.templating, where);
  return params;
}

/** Empty maps are left out. */
function nestedMetadata(cluster: AppSetCluster): Record<string, unknown> {
  const metadata: Record<string, unknown> = {};
  if (Object.keys(cluster.annotations).length > 0) metadata["annotations"] = stringMap(cluster.annotations);
  if (Object.keys(cluster.labels).length > 0) metadata["labels"] = stringMap(cluster.labels);
  return metadata;
}

function addFlatMetadata(params: ParamSet, cluster: AppSetCluster): void {
  for (const [key, value] of Object.entries(cluster.annotations)) params[`metadata.annotations.${key}`] = value;
  for (const [key, value] of Object.entries(cluster.labels)) params[`metadata.labels.${key}`] = value;
}
