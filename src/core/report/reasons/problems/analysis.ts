import { TEMPLATES_FOLDER } from "../../../analysis/repo-templates.ts";
import type { AnalysisProblems } from "../../../reasons/problems/analysis.ts";
import type { ProblemData } from "../../../reasons/problems/problem.ts";
import { sayExpression } from "../analysis.ts";
import { didYouMean, problemsOf } from "./entry.ts";

/** Analyses of a rollout, and the templates they are made from. */
export const ANALYSIS_PROBLEMS = problemsOf<AnalysisProblems>()({
  ANALYSIS_ROLLING: {
    says: "a rolling stage has no batch that becomes healthy as a whole, so nothing can be measured AfterBatch",
    hint: "write when: [Background] or [AfterStage], or batching: Fixed",
    means: "`AfterBatch` in a rolling stage, which has no batch that becomes healthy as a whole",
  },
  ANALYSIS_ARG: {
    says: {
      kind: {
        Twice: "the argument {name} is given twice",
        NoValue: "the argument {name} has no value",
        Unknown: "the templates have no argument called {name}",
        Param: ({ variable }) => `{{ ${variable} }} cannot be an analysis's argument`,
        Vague: "{{ {variable} }} may be several on one cluster",
        OfCluster: ({ variable, whole }) => `{{ ${variable} }} stands for a cluster of the batch, and ${whole.join(", ")} is of no batch`,
      },
    },
    hint: {
      kind: {
        Twice: "keep one",
        NoValue: "give it one under args",
        Unknown: ({ near, known }) =>
          didYouMean(near, known.length === 0 ? "remove it: they declare none" : `name one that they declare: ${known.join(", ")}`),
        Param: ({ variable }) =>
          variable.startsWith("params")
            ? "use cluster.labels: parameters of the ApplicationSet are not known during a run"
            : "use cluster.labels or application.name: it has no value during a run",
        Vague: "set targetBy: {needs}, or use cluster.labels",
        OfCluster: "measure AfterBatch, or give the argument a value of its own",
      },
    },
    means:
      "an argument of an analysis that its templates do not have, that has no value, that stands there twice, or that names a cluster where there is no batch",
    todo: "use the name that the hint says, or `when: [AfterBatch]`",
  },
  ANALYSIS_TEMPLATE: {
    says: (r) =>
      r.perhaps === true
        ? `${badTemplate(r)} in this repo: the engine argo-rollouts would look for it in its cluster, the builtin one refuses it`
        : badTemplate(r),
    hint: (r) => {
      if (r.kind === "NoFile") return "add it, or correct its name";
      if (r.kind === "Nothing") return "add spec.metrics";
      if (r.kind !== "None") return r.kind === "Unreadable" ? "correct it there" : "correct the names of spec.templates";
      return didYouMean(
        r.near,
        r.known.length === 0 ? `put it below ${TEMPLATES_FOLDER}` : `name one that is there: ${r.known.slice(0, 5).join(", ")}`,
      );
    },
    means:
      "there is no such template, two of them have a metric of one name, or they name each other in a circle; a missing one is a warning of `lint`, since the engine argo-rollouts looks for it in its cluster",
    todo: "put it into `analysis/`, or correct its name",
  },
  ANALYSIS_VALUE: {
    says: (r) => `${r.metric === undefined ? "" : `metric ${r.metric}: `}${badValue(r)}`,
    hint: (r) => {
      if (r.kind === "Namespace") return "remove it; `analysis.jobs` of the server's configuration gives each repository its namespace";
      if (r.kind === "Refused") return "correct the template";
      if (r.kind === "NoMetric" || r.kind === "BadPattern") return "correct the template's rule, or remove it";
      return "correct the limits: docs/analysis.md says what they mean, and Argo Rollouts refuses this, too";
    },
    means:
      "limits that cannot be, as Argo Rollouts judges them; a rule of `dryRun` or `measurementRetention` for no metric; a Job that names its namespace; or an AnalysisRun that Kubernetes refuses",
    todo: "correct it",
  },
  ANALYSIS_EMPTY: { says: "the template measures nothing", hint: "add spec.metrics", means: "a template without metrics" },
  ANALYSIS_DUPLICATE: { says: "two metrics are called {name}", hint: "give each its own name", means: "two metrics of one name" },
  ANALYSIS_UNKNOWN_ARG: {
    says: "[metric {metric}: ]args.{name} is not declared",
    hint: "[did you mean args.{near}?|declare it in spec.args]",
    means: "`{{ args.X }}` that the template does not declare",
    todo: "declare it in `spec.args`, or correct it",
  },
  ANALYSIS_PROVIDER: {
    says: { kind: { Sigv4: "sigv4 needs the argo-rollouts engine", Provider: "the provider {provider} needs the argo-rollouts engine" } },
    hint: {
      kind: {
        Sigv4: "use basicAuth, oauth2 or a header with a secret argument",
        Provider: "use one that the builtin engine has ({known}), or install Argo Rollouts' controller where this analysis is to run",
      },
    },
    means: "a provider that the builtin engine does not have; a warning of `lint`, which does not know the server's engine",
    todo: "use [the engine](analysis.md#the-engines) argo-rollouts",
  },
  ANALYSIS_CONDITION: {
    says: (r) => `${r.metric === undefined ? "" : `metric ${r.metric}: `}${r.field}: ${sayExpression(r.because)}`,
    hint: "write it in expr-lang over `result`; docs/analysis.md lists what the builtin engine has",
    means: "a condition that the builtin engine cannot read",
    todo: "use [what it has](analysis.md#the-engines)",
  },
  ANALYSIS_JSONPATH: {
    says: (r) => sayExpression(r.because),
    hint: "write one path, such as {$.data.ok}",
    means: "a path that is none, or more than one",
  },
  ANALYSIS_SECRET: {
    says: "the argument {name} wants the secret {secret}, which does not exist or is not allowed",
    hint: "have the operator list it under `analysis.secrets` of the server's configuration",
    means: "a secret that does not exist, or that this repository may not use",
  },
  ANALYSIS_ENDLESS: {
    says: "metric {metric} has an interval and no count, so it never ends by itself",
    hint: (r) =>
      `give it a count such as 3, or ${r.ofStep ? "measure it beside the stage or its bake instead" : "run it with when: [Background], or after batches that bake"}`,
    means: "an interval and no count, where nothing stops it",
    todo: "a `count`; or `when: [Background]`; or a `bake`",
  },
});

