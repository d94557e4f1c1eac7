export const ANALYSIS_WHEN = ["BeforeStage", "AfterBatch", "AfterStage", "Background"] as const;

export type AnalysisWhen = (typeof ANALYSIS_WHEN)[number];

/** `analysis` of a stage, with its defaults filled in. */
export interface StageAnalysis {
  templates: TemplateRef[];
  /** Values are templates, as in pins. */
  args: AnalysisArg[];
  when: AnalysisWhen[];
}

export interface TemplateRef {
  templateName: string;
  clusterScope: boolean;
  /** Of the config repo. Absent: any below `analysis/`. */
  file?: string;
}

export interface AnalysisArg {
  name: string;
  value: string;
}

export type HookWhen = "before" | "after" | "onFailure";

export interface StageHook {
  url: string;
  timeoutMs: number;
}

/** `hooks` of a stage. */
export type StageHooks = Record<HookWhen, StageHook[]>;
