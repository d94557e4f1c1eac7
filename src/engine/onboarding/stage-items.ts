import { isAutomated } from "../../core/argocd/decode/application.ts";
import { defined } from "../../core/base/defined.ts";
import { listAt, textAt } from "../../core/base/is-record.ts";
import { sourcesOf } from "./places-spec.ts";
import type { StageItem } from "./stages.ts";
import type { InitTarget } from "./types.ts";

/** What stages of a rollout take: its clusters, or its Applications with the labels that `targetBy: application` gives them. */
export function itemsOf(
  targets: readonly InitTarget[],
  targetBy: "application" | undefined,
  fleetIsKnown: boolean,
): { items: StageItem[]; labelsAreSure: boolean } {
  if (targetBy === undefined) {
    const clusters = [...new Map(targets.map((target) => [target.cluster.name, target.cluster])).values()];
    const byHand = new Set(targets.filter(({ spec }) => !isAutomated(spec)).map(({ cluster }) => cluster.name));
    const items = clusters.map(({ name, labels }) => ({ name, labels, texts: { name }, byHand: byHand.has(name) }));
    return { items, labelsAreSure: fleetIsKnown };
  }
  return { items: targets.map((target) => itemOf(target, fleetIsKnown)), labelsAreSure: true };
}

function itemOf({ application, labels, spec, cluster }: InitTarget, fleetIsKnown: boolean): StageItem {
  const namespace = textAt(spec, "destination", "namespace");
  const project = textAt(spec, "project");
  const sources = sourcesOf(spec).map(({ source }) => source);
  const where = defined({
    "stagecoach.dev/name": application,
    "stagecoach.dev/cluster": cluster.name,
    "stagecoach.dev/namespace": namespace,
    "stagecoach.dev/project": project,
  });
  return {
    name: application,
    byHand: !isAutomated(spec),
    labels: { ...(fleetIsKnown ? cluster.labels : {}), ...labels, ...where },
    texts: {
      name: application,
      namespace: namespace ?? "",
      path: sources.map((source) => textAt(source, "path") ?? "").join(" "),
      "values file": sources
        .flatMap((source) => listAt(source, "helm", "valueFiles"))
        .map(String)
        .join(" "),
      cluster: cluster.name,
      branch: sources.map((source) => textAt(source, "targetRevision") ?? "").join(" "),
    },
  };
}
