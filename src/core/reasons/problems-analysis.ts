import type { NoData } from "../base/reason.ts";

/** What is wrong with an analysis: in a rollout, in a template, or between the two. */
export interface AnalysisProblems {
  ANALYSIS_ROLLING: NoData;
  ANALYSIS_ARG:
    | { kind: "Twice" | "NoValue"; name: string }
    | { kind: "Param"; variable: string }
    | { kind: "OfCluster"; variable: string; whole: readonly string[] }
    | { kind: "Unknown"; name: string; known: readonly string[]; near?: string | undefined };
  /** `perhaps`: nobody says which engine the server has, and the other one would look in its cluster. */
  ANALYSIS_TEMPLATE: (
    | { kind: "NoFile"; name: string }
    | { kind: "None"; templateKind: string; name: string; known: readonly string[]; near?: string | undefined }
    | { kind: "Together"; said: string }
  ) & { perhaps?: true };
  ANALYSIS_VALUE: { kind: "Limits" | "Rule"; said: string };
  ANALYSIS_EMPTY: NoData;
  ANALYSIS_DUPLICATE: { name: string };
  ANALYSIS_UNKNOWN_ARG: { name: string; near?: string | undefined };
  ANALYSIS_PROVIDER: { kind: "Provider"; provider: string; known: readonly string[] } | { kind: "Sigv4" };
  ANALYSIS_CONDITION: { field: string; said: string };
  ANALYSIS_JSONPATH: { said: string };
  ANALYSIS_SECRET: { name: string; secret: string };
  ANALYSIS_ENDLESS: { metric: string; ofStep: boolean };
}
