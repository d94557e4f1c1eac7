import type { NoData } from "../../base/reason.ts";
import type { ExpressionReason, PathReason } from "../analysis.ts";

/** What is wrong with an analysis: in a rollout, in a template, or between the two. */
export interface AnalysisProblems {
  ANALYSIS_ROLLING: NoData;
  ANALYSIS_ARG:
    | { kind: "Twice" | "NoValue"; name: string }
    | { kind: "Param"; variable: string }
    | { kind: "Vague"; variable: string; needs: "application" | "namespace" }
    | { kind: "OfCluster"; variable: string; whole: readonly string[] }
    | { kind: "Unknown"; name: string; known: readonly string[]; near?: string | undefined };
  /** `perhaps`: nobody says which engine the server has, and the other one would look in its cluster. */
  ANALYSIS_TEMPLATE: (
    | { kind: "NoFile"; name: string }
    | { kind: "None"; templateKind: string; name: string; known: readonly string[]; near?: string | undefined }
    | { kind: "SameMetric"; name: string }
    | { kind: "Nothing" }
    | { kind: "Circle"; names: readonly string[] }
    | { kind: "Unreadable"; templateKind: string; name: string; said: string }
  ) & { perhaps?: true };
  /** Limits of a `metric`, which a problem with a place need not name; a `rule` that names metrics by a pattern; the AnalysisRun as a whole. */
  ANALYSIS_VALUE: (
    | { kind: "NotWhole"; field: string; given: string; least: number }
    | { kind: "Undecided" }
    | { kind: "FewerThanLimits"; count: number; least: number }
    | { kind: "FewerThanInconclusive"; count: number; limit: number }
    | { kind: "NoInterval"; count: number }
    | { kind: "NoMetric"; rule: string; pattern: string; known: readonly string[] }
    | { kind: "BadPattern"; rule: string; said: string | undefined; most: number }
    | { kind: "Namespace"; namespace: string }
    | { kind: "Refused"; said: string }
  ) & { metric?: string };
  ANALYSIS_EMPTY: NoData;
  ANALYSIS_DUPLICATE: { name: string };
  ANALYSIS_UNKNOWN_ARG: { name: string; near?: string | undefined; metric?: string };
  ANALYSIS_PROVIDER: { kind: "Provider"; provider: string; known: readonly string[] } | { kind: "Sigv4" };
  ANALYSIS_CONDITION: { field: string; because: ExpressionReason | PathReason; metric?: string };
  ANALYSIS_JSONPATH: { because: ExpressionReason | PathReason };
  ANALYSIS_SECRET: { name: string; secret: string };
  ANALYSIS_ENDLESS: { metric: string; ofStep: boolean };
}
