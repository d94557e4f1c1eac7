import { defined } from "../base/defined.ts";
import type { ApplicationSetView, ApplicationView } from "./views.ts";

/** Gives an Application as kubectl would print it, without its status. */
export function applicationManifest({ name, namespace, labels, owner, spec, deletionTimestamp }: ApplicationView): Record<string, unknown> {
  const sources = spec.sources.map(({ rest, ...source }) => ({ ...source, ...rest }));
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: defined({ name, namespace, labels, deletionTimestamp, ownerReferences: owner && [owner] }),
    spec: {
      project: spec.project,
      ...(spec.multiSource ? { sources } : { source: sources[0] ?? {} }),
      destination: spec.destination,
      syncPolicy: spec.automated ? { automated: {} } : {},
    },
  };
}

/** The same of an ApplicationSet. */
export function setManifest({ name, namespace, spec }: ApplicationSetView): Record<string, unknown> {
  return { apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", metadata: { name, namespace }, spec };
}
