import { compileGoTemplate, type MissingKey, TemplateError } from "../gotemplate/index.ts";
import type { GoValue } from "../gotemplate/value.ts";
import { compileFastTemplate, UnclosedTag } from "./fasttemplate.ts";
import { failure, RenderFailure, setKey } from "./problem.ts";
import type { ParamSet } from "./types.ts";

/** Renders the text of one ApplicationSet; compiled templates are kept for as long as it lives. */
export interface Templating {
  readonly go: boolean;
  /** @throws RenderFailure naming `where()` */
  text(source: string, params: ParamSet, where: () => string): string;
}

/** @param options `spec.goTemplateOptions` */
export function createTemplating(go: boolean, options: readonly string[]): Templating {
  const compiled = new Map<string, (params: ParamSet) => string>();
  const missingKey = missingKeyOf(go ? options : []);
  return {
    go,
    text(source, params, where) {
      if (!source.includes("{{")) return source;
      try {
        let run = compiled.get(source);
        if (run === undefined) {
          run = go ? compileGo(source, missingKey) : compileFastTemplate(source);
          compiled.set(source, run);
        }
        return run(params);
      } catch (error) {
        throw explained(error, source, where());
      }
    },
  };
}

function compileGo(source: string, missingKey: MissingKey): (params: ParamSet) => string {
  const template = compileGoTemplate(source);
  return (params) => template(params as GoValue, missingKey);
}

const OPTIONS: Record<string, MissingKey> = {
  "missingkey=default": "default",
  "missingkey=invalid": "default",
  "missingkey=zero": "zero",
  "missingkey=error": "error",
};

function missingKeyOf(options: readonly string[]): MissingKey {
  let chosen: MissingKey = "default";
  options.forEach((option, index) => {
    const known = Object.hasOwn(OPTIONS, option) ? OPTIONS[option] : undefined;
    if (known === undefined) {
      throw failure(
        "INVALID",
        `spec.goTemplateOptions[${index}]`,
        `${JSON.stringify(option)} is no option of Go templates`,
        `use one of ${Object.keys(OPTIONS).join(", ")}`,
      );
    }
    chosen = known;
  });
  return chosen;
}

function explained(error: unknown, source: string, where: string): unknown {
  if (error instanceof TemplateError) {
    const code = error.lacks ? "UNSUPPORTED_FUNCTION" : "TEMPLATE_ERROR";
    return new RenderFailure([{ code, where, template: source.length > 100 ? `${source.slice(0, 100)}…` : source, because: error.reason }]);
  }
  if (error instanceof UnclosedTag) return failure("TEMPLATE_ERROR", where, error.message, "close the tag with }}");
  return error;
}

interface Place {
  parent: Place | undefined;
  key: string | number;
}

/** Renders every text of a tree, keys too; keys that hold null go, as they do in Argo CD. Nothing of the tree is shared. */
export function renderTree(templating: Templating, value: unknown, params: ParamSet, where: string): unknown {
  return renderNode(templating, value, params, { parent: undefined, key: where });
}

function renderNode(templating: Templating, value: unknown, params: ParamSet, place: Place): unknown {
  if (typeof value === "string") return templating.text(value, params, () => written(place));
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => renderNode(templating, item, params, { parent: place, key: index }));
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === null || item === undefined) continue;
    const inner = { parent: place, key };
    setKey(
      result,
      templating.text(key, params, () => written(inner)),
      renderNode(templating, item, params, inner),
    );
  }
  return result;
}

function written(place: Place): string {
  if (place.parent === undefined) return String(place.key);
  const parent = written(place.parent);
  if (typeof place.key === "number") return `${parent}[${place.key}]`;
  return /^[\w-]+$/.test(place.key) ? `${parent}.${place.key}` : `${parent}[${JSON.stringify(place.key)}]`;
}
