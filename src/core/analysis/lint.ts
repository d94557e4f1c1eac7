import { nearest } from "../base/nearest.ts";
import { type RepoFiles, readOrNull } from "../base/repo-files.ts";
import type { Path, Problem, ProblemReason } from "../reasons/problem.ts";
import type { Rollout, Stage, StageAnalysis } from "../spec/rollout.ts";
import { effectiveCount, type MetricRules } from "./metric.ts";
import { unusedRule } from "./metric-rules.ts";
import { templateFiles } from "./repo-templates.ts";
import { AnalysisError, declaredArgs, hasValue, templatesFor } from "./request.ts";
import { readTemplates } from "./template.ts";
import type { AnalysisTemplate } from "./template-schema.ts";

/** Codes of what the builtin engine lacks and the other one has, or finds elsewhere. */
const BUILTIN_LACKS: ReadonlySet<string> = new Set(["ANALYSIS_PROVIDER", "ANALYSIS_CONDITION", "ANALYSIS_JSONPATH", "ANALYSIS_TEMPLATE"]);

interface Wanted {
  analysis: Pick<StageAnalysis, "templates" | "args"> & { when?: StageAnalysis["when"] };
  stage: Stage;
  path: Path;
}

/**
 * The analyses of a rollout against the templates of its repo. `builtin`: with that engine every template must be there, and
 * what it lacks is an error; the other may find a template in its cluster. `unknown`: nobody says which engine the server has, so
 * what only the builtin one minds is a warning that names them. Problems of templates stand in their files; those of the
 * rollout at line 1, with their path.
 */
export function lintAnalyses(rollout: Rollout, files: RepoFiles, engine: { builtin: boolean; unknown?: true }): Problem[] {
  const builtin = engine.builtin || engine.unknown === true;
  const problems: Problem[] = [];
  const wanted = rollout.stages.flatMap(analysesIn);
  const read = new Map<string, AnalysisTemplate[]>();
  for (const path of templateFiles(
    wanted.flatMap(({ analysis }) => analysis.templates),
    files,
  )) {
    const text = readOrNull(files, path);
    if (text === null) continue;
    const found = readTemplates(text, path, { builtin });
    read.set(path, found.templates);
    problems.push(...found.problems);
  }
  const all = [...read.values()].flat();
  for (const one of wanted) problems.push(...checkOne(rollout, one, all, read, builtin));
  return once(engine.unknown === true ? problems.map(perhaps) : problems);
}

/** A file that a reference names must be in the repo whichever engine it is; a template by its name alone may be in the cluster. */
function perhaps(problem: Problem): Problem {
  if (!BUILTIN_LACKS.has(problem.code) || problem.path.at(-1) === "file") return problem;
  return { ...problem, severity: "warning", ...(problem.code === "ANALYSIS_TEMPLATE" ? { perhaps: true } : {}) };
}

function analysesIn(stage: Stage, index: number): Wanted[] {
  const path = ["spec", "stages", index];
  const own = stage.analysis === undefined ? [] : [{ analysis: stage.analysis, stage, path: [...path, "analysis"] }];
  const steps = (stage.steps ?? []).flatMap((step, at): Wanted[] =>
    step.kind === "analysis"
      ? [{ analysis: { templates: step.analysis.templates, args: step.analysis.args }, stage, path: [...path, "steps", at, "analysis"] }]
      : [],
  );
  return [...own, ...steps];
}

function once(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((one) => [JSON.stringify(one), one])).values()];
}

function checkOne(
  rollout: Rollout,
  wanted: Wanted,
  all: readonly AnalysisTemplate[],
  read: ReadonlyMap<string, AnalysisTemplate[]>,
  builtin: boolean,
): Problem[] {
  const found: Found = (reason, path) => ({
    ...reason,
    ...{ severity: "error", file: rollout.file, line: 1, column: 1, path: [...wanted.path, ...path] },
  });
  const missing = missingTemplates(wanted, all, read, builtin, found);
  if (missing.problems.length > 0 || missing.elsewhere) return missing.problems;
  let templates: AnalysisTemplate[];
  try {
    templates = templatesFor(wanted.analysis, all);
  } catch (error) {
    if (!(error instanceof AnalysisError)) throw error;
    return builtin ? [found(error.reason, ["templates"])] : [];
  }
  const unused = unusedRule(templates);
  const rules = unused === undefined ? [] : [found({ code: "ANALYSIS_VALUE", ...unused }, ["templates"])];
  return [...checkArgs(wanted, templates, found), ...checkEnd(wanted, templates, found), ...rules];
}

type Found = (reason: ProblemReason, path: Path) => Problem;

function missingTemplates(
  { analysis }: Wanted,
  all: readonly AnalysisTemplate[],
  read: ReadonlyMap<string, AnalysisTemplate[]>,
  builtin: boolean,
  found: Found,
): { problems: Problem[]; elsewhere: boolean } {
  const problems: Problem[] = [];
  let elsewhere = false;
  for (const [j, ref] of analysis.templates.entries()) {
    const kind = ref.clusterScope ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
    if (ref.file !== undefined && !read.has(ref.file)) {
      problems.push(found({ code: "ANALYSIS_TEMPLATE", kind: "NoFile", name: ref.file }, ["templates", j, "file"]));
      continue;
    }
    const names = all.filter((template) => template.kind === kind).map((template) => template.metadata.name);
    if (names.includes(ref.templateName)) continue;
    elsewhere = true;
    if (!builtin) continue;
    const data = { templateKind: kind, name: ref.templateName, known: names, near: nearest(ref.templateName, names) };
    problems.push(found({ code: "ANALYSIS_TEMPLATE", kind: "None", ...data }, ["templates", j, "templateName"]));
  }
  return { problems, elsewhere };
}

function checkArgs({ analysis }: Wanted, templates: readonly AnalysisTemplate[], found: Found): Problem[] {
  const declared = declaredArgs(templates);
  const problems: Problem[] = [];
  for (const [k, { name }] of analysis.args.entries()) {
    if (declared.has(name)) continue;
    const known = [...declared.keys()];
    problems.push(found({ code: "ANALYSIS_ARG", kind: "Unknown", name, known, near: nearest(name, known) }, ["args", k, "name"]));
  }
  for (const arg of declared.values()) {
    if (hasValue(arg) || analysis.args.some(({ name }) => name === arg.name)) continue;
    problems.push(found({ code: "ANALYSIS_ARG", kind: "NoValue", name: arg.name }, ["templates"]));
  }
  return problems;
}

/** What measures until it is stopped is stopped by the end of its stage, or of a bake. */
function checkEnd({ analysis, stage }: Wanted, templates: readonly AnalysisTemplate[], found: Found): Problem[] {
  const waits = (analysis.when ?? ["AsStep"]).filter((when) => when !== "Background" && !(when === "AfterBatch" && stage.bakeMs > 0));
  if (waits.length === 0) return [];
  const metrics = templates.flatMap(({ spec }) => spec.metrics ?? []);
  const endless = metrics.find((metric) => {
    const rules = { intervalMs: metric.interval, count: Number(metric.count ?? 0) } as MetricRules;
    const templated = typeof metric.count === "string" && metric.count.includes("{{");
    return !templated && effectiveCount(rules) === undefined && !(Number(metric.consecutiveSuccessLimit ?? 0) > 0);
  });
  if (endless === undefined) return [];
  const ofStep = analysis.when === undefined;
  return [found({ code: "ANALYSIS_ENDLESS", metric: endless.name, ofStep }, ofStep ? ["templates"] : ["when"])];
}
