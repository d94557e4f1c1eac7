export { readYamlDocuments, type YamlDocument } from "../base/yaml-read.ts";
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
} from "./types.ts";
