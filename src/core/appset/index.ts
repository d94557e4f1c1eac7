export { readYamlDocuments, type YamlDocument } from "../base/yaml-read.ts";
export { compareRenders, normaliseSpec, sourceOf } from "./compare.ts";
export { endless, render } from "./render.ts";
export type {
  AppSetCluster,
  ParamSet,
  RenderContext,
  RenderedApplication,
  RenderedGenerator,
  RenderResult,
} from "./types.ts";
