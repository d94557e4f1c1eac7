import { ownKey } from "./problem.ts";
import type { ParamSet } from "./types.ts";

type Part = { text: string } | { tag: string };

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

function split(source: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (;;) {
    const open = source.indexOf("{{", at);
    if (open === -1) {
      parts.push({ text: source.slice(at) });
      return parts;
    }
    const close = source.indexOf("}}", open + 2);
    if (close === -1) throw new UnclosedTag(`no "}}" closes the tag ${JSON.stringify(source.slice(open, open + 40))}`);
    parts.push({ text: source.slice(at, open) }, { tag: source.slice(open + 2, close) });
    at = close + 2;
  }
}

function fill(tag: string, params: ParamSet): string {
  const key = tag.trim();
  const value = key === "" ? undefined : ownKey(params, key);
  return typeof value === "string" ? value : `{{${tag}}}`;
}
