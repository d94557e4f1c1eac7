import { defined } from "../base/defined.ts";
import { nearest } from "../base/nearest.ts";
import { type RepoFiles, readOrNull } from "../base/repo-files.ts";
import type { Path, Problem, ProblemReason } from "../reasons/problems/problem.ts";
import type { Rollout, Stage, StageAnalysis } from "../spec/rollout.ts";
import { isEndless } from "./metric.ts";
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
  const references = wanted.flatMap(({ analysis }) => analysis.templates);
  const read = new Map<string, AnalysisTemplate[]>();
  for (const path of templateFiles(references, files)) {
    const text = readOrNull(files, path);
    if (text === null) continue;
    const found = readTemplates(text, path, { builtin });
    read.set(path, found.templates);
    problems.push(...found.problems);
  }
  for (const one of wanted) {
    const found: Found = (reason, path) => {
      return { ...reason, severity: "error", file: rollout.file, line: 1, column: 1, path: [...one.path, ...path] };
    };
    problems.push(...checkOne(one, { read, all: [...read.values()].flat(), builtin }, found));
  }
  const told = engine.unknown === true ? problems.map(perhaps) : problems;
  return [...new Map(told.map((problem) => [JSON.stringify(problem), problem])).values()];
}

/** A file that a reference names must be in the repo whichever engine it is; a template by its name alone may be in the cluster. */
function perhaps(problem: Problem): Problem {
  if (!BUILTIN_LACKS.has(problem.code) || problem.path.at(-1) === "file") return problem;
  return { ...problem, severity: "warning", ...defined({ perhaps: problem.code === "ANALYSIS_TEMPLATE" ? true : undefined }) };
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

/** The templates of the repo, by file and together. */
interface Templates {
  read: ReadonlyMap<string, AnalysisTemplate[]>;
  all: readonly AnalysisTemplate[];
  builtin: boolean;
}

type Found = (reason: ProblemReason, path: Path) => Problem;

function checkOne(wanted: Wanted, repo: Templates, found: Found): Problem[] {
  const missing = missingTemplates(wanted, repo, found);
  if (missing !== undefined) return missing;
  let templates: AnalysisTemplate[];
  try {
    templates = templatesFor(wanted.analysis, repo.all);
  } catch (error) {
    if (!(error instanceof AnalysisError)) throw error;
    return repo.builtin ? [found(error.reason, ["templates"])] : [];
  }
  const unused = unusedRule(templates);
  const rules = unused === undefined ? [] : [found({ code: "ANALYSIS_VALUE", ...unused }, ["templates"])];
  return [...checkArgs(wanted, templates, found), ...checkEnd(wanted, templates, found), ...rules];
}

/** undefined: every template is in the repo. */
function missingTemplates({ analysis }: Wanted, { read, all, builtin }: Templates, found: Found): Problem[] | undefined {
  let isMissing = false;
  const problems = analysis.templates.flatMap(({ file, templateName: name, clusterScope }, j): Problem[] => {
    const templateKind = clusterScope ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
    const known = all.filter(({ kind }) => kind === templateKind).map(({ metadata }) => metadata.name);
    const noFile = file !== undefined && !read.has(file);
    if (!noFile && known.includes(name)) return [];
    isMissing = true;
    if (noFile) return [found({ code: "ANALYSIS_TEMPLATE", kind: "NoFile", name: file }, ["templates", j, "file"])];
    const reason = { code: "ANALYSIS_TEMPLATE", kind: "None", templateKind, name, known, near: nearest(name, known) } as const;
    return builtin ? [found(reason, ["templates", j, "templateName"])] : [];
  });
  return isMissing ? problems : undefined;
}

function checkArgs({ analysis }: Wanted, templates: readonly AnalysisTemplate[], found: Found): Problem[] {
  const declared = declaredArgs(templates);
  const known = [...declared.keys()];
  const unknown = analysis.args.flatMap(({ name }, k) =>
    declared.has(name)
      ? []
      : [found({ code: "ANALYSIS_ARG", kind: "Unknown", name, known, near: nearest(name, known) }, ["args", k, "name"])],
  );
  const unset = [...declared.values()].filter((arg) => !hasValue(arg) && !analysis.args.some(({ name }) => name === arg.name));
  return [...unknown, ...unset.map(({ name }) => found({ code: "ANALYSIS_ARG", kind: "NoValue", name }, ["templates"]))];
}

/** What measures until it is stopped is stopped by the end of its stage, or of a bake. */
function checkEnd({ analysis, stage }: Wanted, templates: readonly AnalysisTemplate[], found: Found): Problem[] {
  const waits = (analysis.when ?? ["AsStep"]).filter((when) => when !== "Background" && !(when === "AfterBatch" && stage.bakeMs > 0));
  if (waits.length === 0) return [];
  const metrics = templates.flatMap(({ spec }) => spec.metrics ?? []);
  const endless = metrics.find((metric) => {
    if (typeof metric.count === "string" && metric.count.includes("{{")) return false;
    const [count = 0, consecutiveSuccessLimit = 0] = [metric.count, metric.consecutiveSuccessLimit].map((limit) => Number(limit ?? 0));
    return isEndless({ intervalMs: metric.interval, count, consecutiveSuccessLimit });
  });
  if (endless === undefined) return [];
  const ofStep = analysis.when === undefined;
  return [found({ code: "ANALYSIS_ENDLESS", metric: endless.name, ofStep }, ofStep ? ["templates"] : ["when"])];
}
