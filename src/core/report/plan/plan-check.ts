import type { AnyReason } from "../../base/reason.ts";
import type { Plan } from "../../plan/plan-types.ts";
import type { Problem } from "../../reasons/problems/problem.ts";
import { countedWords, putOffPhrase } from "../counted.ts";
import { cell, code } from "../escape.ts";
import { present, table } from "../markdown.ts";
import { refusedProblems } from "../model/refused.ts";
import { sayProblem, sayWarning } from "../reasons/problems/problems.ts";
import { sentenceOf } from "../reasons/say.ts";
import { refusedTable } from "../refused.ts";
import { short } from "./plan-chart.ts";

/** Name of the check run; people require it by this. */
export const PLAN_CHECK = "stagecoach/plan";

/** A check run as words; the commit it is for is the caller's. */
export interface PlanCheckWords {
  status: "completed" | "in_progress";
  conclusion?: "success" | "failure";
  title: string;
  summary: string;
  annotations?: AnnotationWords[];
}

interface AnnotationWords {
  path: string;
  line: number;
  level: "failure" | "warning";
  title: string;
  message: string;
}

/** What was found out about a PR that touches rollouts, their releases, ApplicationSets or pins. */
export interface PlanFindings {
  plans: readonly { plan: Plan; mode: string; overlap?: string | undefined }[];
  problems: readonly Problem[];
  /** Why merging is refused or warned about besides; Markdown, harmless. */
  against: readonly string[];
  /** Of `against`, whether it fails the check. */
  fails: boolean;
  /** What cannot be seen now, such as a control plane: judged again soon. */
  waiting?: AnyReason | Problem;
  /** What the PR is where it releases nothing. */
  notes: readonly AnyReason[];
}

const MOST_ANNOTATIONS = 100;
const MOST_PROBLEMS = 30;

/** Green where there is nothing to say, so that the check can be required. */
export function notARollout(): PlanCheckWords {
  const summary = "Not a rollout PR: it changes no rollout, no release, no pin and no ApplicationSet of one.";
  return { status: "completed", conclusion: "success", title: "not a rollout PR", summary };
}

/** A batch's own PR is judged by stagecoach/gate. */
export function ownBatch(): PlanCheckWords {
  const summary = "A batch of a run: `stagecoach/gate` says whether it may merge.";
  return { status: "completed", conclusion: "success", title: "a batch of a run", summary };
}

export function planCheck(findings: PlanFindings): PlanCheckWords {
  const { plans, problems, against, fails, notes } = findings;
  const waiting = waitingFor(findings);
  const errors = problems.filter((problem) => problem.severity === "error");
  const failed = errors.length > 0 || fails;
  const parts = present(
    ...against.slice(0, 20),
    problems.length > 0 && refusedTable(refusedProblems(problems), MOST_PROBLEMS),
    ...plans.slice(0, 4).map(planSummary),
    ...notes.slice(0, 20).map((note) => sentenceOf(note)),
    waiting !== undefined && `Waiting: ${cell(waiting, 500)}.`,
  );
  const summary = parts.join("\n\n") || "Nothing to say.";
  const annotations = problems.slice(0, MOST_ANNOTATIONS).map(annotation);
  const rest = { title: short(titleOf(findings, errors.length), 200), summary, annotations };
  if (waiting !== undefined && !failed) return { status: "in_progress", ...rest };
  return { status: "completed", conclusion: failed ? "failure" : "success", ...rest };
}

function waitingFor({ waiting }: PlanFindings): string | undefined {
  return waiting && ("severity" in waiting ? sayProblem(waiting as Problem).message : sentenceOf(waiting));
}

function titleOf(findings: PlanFindings, errors: number): string {
  const { plans, against, fails, notes } = findings;
  const waiting = waitingFor(findings);
  if (errors > 0) return errors === 1 ? "1 error: no run would start" : `${errors} errors: no run would start`;
  if (fails) return (against[0] ?? "").replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, "$1").split("\n")[0] ?? "";
  if (waiting !== undefined) return `waiting: ${waiting}`;
  const [first, ...others] = plans;
  if (first === undefined) return notes.length === 0 ? "valid; no release" : "valid; starts no run";
  const clusters = first.plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const batches = first.plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const more = others.length === 0 ? "" : ` and ${others.length} more rollouts`;
  return `${first.plan.rollout}: ${clusters} ${countedWords(first.plan)} in ${batches} batches over ${first.plan.stages.length} stages${putOffPhrase(first.plan.stages)}${more}`;
}

function planSummary({ plan, mode, overlap }: PlanFindings["plans"][number]): string {
  const rows = plan.stages.map(({ name, clusters, batches }, at) => [at + 1, cell(name, 80), clusters.length, batches.length]);
  const stages = table(["", "stage", countedWords(plan), "batches"], rows, 15, (left) => `and ${left} more stages.`);
  const warned = plan.warnings.slice(0, 3).map((warning) => `- **${warning.code}** ${cell(sayWarning(warning), 200)}`);
  const head = `**${cell(plan.rollout)}** (mode ${mode}), plan ${code(plan.hash.slice(0, 12))}`;
  return present(head, stages, overlap, warned.join("\n")).join("\n\n");
}

function annotation(problem: Problem): AnnotationWords {
  const { message, hint } = sayProblem(problem);
  return {
    path: problem.file,
    line: Math.max(1, problem.line),
    level: problem.severity === "error" ? "failure" : "warning",
    title: problem.code,
    message: short(`${message}\n${hint}`, 2000),
  };
}
