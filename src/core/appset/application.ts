import { isRecord } from "../base/is-record.ts";
import type { Environment } from "./environment.ts";
import { failure } from "./problem.ts";
import { applyPatch } from "./template-patch.ts";
import { renderTree } from "./templating.ts";
import type { ParamSet, RenderedApplication } from "./types.ts";

/** What all Applications of a set have in common. */
export interface Blueprint {
  namespace: string;
  /** Whether Applications get the finalizer that deletes their workloads with them. */
  cascades: boolean;
  patch: string | undefined;
  owner: Record<string, unknown> | undefined;
}

const RESOURCES_FINALIZER = "resources-finalizer.argocd.argoproj.io";
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** Of the template's metadata Argo CD takes these. */
const METADATA = ["name", "labels", "annotations", "finalizers"];

/**
 * One Application. Without parameters the template is used as it is written, and gets no finalizer.
 * @throws RenderFailure
 */
export function renderApplication(
  template: Record<string, unknown>,
  params: ParamSet,
  blueprint: Blueprint,
  environment: Environment,
  where: string,
): RenderedApplication {
  const metadata = pick(isRecord(template["metadata"]) ? template["metadata"] : {});
  const spec = isRecord(template["spec"]) ? template["spec"] : {};
  const unrendered = Object.keys(params).length === 0;
  const rendered = unrendered
    ? structuredClone({ metadata, spec })
    : (renderTree(environment.templating, { metadata, spec }, params, where) as typeof template);
  let result = { metadata: rendered["metadata"] as Record<string, unknown>, spec: rendered["spec"] as Record<string, unknown> };
  const finalizers = result.metadata["finalizers"];
  if (!unrendered && blueprint.cascades && !(Array.isArray(finalizers) && finalizers.length > 0))
    result.metadata["finalizers"] = [RESOURCES_FINALIZER];
  if (blueprint.patch !== undefined) {
    const source = environment.templating.text(blueprint.patch, params, () => "spec.templatePatch");
    result = applyPatch(result as unknown as RenderedApplication, source, "spec.templatePatch");
  }
  return finished(result, blueprint, where);
}

function pick(metadata: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const key of METADATA) if (metadata[key] !== undefined && metadata[key] !== null) kept[key] = metadata[key];
  return kept;
}

function finished(
  result: { metadata: Record<string, unknown>; spec: Record<string, unknown> },
  blueprint: Blueprint,
  where: string,
): RenderedApplication {
  const { labels, annotations, finalizers } = result.metadata;
  const metadata = {
    name: checkedName(result.metadata["name"], where),
    namespace: blueprint.namespace,
    ...(isRecord(labels) && Object.keys(labels).length > 0 ? { labels: labels as Record<string, string> } : {}),
    ...(isRecord(annotations) && Object.keys(annotations).length > 0 ? { annotations: annotations as Record<string, string> } : {}),
    ...(Array.isArray(finalizers) && finalizers.length > 0 ? { finalizers: finalizers as string[] } : {}),
    ...(blueprint.owner === undefined ? {} : { ownerReferences: [blueprint.owner] }),
  };
  return { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata, spec: result.spec };
}

function checkedName(name: unknown, where: string): string {
  const place = `${where}.metadata.name`;
  if (typeof name !== "string" || name === "")
    throw failure("INVALID_NAME", place, "an Application would have no name", "set template.metadata.name");
  if (name.length > 253 || !NAME.test(name)) {
    const hint = /\{\{|<no value>/.test(name)
      ? "a parameter it names is missing from this set"
      : "lower case letters, digits, - and ., at most 253 characters; nameNormalized or normalize make one";
    throw failure("INVALID_NAME", place, `${JSON.stringify(name)} cannot be the name of an Application`, hint);
  }
  return name;
}
