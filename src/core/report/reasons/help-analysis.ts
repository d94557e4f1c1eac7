import type { AnalysisProblems } from "../../reasons/problems-analysis.ts";
import type { Help } from "./problem-entry.ts";

/** Analyses: why each code is told, and what to do. */
export const ANALYSIS_HELP: { readonly [Code in keyof AnalysisProblems]: Help } = {
  ANALYSIS_ROLLING: {
    means: "`AfterBatch` in a rolling stage, which has no batch that is confirmed as a whole",
    todo: "`when: [Background]` or `[AfterStage]`, or `batching: Fixed`",
  },
  ANALYSIS_ARG: {
    means:
      "an argument of an analysis that its templates do not have, that has no value, that stands there twice, or that names a cluster where there is no batch",
    todo: "the name that the hint says; or `when: [AfterBatch]`",
  },
  ANALYSIS_TEMPLATE: {
    means:
      "there is no such template, two of them have a metric of one name, or they name each other in a circle; a missing one is a warning of `lint`, since the engine argo-rollouts looks for it in its cluster",
    todo: "put it into `analysis/`, or correct its name",
  },
  ANALYSIS_VALUE: {
    means:
      "limits that cannot be, as Argo Rollouts judges them; a rule of `dryRun` or `measurementRetention` for no metric; or an AnalysisRun that Kubernetes refuses",
    todo: "correct it",
  },
  ANALYSIS_EMPTY: { means: "a template without metrics", todo: "add `spec.metrics`" },
  ANALYSIS_DUPLICATE: { means: "two metrics of one name", todo: "give each its own" },
  ANALYSIS_UNKNOWN_ARG: { means: "`{{ args.X }}` that the template does not declare", todo: "declare it in `spec.args`, or correct it" },
  ANALYSIS_PROVIDER: {
    means: "a provider that the builtin engine does not have; a warning of `lint`, which does not know the server's engine",
    todo: "[the engine](analysis.md#the-engines) argo-rollouts",
  },
  ANALYSIS_CONDITION: { means: "a condition that the builtin engine cannot read", todo: "[what it has](analysis.md#the-engines)" },
  ANALYSIS_JSONPATH: { means: "a path that is none, or more than one", todo: "one path, such as `{$.data.ok}`" },
  ANALYSIS_SECRET: { means: "a secret that is not there, or that this repository may not use", todo: "`analysis.secrets` of the server" },
  ANALYSIS_ENDLESS: { means: "an interval and no count, where nothing stops it", todo: "a `count`; or `when: [Background]`; or a `bake`" },
};
