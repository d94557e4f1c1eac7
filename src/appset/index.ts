export { compareRenders, type RenderDifference } from "./compare.ts";
export { type NormalSpec, normaliseSpec, sourceOf } from "./normalise-spec.ts";
export { render } from "./render.ts";
export type {
  AppSetCluster,
  ParamSet,
  RenderContext,
  RenderedApplication,
  RenderedGenerator,
  RenderProblem,
  RenderProblemCode,
  RenderResult,
  RepoSnapshot,
} from "./types.ts";
export { readYamlDocuments, type YamlDocument } from "./yaml-read.ts";
