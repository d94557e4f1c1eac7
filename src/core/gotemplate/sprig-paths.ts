import { type FunctionTable, fn, text } from "./functions.ts";
import { normaliseName, slugify } from "./names.ts";
import { baseName, cleanPath, dirName } from "./paths.ts";
import { SEMVER_FUNCTIONS } from "./sprig-semver.ts";

function extension(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot === -1 ? "" : name.slice(dot);
}

/** Go's package path, Argo CD's own name functions, and versions. */
export const NAME_FUNCTIONS: FunctionTable = {
  base: fn("string", (a) => baseName(text(a, 0))),
  dir: fn("string", (a) => dirName(text(a, 0))),
  clean: fn("string", (a) => cleanPath(text(a, 0))),
  ext: fn("string", (a) => extension(text(a, 0))),
  isAbs: fn("string", (a) => text(a, 0).startsWith("/")),
  normalize: fn("string", (a) => normaliseName(text(a, 0))),
  slugify: fn("", slugify, "any"),
  ...SEMVER_FUNCTIONS,
};
