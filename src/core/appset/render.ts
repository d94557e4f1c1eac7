import { isRecord } from "../base/is-record.ts";
import { type Blueprint, renderApplication } from "./application.ts";
import type { Environment } from "./environment.ts";
import { evaluateKind, kindsOf, requeueSeconds } from "./generators.ts";
import { collectProblems, failure, type Problems, RenderFailure } from "./problem.ts";
import { checkTemplate, mergeTemplates } from "./template.ts";
import { createTemplating } from "./templating.ts";
import type { ParamSet, RenderContext, RenderedApplication, RenderedGenerator, RenderResult } from "./types.ts";

/**
 * The Applications an ApplicationSet yields, as Argo CD would make them. Never throws: what cannot be rendered is said in
 * `problems`, and then `ok` is false and there are no applications, since Argo CD changes nothing either; the generators
 * that could be evaluated still show their parameters.
 * @param appset an ApplicationSet object as parsed from YAML or JSON
 */
export function render(appset: unknown, context: RenderContext): RenderResult {
  const problems = collectProblems();
  const generators: RenderedGenerator[] = [];
  let applications: RenderedApplication[] = [];
  try {
    applications = renderSet(appset, context, generators, problems);
  } catch (error) {
    problems.add(asProblems(error, "spec"));
  }
  const found = problems.list();
  return found.length === 0
    ? { ok: true, applications, generators, problems: found }
    : { ok: false, applications: [], generators, problems: found };
}

function asProblems(error: unknown, where: string) {
  if (error instanceof RenderFailure) return error.problems;
  const message =
    error instanceof RangeError ? "it is nested too deeply or yields too much" : error instanceof Error ? error.message : "unknown reason";
  return failure("INVALID", where, message, "simplify it, or let Argo CD render this set (argocd appset generate)").problems;
}

interface Evaluated {
  sets: ParamSet[];
  template: Record<string, unknown>;
}

function renderSet(appset: unknown, context: RenderContext, generators: RenderedGenerator[], problems: Problems): RenderedApplication[] {
  if (!isRecord(appset) || !isRecord(appset["spec"]))
    throw failure("INVALID", "spec", "this is no ApplicationSet: it has no spec", "give an object of kind ApplicationSet");
  const spec = appset["spec"];
  const environment: Environment = {
    context,
    templating: createTemplating(spec["goTemplate"] === true, optionsOf(spec)),
    nestedSelectors: spec["applyNestedSelectors"] === true,
  };
  const entries = spec["generators"];
  if (!Array.isArray(entries))
    throw failure("INVALID", "spec.generators", "generators is missing or no list", "list at least one generator");
  if (!isRecord(spec["template"]))
    throw failure("INVALID", "spec.template", "the template is missing or no map", "write the Application's metadata and spec there");
  const base = spec["template"];
  const evaluated: Evaluated[] = [];
  entries.forEach((entry, index) => {
    generators.push(evaluateEntry(entry, index, base, environment, evaluated, problems));
  });
  const blueprint = blueprintOf(appset, spec);
  return renderAll(evaluated, blueprint, environment, problems);
}

function optionsOf(spec: Record<string, unknown>): string[] {
  const options = spec["goTemplateOptions"] ?? [];
  if (Array.isArray(options) && options.every((option) => typeof option === "string")) return options;
  throw failure("INVALID", "spec.goTemplateOptions", "goTemplateOptions is no list of texts", 'write ["missingkey=error"]');
}

function evaluateEntry(
  entry: unknown,
  index: number,
  base: Record<string, unknown>,
  environment: Environment,
  evaluated: Evaluated[],
  problems: Problems,
): RenderedGenerator {
  const where = `spec.generators[${index}]`;
  const requeue = requeueSeconds(entry);
  const generator: RenderedGenerator = {
    index,
    kind: "unknown",
    params: [],
    ...(requeue === undefined ? {} : { requeueAfterSeconds: requeue }),
  };
  try {
    const kinds = kindsOf(entry, where);
    generator.kind = kinds.join("+");
    if (!isRecord(entry)) return generator;
    for (const kind of kinds) {
      const sets = evaluateKind(entry, kind, environment, where);
      const raw = entry[kind];
      const own = isRecord(raw) ? raw["template"] : undefined;
      const template = mergeTemplates(own, base);
      checkTemplate(template, isRecord(own) ? `${where}.${kind}.template` : "spec.template");
      evaluated.push({ sets, template });
      generator.params.push(...sets);
    }
  } catch (error) {
    const found = asProblems(error, where);
    problems.add(found);
    generator.params = [];
    const first = found[0];
    if (first !== undefined) generator.problem = first;
  }
  return generator;
}

function blueprintOf(appset: Record<string, unknown>, spec: Record<string, unknown>): Blueprint {
  const metadata = isRecord(appset["metadata"]) ? appset["metadata"] : {};
  const policy = isRecord(spec["syncPolicy"]) ? spec["syncPolicy"] : {};
  const { name, namespace, uid } = metadata;
  const patch = spec["templatePatch"];
  if (patch !== undefined && patch !== null && typeof patch !== "string")
    throw failure("INVALID", "spec.templatePatch", "the patch is not text", "hold it in a block scalar: templatePatch: |");
  return {
    namespace: typeof namespace === "string" && namespace !== "" ? namespace : "argocd",
    cascades: policy["preserveResourcesOnDeletion"] !== true,
    patch: typeof patch === "string" ? patch : undefined,
    owner:
      typeof uid === "string"
        ? { apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid, controller: true, blockOwnerDeletion: true }
        : undefined,
  };
}

function renderAll(
  evaluated: readonly Evaluated[],
  blueprint: Blueprint,
  environment: Environment,
  problems: Problems,
): RenderedApplication[] {
  const byName = new Map<string, RenderedApplication>();
  for (const { sets, template } of evaluated) {
    for (const params of sets) {
      try {
        const application = renderApplication(template, params, blueprint, environment, "spec.template");
        const name = application.metadata.name;
        if (byName.has(name))
          throw failure(
            "DUPLICATE_NAME",
            "spec.template.metadata.name",
            `two Applications would be named ${name}`,
            "put a parameter into the name that tells them apart",
          );
        byName.set(name, application);
      } catch (error) {
        problems.add(asProblems(error, "spec.template"));
      }
    }
  }
  return [...byName.values()];
}
