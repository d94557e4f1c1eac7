import { GoInt, type GoValue, TemplateError, UnsupportedError } from "./value.ts";

/** Argo CD's `normalize`: what a Kubernetes name may hold, at most 253 characters. */
export function normaliseName(name: string): string {
  const replaced = [...name.toLowerCase()].map((char) => (/[-a-z0-9.]/.test(char) ? char : "-")).join("");
  return replaced.slice(0, 253).replace(/^[-.]+|[-.]+$/g, "");
}

/**
 * Argo CD's `slugify [maxSize [smartTruncate]] name`: 50 characters by default, cut after the last whole word. The name
 * is normalised first, so only ASCII is left to make a slug of.
 */
export function slugify(args: readonly GoValue[]): string {
  const name = args.at(-1) ?? "";
  const [size, smart] = args.slice(0, -1);
  if (typeof name !== "string") throw new TemplateError("error calling slugify: the last argument must be text");
  if (size !== undefined && !(size instanceof GoInt && size.kind === "int"))
    throw new TemplateError("error calling slugify: the first of several arguments must be an integer");
  if (smart !== undefined && typeof smart !== "boolean")
    throw new TemplateError("error calling slugify: the second of three arguments must be true or false");
  if (args.length > 3) throw new UnsupportedError("slugify", "slugify with more than three arguments is not supported");
  const limit = size === undefined ? 50 : size.value;
  if (limit < 0) throw new TemplateError("error calling slugify: the size must not be negative");
  const base = normaliseName(name);
  const cut = smart === false && base.length >= limit ? base.slice(0, limit) : base;
  const slug = cut
    .replace(/[^a-z0-9_-]/g, "-")
    .replace(/-+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "");
  return smart === false || limit === 0 ? slug : smartCut(slug, limit);
}

function smartCut(slug: string, limit: number): string {
  if (slug.length <= limit) return slug;
  const dash = slug.lastIndexOf("-", limit);
  return slug.slice(0, dash === -1 ? limit : dash);
}
