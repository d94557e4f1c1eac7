/** Sprig's functions of paths, names and versions: Go's package path, Argo CD's own name functions, and semver. */
import { Range, SemVer } from "semver";
import { cleanPath } from "../base/clean-path.ts";
import { type FunctionTable, fn } from "./functions.ts";
import { fails, GoInt, type GoValue, GoVersion } from "./value.ts";

/** Go's path.Base. */
export function baseName(path: string): string {
  if (path === "") return ".";
  const trimmed = path.replace(/(?<!\/)\/+$/, "");
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** Go's path.Dir: `.` for a file at the root. */
export function dirName(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf("/") + 1));
}

function extension(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot === -1 ? "" : name.slice(dot);
}

/** Argo CD's `normalize`: what a Kubernetes name may hold, at most 253 characters. */
export function normaliseName(name: string): string {
  const replaced = [...name.toLowerCase()].map((char) => (/[-a-z0-9.]/.test(char) ? char : "-")).join("");
  return replaced.slice(0, 253).replace(/^[-.]+|(?<![-.])[-.]+$/g, "");
}

/**
 * Argo CD's `slugify [maxSize [smartTruncate]] name`: 50 characters by default, cut after the last whole word. The name
 * is normalised first, so only ASCII is left to make a slug of.
 */
function slugify(...args: GoValue[]): string {
  const name = args.at(-1) ?? "";
  const [size, smart] = args.slice(0, -1);
  if (typeof name !== "string") throw fails("GO_SLUGIFY", { wrong: "text" });
  if (size !== undefined && !(size instanceof GoInt && size.kind === "int")) throw fails("GO_SLUGIFY", { wrong: "size" });
  if (smart !== undefined && typeof smart !== "boolean") throw fails("GO_SLUGIFY", { wrong: "smart" });
  if (args.length > 3) throw fails("LACKS_SLUGIFY");
  const limit = size === undefined ? 50 : size.value;
  if (limit < 0) throw fails("GO_SLUGIFY", { wrong: "negative" });
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

const VERSION = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** sprig takes `v1`, `1.2` and `1.2.3-rc.1+build` alike; parts that are missing are 0. */
function parseVersion(version: string): SemVer {
  const match = VERSION.exec(version);
  const [, major = "0", minor = "0", patch = "0", prerelease = "", build = ""] = match ?? [];
  try {
    if (match !== null) return new SemVer(`${major}.${minor}.${patch}${prerelease}${build}`);
  } catch {
    // Said below: a part of it is too large, or begins with a 0.
  }
  throw fails("GO_VERSION", { version });
}

function semver(source: string): GoVersion {
  const parsed = parseVersion(source);
  const build = parsed.build.join(".");
  return new GoVersion({
    Major: new GoInt(parsed.major, "int64"),
    Minor: new GoInt(parsed.minor, "int64"),
    Patch: new GoInt(parsed.patch, "int64"),
    Prerelease: parsed.prerelease.join("."),
    Metadata: build,
    Original: source,
    Text: build === "" ? parsed.version : `${parsed.version}+${build}`,
  });
}

const COMPARATOR = /^(=|==|<|>|<=|>=|=<|=>|~|~>|\^)?\s*v?(\d+|[xX*])(\.(\d+|[xX*]))?(\.(\d+|[xX*]))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const ALIASES: Record<string, string> = { "==": "=", "=<": "<=", "=>": ">=", "~>": "~" };

/** Constraints both libraries read alike: comparators joined by `,` or spaces, alternatives by `||`, hyphen ranges. */
function constraint(source: string): Range {
  const alternatives = source.split("||").map((alternative) => {
    if (alternative.trim() === "") throw fails("GO_CONSTRAINT", { constraint: source });
    const hyphen = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(alternative);
    if (hyphen !== null) return `${hyphen[1]} - ${hyphen[2]}`;
    return alternative
      .replace(/([<>=~^])\s+/g, "$1")
      .split(/[\s,]+/)
      .filter((part) => part !== "")
      .map(comparator)
      .join(" ");
  });
  try {
    return new Range(alternatives.join(" || "));
  } catch {
    throw fails("GO_CONSTRAINT", { constraint: source });
  }
}

function comparator(part: string): string {
  const match = COMPARATOR.exec(part);
  if (match === null) throw fails("LACKS_CONSTRAINT", { part });
  const operator = match[1] ?? "";
  return `${ALIASES[operator] ?? operator}${part.slice(operator.length)}`;
}

function semverCompare(wanted: string, given: string): boolean {
  const range = constraint(wanted);
  const parsed = parseVersion(given);
  // The libraries differ in when a pre-release fits a range whose bounds name none of that very version.
  if (parsed.prerelease.length > 0 && wanted.includes("-")) throw fails("LACKS_PRERELEASE");
  return range.test(parsed);
}

export const NAME_FUNCTIONS: FunctionTable = {
  base: fn("string", baseName),
  dir: fn("string", dirName),
  clean: fn("string", cleanPath),
  ext: fn("string", extension),
  isAbs: fn("string", (path) => path.startsWith("/")),
  normalize: fn("string", normaliseName),
  slugify: fn("any...", slugify),
  semver: fn("string", semver),
  semverCompare: fn("string string", semverCompare),
};
