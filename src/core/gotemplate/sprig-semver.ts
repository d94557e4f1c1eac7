import { Range, SemVer } from "semver";
import { type FunctionTable, fn, text } from "./functions.ts";
import { GoInt, GoVersion, TemplateError, UnsupportedError } from "./value.ts";

const VERSION = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** sprig takes `v1`, `1.2` and `1.2.3-rc.1+build` alike; parts that are missing are 0. */
function parse(version: string): SemVer {
  const match = VERSION.exec(version);
  if (match === null) throw new TemplateError(`error calling semver: Invalid Semantic Version: ${JSON.stringify(version)}`);
  const [, major = "0", minor = "0", patch = "0", prerelease = "", build = ""] = match;
  try {
    return new SemVer(`${major}.${minor}.${patch}${prerelease}${build}`);
  } catch {
    throw new TemplateError(`error calling semver: Invalid Semantic Version: ${JSON.stringify(version)}`);
  }
}

function version(source: string): GoVersion {
  const parsed = parse(source);
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
  if (source.split("||").some((alternative) => alternative.trim() === ""))
    throw new TemplateError(`error calling semverCompare: improper constraint: ${source}`);
  const alternatives = source.split("||").map((alternative) => {
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
    throw new TemplateError(`error calling semverCompare: improper constraint: ${source}`);
  }
}

function comparator(part: string): string {
  const match = COMPARATOR.exec(part);
  if (match === null) throw new UnsupportedError("semverCompare", `semverCompare does not support the constraint ${JSON.stringify(part)}`);
  const operator = match[1] ?? "";
  return `${ALIASES[operator] ?? operator}${part.slice(operator.length)}`;
}

function compare(wanted: string, given: string): boolean {
  const range = constraint(wanted);
  const parsed = parse(given);
  // The libraries differ in when a pre-release fits a range whose bounds name none of that very version.
  if (parsed.prerelease.length > 0 && wanted.includes("-"))
    throw new UnsupportedError("semverCompare", "semverCompare of a pre-release with a constraint that names one is not supported");
  return range.test(parsed);
}

export const SEMVER_FUNCTIONS: FunctionTable = {
  semver: fn("string", (a) => version(text(a, 0))),
  semverCompare: fn("string string", (a) => compare(text(a, 0), text(a, 1))),
};
