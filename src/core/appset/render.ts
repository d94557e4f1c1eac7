/** Renders ApplicationSets as Argo CD does: strictly, so that one problem makes the whole set unknown. */
import { errorText } from "../base/error-text.ts";
import { isRecord } from "../base/is-record.ts";
import type { RenderProblem } from "../reasons/render.ts";
import { type Blueprint, checkTemplate, mergeTemplates, renderApplication } from "./application.ts";
import { evaluateKind, kindsOf, requeueSeconds } from "./generators.ts";
import { failure, RenderFailure } from "./problem.ts";
import { createTemplating, type Environment } from "./templating.ts";
import type { ParamSet, RenderContext, RenderedApplication, RenderedGenerator, RenderResult } from "./types.ts";

/** Enough to see what is wrong, few enough to read. */
const MOST_PROBLEMS = 50;

/** What one rendering gathers: problems, each once; generators; and their sets with the template of each. */
interface Rendering {
  problems: Map<string, RenderProblem>;
  generators: RenderedGenerator[];
  evaluated: { sets: ParamSet[]; template: Record<string, unknown> }[];
}

/**
 * The Applications an ApplicationSet yields, as Argo CD would make them. Never throws: what cannot be rendered is said in
 * `problems`, and then `ok` is false and there are no applications, since Argo CD changes nothing either; the generators
 * that could be evaluated still show their parameters.
 * @param appset an ApplicationSet object as parsed from YAML or JSON
 */
export function render(appset: unknown, context: RenderContext): RenderResult {
  const rendering: Rendering = { problems: new Map(), generators: [], evaluated: [] };
  let applications: RenderedApplication[] = [];
  try {
    applications = renderSet(appset, context, rendering);
  } catch (error) {
    note(rendering, error, "spec");
  }
  const problems = [...rendering.problems.values()];
  const ok = problems.length === 0;
  return { ok, applications: ok ? applications : [], generators: rendering.generators, problems };
}

/** What is said of a set whose rendering was ended by who watched it. */
export function endless(): RenderProblem {
  const [problem] = failure("TEMPLATE_ERROR", "spec.template", { kind: "Go", template: "", because: { code: "GO_ENDLESS" } }).problems;
  return problem as RenderProblem;
}

/** Keeps the problems of an error, and returns the first. */
function note({ problems }: Rendering, error: unknown, where: string): RenderProblem | undefined {
  const other = () =>
    failure("INVALID", where, error instanceof RangeError ? { kind: "TooDeep" } : { kind: "Other", said: errorText(error) });
  const found = (error instanceof RenderFailure ? error : other()).problems;
  for (const problem of found) {
    const key = JSON.stringify(problem);
    if (problems.size < MOST_PROBLEMS && !problems.has(key)) problems.set(key, problem);
  }
  return found[0];
}

function renderSet(appset: unknown, context: RenderContext, rendering: Rendering): RenderedApplication[] {
  if (!isRecord(appset) || !isRecord(appset["spec"])) throw failure("INVALID", "spec", { kind: "NoSet" });
  const { spec } = appset;
  const environment: Environment = {
    context,
    templating: createTemplating(spec["goTemplate"] === true, optionsOf(spec)),
    nestedSelectors: spec["applyNestedSelectors"] === true,
    readsMetadata: () => readsMetadata(JSON.stringify(spec)),
  };
  const { generators, template } = spec;
  if (!Array.isArray(generators)) throw failure("INVALID", "spec.generators", { kind: "NoGenerators" });
  if (!isRecord(template)) throw failure("INVALID", "spec.template", { kind: "NoTemplate" });
  const isAllEmpty = generators.every(isEmptyEntry);
  for (const [index, entry] of generators.entries())
    if (isAllEmpty || !isEmptyEntry(entry)) rendering.generators.push(evaluateEntry(entry, index, template, environment, rendering));
  return renderAll(blueprintOf(appset, spec), environment, rendering);
}

/** Argo CD passes over an entry without a generator, and makes no Application of it. */
function isEmptyEntry(entry: unknown): boolean {
  return isRecord(entry) && Object.keys(entry).every((key) => key === "selector");
}

/** Whether a tag names `metadata`. */
function readsMetadata(text: string): boolean {
  return text.split("}").some((part) => {
    const open = part.indexOf("{{");
    return open !== -1 && /\bmetadata\b/.test(part.slice(open));
  });
}

function optionsOf(spec: Record<string, unknown>): string[] {
  const options = spec["goTemplateOptions"] ?? [];
  if (Array.isArray(options) && options.every((option) => typeof option === "string")) return options;
  throw failure("INVALID", "spec.goTemplateOptions", { kind: "OptionsNoTexts" });
}

function evaluateEntry(
  entry: unknown,
  index: number,
  base: Record<string, unknown>,
  environment: Environment,
  rendering: Rendering,
): RenderedGenerator {
  const where = `spec.generators[${index}]`;
  const generator: RenderedGenerator = { index, kind: "unknown", params: [], requeueAfterSeconds: requeueSeconds(entry) };
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
      rendering.evaluated.push({ sets, template });
      generator.params.push(...sets);
    }
  } catch (error) {
    generator.params = [];
    generator.problem = note(rendering, error, where);
  }
  return generator;
}

function blueprintOf(appset: Record<string, unknown>, spec: Record<string, unknown>): Blueprint {
  const metadata = isRecord(appset["metadata"]) ? appset["metadata"] : {};
  const policy = isRecord(spec["syncPolicy"]) ? spec["syncPolicy"] : {};
  const { name, namespace, uid } = metadata;
  const patch = spec["templatePatch"];
  if (patch !== undefined && patch !== null && typeof patch !== "string")
    throw failure("INVALID", "spec.templatePatch", { kind: "PatchNoText" });
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

function renderAll(blueprint: Blueprint, environment: Environment, rendering: Rendering): RenderedApplication[] {
  const byName = new Map<string, RenderedApplication>();
  for (const { sets, template } of rendering.evaluated) {
    for (const params of sets) {
      try {
        const application = renderApplication(template, params, blueprint, environment, "spec.template");
        const { name } = application.metadata;
        if (byName.has(name)) throw failure("DUPLICATE_NAME", "spec.template.metadata.name", { name });
        byName.set(name, application);
      } catch (error) {
        note(rendering, error, "spec.template");
      }
    }
  }
  return [...byName.values()];
}
