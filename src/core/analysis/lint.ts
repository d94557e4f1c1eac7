import { nearest } from "../base/nearest.ts";
import type { Problem } from "../base/problem.ts";
import { type RepoFiles, readOrNull } from "../base/repo-files.ts";
import type { Rollout, Stage } from "../spec/rollout.ts";
import type { StageAnalysis } from "../spec/stage-checks.ts";
import { effectiveCount, type MetricRules } from "./metric.ts";
import { TEMPLATES_FOLDER, templateFiles } from "./repo-templates.ts";
import { AnalysisError, declaredArgs, hasValue, templatesFor, unusedRule } from "./request.ts";
import { readTemplates } from "./template.ts";
import type { AnalysisTemplate } from "./template-schema.ts";

/** Codes of what the builtin engine lacks and the other one has, or finds elsewhere. */
const BUILTIN_LACKS: ReadonlySet<string> = new Set(["ANALYSIS_PROVIDER", "ANALYSIS_CONDITION", "ANALYSIS_JSONPATH", "ANALYSIS_TEMPLATE"]);

type Path = (string | number)[];

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
  if (problem.code !== "ANALYSIS_TEMPLATE") return { ...problem, severity: "warning" };
  const message = `${problem.message} in this repo: the engine argo-rollouts would look for it in its cluster, the builtin one refuses it`;
  return { ...problem, severity: "warning", message };
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
  const seen = new Map(problems.map((one) => [`${one.file}:${one.line}:${one.column} ${one.path.join(".")} ${one.message}`, one]));
  return [...seen.values()];
}

function checkOne(
  rollout: Rollout,
  wanted: Wanted,
  all: readonly AnalysisTemplate[],
  read: ReadonlyMap<string, AnalysisTemplate[]>,
  builtin: boolean,
): Problem[] {
  const say = (code: string, message: string, hint: string, path: Path): Problem => ({
    ...{ code, severity: "error", message, hint, path: [...wanted.path, ...path] },
    ...{ file: rollout.file, line: 1, column: 1 },
  });
  const missing = missingTemplates(wanted, all, read, builtin, say);
  if (missing.problems.length > 0 || missing.elsewhere) return missing.problems;
  let templates: AnalysisTemplate[];
  try {
    templates = templatesFor(wanted.analysis, all);
  } catch (error) {
    if (!(error instanceof AnalysisError)) throw error;
    return builtin ? [say("ANALYSIS_TEMPLATE", error.message, "correct the names of spec.templates", ["templates"])] : [];
  }
  const unused = unusedRule(templates);
  const rules = unused === undefined ? [] : [say("ANALYSIS_VALUE", unused, "correct the template's rule, or remove it", ["templates"])];
  return [...checkArgs(wanted, templates, say), ...checkEnd(wanted, templates, say), ...rules];
}

type Say = (code: string, message: string, hint: string, path: Path) => Problem;

function missingTemplates(
  { analysis }: Wanted,
  all: readonly AnalysisTemplate[],
  read: ReadonlyMap<string, AnalysisTemplate[]>,
  builtin: boolean,
  say: Say,
): { problems: Problem[]; elsewhere: boolean } {
  const problems: Problem[] = [];
  let elsewhere = false;
  for (const [j, ref] of analysis.templates.entries()) {
    const kind = ref.clusterScope ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
    if (ref.file !== undefined && !read.has(ref.file)) {
      problems.push(say("ANALYSIS_TEMPLATE", `the file ${ref.file} is not there`, "add it, or correct its name", ["templates", j, "file"]));
      continue;
    }
    const names = all.filter((template) => template.kind === kind).map((template) => template.metadata.name);
    if (names.includes(ref.templateName)) continue;
    elsewhere = true;
    if (!builtin) continue;
    const near = nearest(ref.templateName, names);
    const there = names.length === 0 ? `put it below ${TEMPLATES_FOLDER}` : `there are ${names.slice(0, 5).join(", ")}`;
    const hint = near === undefined ? there : `did you mean ${near}?`;
    problems.push(say("ANALYSIS_TEMPLATE", `there is no ${kind} called ${ref.templateName}`, hint, ["templates", j, "templateName"]));
  }
  return { problems, elsewhere };
}

function checkArgs({ analysis }: Wanted, templates: readonly AnalysisTemplate[], say: Say): Problem[] {
  const declared = declaredArgs(templates);
  const problems: Problem[] = [];
  for (const [k, { name }] of analysis.args.entries()) {
    if (declared.has(name)) continue;
    const near = nearest(name, [...declared.keys()]);
    const hint = near === undefined ? `they declare ${[...declared.keys()].join(", ") || "none"}` : `did you mean ${near}?`;
    problems.push(say("ANALYSIS_ARG", `the templates have no argument called ${name}`, hint, ["args", k, "name"]));
  }
  for (const arg of declared.values()) {
    if (hasValue(arg) || analysis.args.some(({ name }) => name === arg.name)) continue;
    problems.push(say("ANALYSIS_ARG", `the argument ${arg.name} has no value`, "give it one under args", ["templates"]));
  }
  return problems;
}

/** What measures until it is stopped is stopped by the end of its stage, or of a bake. */
function checkEnd({ analysis, stage }: Wanted, templates: readonly AnalysisTemplate[], say: Say): Problem[] {
  const waits = (analysis.when ?? ["AsStep"]).filter((when) => when !== "Background" && !(when === "AfterBatch" && stage.bakeMs > 0));
  if (waits.length === 0) return [];
  const metrics = templates.flatMap(({ spec }) => spec.metrics ?? []);
  const endless = metrics.find((metric) => {
    const rules = { intervalMs: metric.interval, count: Number(metric.count ?? 0) } as MetricRules;
    const templated = typeof metric.count === "string" && metric.count.includes("{{");
    return !templated && effectiveCount(rules) === undefined && !(Number(metric.consecutiveSuccessLimit ?? 0) > 0);
  });
  if (endless === undefined) return [];
  const message = `metric ${endless.name} has an interval and no count, so it never ends by itself`;
  const elsewhere =
    analysis.when === undefined
      ? "measure it beside the stage or its bake instead"
      : "run it with when: [Background], or after batches that bake";
  const hint = `give it a count such as 3, or ${elsewhere}`;
  return [say("ANALYSIS_ENDLESS", message, hint, analysis.when === undefined ? ["templates"] : ["when"])];
}
