/** Renders the texts of one ApplicationSet, by Go's templates or by Argo CD's default ones. */
import { splitBraces } from "../base/braces.ts";
import { spendOfPass } from "../base/pass.ts";
import { compileGoTemplate, type MissingKey, TemplateError } from "../gotemplate/index.ts";
import type { GoValue } from "../gotemplate/value.ts";
import type { GoFailure, GoLack } from "../reasons/templates.ts";
import { failure, ownKey, setKey } from "./problem.ts";
import type { ParamSet, RenderContext } from "./types.ts";

/** What every generator of one ApplicationSet works with. */
export interface Environment {
  context: RenderContext;
  templating: Templating;
  /** `spec.applyNestedSelectors`. */
  nestedSelectors: boolean;
  /** Some template names labels or annotations of clusters. */
  readsMetadata(): boolean;
}

/** Renders the text of one ApplicationSet; compiled templates are kept for as long as it lives. */
export interface Templating {
  readonly go: boolean;
  /** @throws RenderFailure naming `where()` */
  text(source: string, params: ParamSet, where: () => string): string;
  /** As `text`, but one that names a parameter there is not stays as it is written. */
  known(source: string, params: ParamSet, where: () => string): string;
}

/** What a template costs before it does anything; a value of a tree costs one. */
const STEPS_A_TEXT = 2;

/** @param options `spec.goTemplateOptions` */
export function createTemplating(go: boolean, options: readonly string[]): Templating {
  const compiled = new Map<string, Compiled>();
  const missingKey = missingKeyOf(go ? options : []);
  function text(source: string, params: ParamSet, where: () => string, missing: MissingKey): string {
    if (!source.includes("{{")) return source;
    spendOfPass(STEPS_A_TEXT);
    let run = compiled.get(source);
    if (run === undefined) {
      run = go ? compileGo(source) : compileFastTemplate(source, where);
      compiled.set(source, run);
    }
    return run(params, missing);
  }
  return {
    go,
    text(source, params, where) {
      try {
        return text(source, params, where, missingKey);
      } catch (error) {
        throw explained(error, source, where());
      }
    },
    known(source, params, where) {
      try {
        return text(source, params, where, "error");
      } catch (error) {
        if (error instanceof TemplateError && isMissing(error)) return source;
        throw explained(error, source, where());
      }
    },
  };
}

/** By the messages of text/template that Argo CD looks for. */
function isMissing({ reason }: TemplateError): boolean {
  return reason.code === "GO_NO_FIELD" || (reason.code === "GO_NO_KEY" && reason.of === "map");
}

type Compiled = (params: ParamSet, missingKey: MissingKey) => string;

function compileGo(source: string): Compiled {
  const template = compileGoTemplate(source);
  return (params, missingKey) => template(params as GoValue, missingKey);
}

const OPTIONS: Record<string, MissingKey> = {
  "missingkey=default": "default",
  "missingkey=invalid": "default",
  "missingkey=zero": "zero",
  "missingkey=error": "error",
};

function missingKeyOf(options: readonly string[]): MissingKey {
  let chosen: MissingKey = "default";
  options.forEach((given, index) => {
    const known = Object.hasOwn(OPTIONS, given) ? OPTIONS[given] : undefined;
    if (known === undefined)
      throw failure("INVALID", `spec.goTemplateOptions[${index}]`, { kind: "UnknownOption", given, known: Object.keys(OPTIONS) });
    chosen = known;
  });
  return chosen;
}

function explained(error: unknown, source: string, where: string): unknown {
  if (!(error instanceof TemplateError)) return error;
  const template = source.length > 100 ? `${source.slice(0, 100)}…` : source;
  if (error.lacks) return failure("UNSUPPORTED_FUNCTION", where, { template, because: error.reason as GoLack });
  return failure("TEMPLATE_ERROR", where, { kind: "Go", template, because: error.reason as GoFailure });
}

/**
 * Argo CD's default templates: `{{key}}` becomes the parameter's text; a tag that names no text parameter stays as it is
 * written. Braces on different lines only do not make a template.
 */
function compileFastTemplate(source: string, where: () => string): Compiled {
  if (!source.split(/[\r\n\u2028\u2029]/).some(hasTag)) return () => source;
  const parts = splitBraces(source);
  if (parts === undefined) {
    const open = source.indexOf("{{", source.lastIndexOf("}}") + 1);
    throw failure("TEMPLATE_ERROR", where(), { kind: "Unclosed", tag: source.slice(open, open + 40) });
  }
  return (params) => parts.map((part) => ("text" in part ? part.text : fill(part.tag, params))).join("");
}

function hasTag(line: string): boolean {
  const open = line.indexOf("{{");
  return open !== -1 && line.includes("}}", open + 2);
}

function fill(tag: string, params: ParamSet): string {
  const key = tag.trim();
  const value = key === "" ? undefined : ownKey(params, key);
  return typeof value === "string" ? value : `{{${tag}}}`;
}

interface Place {
  parent: Place | undefined;
  key: string | number;
}

/**
 * Renders every text of a tree, keys too; keys that hold null go, as they do in Argo CD. Below the top, what holds no template is the tree's own:
 * it is one object for all Applications of a set, and not to be written to.
 */
export function renderTree(templating: Templating, value: unknown, params: ParamSet, where: string): unknown {
  return renderNode(templating, value, params, { parent: undefined, key: where });
}

function renderNode(templating: Templating, value: unknown, params: ParamSet, place: Place): unknown {
  spendOfPass(1);
  if (typeof value !== "object" || value === null) return renderLeaf(templating, value, params, place.parent, place.key);
  if (place.parent?.parent !== undefined && isPlain(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => renderNode(templating, item, params, { parent: place, key: index }));
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item === null || item === undefined) continue;
    const name = renderLeaf(templating, key, params, place, key) as string;
    setKey(result, name, renderNode(templating, item, params, { parent: place, key }));
  }
  return result;
}

/** Most texts are no templates: those make nothing that names where they stand. */
function renderLeaf(templating: Templating, value: unknown, params: ParamSet, parent: Place | undefined, key: string | number): unknown {
  if (typeof value !== "string" || !value.includes("{{")) return value;
  return templating.text(value, params, () => written({ parent, key }));
}

function written(place: Place): string {
  if (place.parent === undefined) return String(place.key);
  const parent = written(place.parent);
  if (typeof place.key === "number") return `${parent}[${place.key}]`;
  return /^[\w-]+$/.test(place.key) ? `${parent}.${place.key}` : `${parent}[${JSON.stringify(place.key)}]`;
}

const plain = new WeakMap<object, boolean>();

/** Whether a part of a template comes out of rendering as it is. */
function isPlain(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("{{");
  if (typeof value !== "object" || value === null) return true;
  const known = plain.get(value);
  if (known !== undefined) return known;
  const found = Array.isArray(value)
    ? value.every(isPlain)
    : Object.entries(value).every(([key, item]) => item !== null && item !== undefined && isPlain(key) && isPlain(item));
  plain.set(value, found);
  return found;
}
