/** Why an ApplicationSet cannot be rendered: `core/appset/` tells it, and `core/report/reasons/render.ts` says it. */
import type { KindsOf, NoData, ReasonsOf } from "../base/reason.ts";
import type { GoFailure, GoLack } from "./templates.ts";

export interface RenderProblems {
  INVALID: KindsOf<InvalidKinds>;
  INVALID_NAME: KindsOf<NameKinds>;
  DUPLICATE_NAME: { name: string };
  /** Labels and annotations of clusters are needed, and their Secrets cannot be read. `selects`: by the generator's selector. */
  CLUSTERS_UNSEEN: { selects: boolean };
  NO_REPO: { repoURL: string; revision: string };
  PARAM_ERROR: KindsOf<ParamKinds>;
  TEMPLATE_ERROR: KindsOf<TemplateKinds>;
  UNSUPPORTED_FUNCTION: { template: string; because: GoLack };
  UNSUPPORTED_GENERATOR: { generator: "scmProvider" | "pullRequest" | "clusterDecisionResource" | "plugin" };
  UNSUPPORTED_PATCH: KindsOf<PatchKinds>;
}

/** Why a set, or a part of it, cannot be rendered. `where`: `spec.generators[0].matrix.generators[1].git`. */
export type RenderProblem = ReasonsOf<RenderProblems> & { readonly where: string };

interface Given {
  given: unknown;
}

interface Said {
  said: string;
}

/** What Argo CD would not take for an ApplicationSet. */
export interface InvalidKinds {
  NoSet: NoData;
  NoGenerators: NoData;
  NoTemplate: NoData;
  OptionsNoTexts: NoData;
  UnknownOption: Given & { known: readonly string[] };
  PatchNoText: NoData;
  TooDeep: NoData;
  Other: Said;
  NothingToCombine: NoData;
  MatrixOf: { generators: number };
  MergeOfOne: NoData;
  NoMergeKeys: NoData;
  GeneratorNoMap: { known: readonly string[] };
  NoGenerator: { known: readonly string[] };
  UnknownGenerator: { given: string; near: string | undefined; known: readonly string[] };
  FieldsNoMap: NoData;
  SeveralGenerators: { generators: readonly string[] };
  NestedTwice: NoData;
  GitOfNothing: NoData;
  NoRepoURL: NoData;
  NoPathList: NoData;
  NoPath: NoData;
  ElementsNoList: NoData;
  ElementNoMap: NoData;
  ElementsYamlNoText: NoData;
  ValueNoText: Given;
  NoText: Given;
  NoMap: Given;
  SourcesNoList: NoData;
  SelectorNoMap: NoData;
  LabelsNoMap: NoData;
  ExpressionsNoList: NoData;
  ValuesNoList: NoData;
  ValuesMissing: { operator: string };
  ValuesNeedless: { operator: string };
  UnknownOperator: Given;
  LabelValue: Given;
  LabelKey: Given;
}

/** Parameters and files of generators that cannot be used. */
export interface ParamKinds {
  BothGive: { key: string; mine: string; theirs: string };
  /** `dotted`: nested keys, which `goTemplate` cannot merge by. */
  KeysMissing: { keys: readonly string[]; dotted: boolean };
  KeysTwice: { key: string; dotted: boolean };
  TwoMaps: { key: string };
  OutsideRepo: { glob: string };
  BadGlob: { glob: string };
  Unreadable: { name: string; said: string | undefined };
  FileNotYaml: Said & { name: string };
  FileNoMap: { name: string };
  ValuesNoMap: NoData;
  TextsOnly: Given;
  NotYaml: Said;
  NoListOfMaps: NoData;
  ItemNoMap: { index: number };
}

export interface NameKinds {
  NoName: NoData;
  Parameter: Given;
  Characters: Given;
}

export interface TemplateKinds {
  /** `template`: what of it is shown. */
  Go: { template: string; because: GoFailure };
  Unclosed: { tag: string };
  PatchNotYaml: Said;
  PatchNoMap: NoData;
}

export interface PatchKinds {
  Directive: { directive: string };
  Raw: { field: string };
}