function badTemplate(r: ProblemData<"ANALYSIS_TEMPLATE">): string {
  switch (r.kind) {
    case "NoFile":
      return `the file ${r.name} does not exist`;
    case "None":
      return `there is no ${r.templateKind} called ${r.name}`;
    case "SameMetric":
      return `two of the templates have a metric called ${r.name}`;
    case "Nothing":
      return "the templates measure nothing";
    case "Circle":
      return `templates name each other in a circle: ${r.names.join(" → ")}`;
    case "Unreadable":
      return `the ${r.templateKind} ${r.name} of the cluster cannot be read: ${r.said}`;
  }
}

function badValue(r: ProblemData<"ANALYSIS_VALUE">): string {
  switch (r.kind) {
    case "NotWhole":
      return `${r.field} is ${r.given}, and wants a whole number from ${r.least}`;
    case "Undecided":
      return "failureLimit is -1 and consecutiveSuccessLimit 0, so nothing would decide";
    case "FewerThanLimits":
      return `count is ${r.count}, and failureLimit + consecutiveSuccessLimit are ${r.least}`;
    case "FewerThanInconclusive":
      return `count is ${r.count}, and inconclusiveLimit ${r.limit}`;
    case "NoInterval":
      return `count is ${r.count}, and there is no interval`;
    case "NoMetric":
      return `${r.rule}: no metric is called ${r.pattern}; there are ${r.known.join(", ")}`;
    case "BadPattern":
      return `${r.rule}: ${r.said ?? `a pattern has at most ${r.most} characters`}`;
    case "Namespace":
      return `a Job names the namespace ${r.namespace}; where a repository's Jobs run is the server's to say`;
    case "Refused":
      return `the AnalysisRun is refused: ${r.said}`;
  }
}
