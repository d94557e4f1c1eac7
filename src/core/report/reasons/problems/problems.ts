import type { OwnWords, Path, Place, Problem, ProblemReason, ProblemTable, Warning } from "../../../reasons/problems/problem.ts";
import { firstOf } from "../../markdown.ts";
import { ANALYSIS_PROBLEMS } from "./analysis.ts";
import { COPY_PROBLEMS } from "./copy.ts";
import { type ProblemEntries, type SaidProblem, sayEntry } from "./entry.ts";
import { FILE_PROBLEMS } from "./file.ts";
import { INVENTORY_PROBLEMS } from "./inventory.ts";
import { PACE_PROBLEMS } from "./pace.ts";
import { PIN_PROBLEMS } from "./pins.ts";
import { PLAN_PROBLEMS } from "./plan.ts";
import { REPO_PROBLEMS } from "./repo.ts";
import { GITHUB_PROBLEMS } from "./repo-github.ts";
import { RULE_PROBLEMS } from "./rules.ts";
import { RELEASE_PROBLEMS } from "./rules-release.ts";
import { SERVER_PROBLEMS } from "./server.ts";
import { SET_PROBLEMS } from "./set.ts";

/** Every code of a problem, and what is said of it. */
export const PROBLEMS: ProblemEntries<ProblemTable> = {
  ...FILE_PROBLEMS,
  ...RELEASE_PROBLEMS,
  ...RULE_PROBLEMS,
  ...INVENTORY_PROBLEMS,
  ...PACE_PROBLEMS,
  ...PLAN_PROBLEMS,
  ...COPY_PROBLEMS,
  ...REPO_PROBLEMS,
  ...GITHUB_PROBLEMS,
  ...SET_PROBLEMS,
  ...ANALYSIS_PROBLEMS,
  ...(PIN_PROBLEMS as unknown as Pick<ProblemEntries<ProblemTable>, keyof typeof PIN_PROBLEMS>),
  ...SERVER_PROBLEMS,
};

/** Says a problem, or a reason that is told without a place. */
export function sayProblem(problem: Problem | ProblemReason | OwnWords): SaidProblem {
  const { message, hint } = "message" in problem ? problem : sayEntry(PROBLEMS[problem.code], problem);
  const { inside, seenAt, targets, byServer }: Pick<Place, "inside" | "seenAt" | "targets" | "byServer"> =
    "severity" in problem ? problem : {};
  const annotation = inside === undefined ? "" : `in the annotation${inside.length === 0 ? "" : `, ${dotted(inside)}`}: `;
  const before = seenAt === undefined ? annotation : `${annotation}in ${seenAt}: `;
  return {
    message: `${before}${message}${targets === undefined ? "" : ` (${targetsText(targets)})`}`,
    hint: byServer === undefined ? hint : sayByServer(byServer),
  };
}

/** What to switch on so that a cluster is known by the name that Argo CD has for it. */
function sayByServer(server: string): string {
  return `Applications name this cluster by its server ${server} alone, so its name and labels in Argo CD are not known: let the server read them, with \`clusterSecrets: true\` (deploy/cluster-secrets) or a control plane of \`kind: api\`.`;
}

/** Says a problem and its next step in one line. */
export function sayWithHint(problem: Problem | ProblemReason): string {
  const { message, hint } = sayProblem(problem);
  return `${message}; ${hint}`;
}

/** A warning in one sentence, with what was meant by what is mistyped. */
export function sayWarning(warning: Warning | Problem): string {
  const { message, hint } = sayProblem(warning);
  return "near" in warning && warning.near !== undefined ? `${message}; ${hint}` : message;
}

/** A problem as JSON outputs have it. */
export function problemJson(problem: Problem): Record<string, unknown> {
  const { code, severity, file, line, column, path } = problem;
  return { code, severity, file, line, column, ...sayProblem(problem), path };
}

function targetsText({ names, example }: NonNullable<Place["targets"]>): string {
  if (!example) return firstOf(names, 3);
  return names.length === 1 ? (names[0] ?? "") : `${names[0]}; the same for ${names.length - 1} more`;
}

/** `spec.stages[0].bake`. */
function dotted(path: Path): string {
  return path.map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`)).join("");
}
