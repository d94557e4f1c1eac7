import semver from "semver";

/** Helm's ranges allow commas for *and*, which npm's do not. Prereleases count only where the range names one, as in Helm. */
export function satisfies(version: string, range: string): boolean {
  const parsed = semver.parse(version, { loose: true });
  if (parsed === null) return false;
  return semver.satisfies(parsed, range.replaceAll(",", " "), { loose: true });
}

/** Whether this is a range and not one version. */
export function isRange(text: string): boolean {
  return semver.parse(text, { loose: true }) === null && semver.validRange(text.replaceAll(",", " "), { loose: true }) !== null;
}

/** One version, spelled with or without `v`. Build metadata counts: it is another package. */
export function sameVersion(a: string, b: string): boolean {
  return a === b || (semver.parse(a, { loose: true }) !== null && a.replace(/^v/, "") === b.replace(/^v/, ""));
}
