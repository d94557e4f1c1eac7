import { type BracePart, splitBraces } from "../base/braces.ts";
import { ownKey } from "./problem.ts";
import type { ParamSet } from "./types.ts";

/** The template has an opening `{{` that nothing closes. */
export class UnclosedTag extends Error {
  override name = "UnclosedTag";
}

/**
 * Argo CD's default templates: `{{key}}` becomes the parameter's text; a tag that names no text parameter stays as it is
 * written. Braces on different lines only do not make a template.
 * @throws UnclosedTag
 */
export function compileFastTemplate(source: string): (params: ParamSet) => string {
  if (!/\{\{.*\}\}/.test(source)) return () => source;
  const parts = split(source);
  return (params) => parts.map((part) => ("text" in part ? part.text : fill(part.tag, params))).join("");
}

function split(source: string): BracePart[] {
  const parts = splitBraces(source);
  if (parts !== undefined) return parts;
  const open = source.indexOf("{{", source.lastIndexOf("}}") + 1);
  throw new UnclosedTag(`no "}}" closes the tag ${JSON.stringify(source.slice(open, open + 40))}`);
}

function fill(tag: string, params: ParamSet): string {
  const key = tag.trim();
  const value = key === "" ? undefined : ownKey(params, key);
  return typeof value === "string" ? value : `{{${tag}}}`;
}
