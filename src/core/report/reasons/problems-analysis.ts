import { TEMPLATES_FOLDER } from "../../analysis/repo-templates.ts";
import type { ProblemData } from "../../reasons/problem.ts";
import type { AnalysisProblems } from "../../reasons/problems-analysis.ts";
import { didYouMean, type ProblemEntries } from "./problem-entry.ts";

/** Analyses of a rollout, and the templates they are made from. */
export const ANALYSIS_PROBLEMS: ProblemEntries<AnalysisProblems> = {
  ANALYSIS_ROLLING: {
    says: () => "a rolling stage has no batch that is confirmed as a whole, so nothing can be measured AfterBatch",
    hint: "write when: [Background] or [AfterStage], or batching: Fixed",
  },
  ANALYSIS_ARG: { says: badArg, hint: badArgHint },
  ANALYSIS_TEMPLATE: {
    says: (r) =>
      r.perhaps === true
        ? `${badTemplate(r)} in this repo: the engine argo-rollouts would look for it in its cluster, the builtin one refuses it`
        : badTemplate(r),
    hint: (r) => {
      if (r.kind === "NoFile") return "add it, or correct its name";
      if (r.kind === "Together") return "correct the names of spec.templates";
      return didYouMean(r.near, r.known.length === 0 ? `put it below ${TEMPLATES_FOLDER}` : `there are ${r.known.slice(0, 5).join(", ")}`);
    },
  },
  ANALYSIS_VALUE: {
    says: (r) => r.said,
    hint: (r) =>
      r.kind === "Rule"
        ? "correct the template's rule, or remove it"
        : "docs/analysis.md says what the limits mean; Argo Rollouts refuses this, too",
  },
  ANALYSIS_EMPTY: { says: () => "the template measures nothing", hint: "add spec.metrics" },
  ANALYSIS_DUPLICATE: { says: (r) => `two metrics are called ${r.name}`, hint: "give each its own name" },
  ANALYSIS_UNKNOWN_ARG: {
    says: (r) => `args.${r.name} is not declared`,
    hint: (r) => (r.near === undefined ? "declare it in spec.args" : `did you mean args.${r.near}?`),
  },
  ANALYSIS_PROVIDER: {
    says: (r) => `${r.kind === "Sigv4" ? "sigv4" : `the provider ${r.provider}`} needs the argo-rollouts engine`,
    hint: (r) =>
      r.kind === "Sigv4"
        ? "use basicAuth, oauth2 or a header with a secret argument"
        : `the builtin engine has ${r.known.join(", ")}; install Argo Rollouts' controller where this analysis is to run`,
  },
  ANALYSIS_CONDITION: {
    says: (r) => `${r.field}: ${r.said}`,
    hint: "conditions are expr-lang over `result`; docs/analysis.md lists what the builtin engine has",
  },
  ANALYSIS_JSONPATH: { says: (r) => r.said, hint: "write one path, such as {$.data.ok}" },
  ANALYSIS_SECRET: {
    says: (r) => `the argument ${r.name} wants the secret ${r.secret}, which is not there or not allowed`,
    hint: "`analysis.secrets` of the server says which may be used",
  },
  ANALYSIS_ENDLESS: {
    says: (r) => `metric ${r.metric} has an interval and no count, so it never ends by itself`,
    hint: (r) =>
      `give it a count such as 3, or ${r.ofStep ? "measure it beside the stage or its bake instead" : "run it with when: [Background], or after batches that bake"}`,
  },
};

function badArg(r: ProblemData<"ANALYSIS_ARG">): string {
  switch (r.kind) {
    case "Twice":
      return `the argument ${r.name} is given twice`;
    case "NoValue":
      return `the argument ${r.name} has no value`;
    case "Unknown":
      return `the templates have no argument called ${r.name}`;
    case "Param":
      return `{{ ${r.variable} }} cannot be an analysis's argument`;
    case "OfCluster":
      return `{{ ${r.variable} }} stands for a cluster of the batch, and ${r.whole.join(", ")} is of no batch`;
  }
}

function badArgHint(r: ProblemData<"ANALYSIS_ARG">): string {
  switch (r.kind) {
    case "Twice":
      return "keep one";
    case "NoValue":
      return "give it one under args";
    case "Unknown":
      return didYouMean(r.near, `they declare ${r.known.join(", ") || "none"}`);
    case "Param":
      return "parameters of the ApplicationSet are not known during a run; cluster.labels are";
    case "OfCluster":
      return "measure AfterBatch, or give the argument a value of its own";
  }
}

function badTemplate(r: ProblemData<"ANALYSIS_TEMPLATE">): string {
  if (r.kind === "NoFile") return `the file ${r.name} is not there`;
  return r.kind === "Together" ? r.said : `there is no ${r.templateKind} called ${r.name}`;
}
