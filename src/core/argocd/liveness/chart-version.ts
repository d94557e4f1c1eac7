import semver from "semver";

/**
 * Whether a version is in one of Helm's ranges: commas or blanks for *and*, `||` for *or*, `!=`, and prereleases where one of
 * the bounds of a group names one. npm's ranges, which do the rest, know neither.
 */
export function satisfies(version: string, range: string): boolean {
  const parsed = semver.parse(version, { loose: true });
  if (parsed === null) return false;
  return range.split("||").some((group) => inGroup(parsed, group));
}

function inGroup(version: semver.SemVer, group: string): boolean {
  const { bounds, excluded } = partsOf(group);
  const named = [bounds, ...excluded].some((part) => /\d-[0-9A-Za-z]/.test(part));
  if (version.prerelease.length > 0 && !named) return false;
  if (excluded.some((one) => semver.satisfies(version, one, { loose: true, includePrerelease: true }))) return false;
  return semver.satisfies(version, bounds, { loose: true, includePrerelease: named });
}

/** `>=1.2, !=1.3.0` → `>=1.2` and `1.3.0`. */
function partsOf(group: string): { bounds: string; excluded: string[] } {
  const excluded: string[] = [];
  const bounds = group.replaceAll(",", " ").replace(/!=\s*([^\s]+)/g, (_, one: string) => {
    excluded.push(one);
    return " ";
  });
  return { bounds: bounds.trim() === "" ? "*" : bounds.trim(), excluded };
}

/** Whether this is a range and not one version. */
export function isRange(text: string): boolean {
  if (text.trim() === "" || semver.parse(text, { loose: true }) !== null) return false;
  return text.split("||").every((group) => semver.validRange(partsOf(group).bounds, { loose: true }) !== null);
}

/** One version, spelled with or without `v`. Build metadata counts: it is another package. */
export function sameVersion(a: string, b: string): boolean {
  return a === b || (semver.parse(a, { loose: true }) !== null && a.replace(/^v/, "") === b.replace(/^v/, ""));
}
