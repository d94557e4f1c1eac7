import semver from "semver";
import type { AnyReason } from "../../base/reason.ts";
import { namesRef } from "../../base/ref-name.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import { normalRepo } from "../same.ts";
import type { ApplicationView, SourceView } from "../views.ts";
import { commitObservation, containsObservation, unresolved } from "./commit-observation.ts";
import { hydratedObservation } from "./hydrator.ts";
import { boundRevision, isFullSha } from "./moment.ts";
import type { Change, LivenessInput, Observation } from "./types.ts";

/** What this read shows of one change. */
export function observationOf(app: ApplicationView, change: Change, input: LivenessInput): Observation {
  if (app.spec.sourceHydrator !== undefined) return hydratedObservation(app, change, input);
  if (change.kind === "generator") return { state: "shown", sources: [] };
  const sources = carriers(app.spec.sources, change);
  if (sources.length === 0) return { state: "absent", because: absent(app, change), sources };
  let worst: Pick<Observation, "state" | "because" | "by"> | undefined;
  for (const index of sources) {
    const source = app.spec.sources[index];
    if (source === undefined) continue;
    const seen = app.status.sync.revisions[index] ?? "";
    const observation =
      change.kind === "commit" ? commitObservation(seen, change, input) : revisionObservation(seen, source, change, input);
    if (worst === undefined || RANK[observation.state] > RANK[worst.state]) worst = observation;
  }
  return worst === undefined ? { state: "absent", because: absent(app, change), sources } : { ...worst, sources };
}

const RANK: Record<Observation["state"], number> = {
  proven: 0,
  shown: 1,
  changed: 2,
  older: 3,
  unknown: 4,
  unresolved: 5,
  unproven: 6,
  failed: 7,
  absent: 8,
};

/** Positions of the sources that carry the change; the others may be at whatever they like. */
export function carriers(sources: readonly SourceView[], change: Exclude<Change, { kind: "generator" }>): number[] {
  const found: number[] = [];
  for (const [index, source] of sources.entries()) {
    const there =
      change.kind === "commit"
        ? source.chart === undefined &&
          normalRepo(source.repoURL) === normalRepo(change.repoURL) &&
          (change.exact === undefined || namesRef(source.targetRevision, change.exact))
        : (source.targetRevision ?? "HEAD") === change.revision &&
          (change.repoURL === undefined || normalRepo(source.repoURL) === normalRepo(change.repoURL));
    if (there) found.push(index);
  }
  return found;
}

function absent(app: ApplicationView, change: Exclude<Change, { kind: "generator" }>): AnyReason {
  if (change.kind === "commit") return reason("NO_SUCH_SOURCE", { repo: normalRepo(change.repoURL) });
  const asks = app.spec.sources.map((source) => source.targetRevision ?? "HEAD").join(", ") || "nothing";
  return reason("REVISION_NOT_IN_SPEC", { asks: boundRevision(asks), wanted: boundRevision(change.revision) });
}

function revisionObservation(
  seen: string,
  source: SourceView,
  change: Extract<Change, { kind: "revision" }>,
  input: LivenessInput,
): Pick<Observation, "state" | "because"> {
  const { revision, commit } = change;
  const both = { seen: boundRevision(seen), wanted: boundRevision(revision) };
  const other = { state: "older", because: reason("OTHER_REVISION_SEEN", both) } as const;
  if (source.chart !== undefined) return chartObservation(seen, revision, other);
  if (/^oci:\/\//i.test(source.repoURL)) return ociObservation(seen, revision, other);
  // An id that is pinned in short stays as it is in the status.
  if (commit === undefined && seen !== "" && isShortId(revision) && seen.toLowerCase() === revision.toLowerCase())
    return { state: "shown" };
  if (!isFullSha(seen)) return unresolved(seen);
  if (isFullSha(revision)) return seen.toLowerCase() === revision.toLowerCase() ? { state: "proven" } : other;
  // Its first comparison shows it in full.
  if (isShortId(revision) && seen.toLowerCase().startsWith(revision.toLowerCase())) return { state: "proven" };
  if (commit !== undefined) return containsObservation(seen, commit, input);
  // A tag or branch whose commit nobody has told us: that spec and comparedTo name it must do.
  if (!isShortened(revision)) return { state: "shown" };
  return { state: "older", because: reason("OTHER_REVISION_SEEN", { ...both, shortened: true }) };
}

/** What Argo CD takes for a commit id where no branch or tag has that name. */
export function isShortId(revision: string): boolean {
  return /^[0-9a-f]{7,}$/i.test(revision) && !isFullSha(revision);
}

/** With a letter in it, and no date in front: `20261121` and `20261121a` are most often what somebody named a tag by. */
function isShortened(revision: string): boolean {
  return isShortId(revision) && /[a-f]/i.test(revision) && !BEGINS_WITH_DATE.test(revision);
}

const BEGINS_WITH_DATE = /^20\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])/;

function chartObservation(
  seen: string,
  revision: string,
  other: Pick<Observation, "state" | "because">,
): Pick<Observation, "state" | "because"> {
  if (seen === "") return unresolved(seen);
  if (isRange(revision)) return satisfies(seen, revision) ? { state: "shown" } : other;
  return sameVersion(seen, revision) ? { state: "proven" } : other;
}

/** Argo CD shows the digest that a tag of an OCI source resolved to. */
function ociObservation(
  seen: string,
  revision: string,
  other: Pick<Observation, "state" | "because">,
): Pick<Observation, "state" | "because"> {
  if (seen === "") return unresolved(seen);
  const digest = /^sha256:[0-9a-f]{64}$/i;
  if (seen === revision) return { state: digest.test(seen) ? "proven" : "shown" };
  if (digest.test(revision)) return other;
  if (digest.test(seen)) return { state: "shown" };
  return isRange(revision) && satisfies(seen, revision) ? { state: "shown" } : other;
}

/**
 * Whether a version is in one of Helm's ranges: commas or blanks for *and*, `||` for *or*, `!=`, and prereleases where one of
 * the bounds of a group names one. npm's ranges, which do the rest, know neither.
 */
function satisfies(version: string, range: string): boolean {
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

/** Whether this is a range and not one version. Helm takes `1`, `1.10` and `v4.5` for versions, and Argo CD for the text of a tag. */
function isRange(text: string): boolean {
  if (text.trim() === "" || VERSION.test(text) || semver.parse(text, { loose: true }) !== null) return false;
  return text.split("||").every((group) => semver.validRange(partsOf(group).bounds, { loose: true }) !== null);
}

const VERSION = /^v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** One version, spelled with or without `v`. Build metadata counts: it is another package. */
function sameVersion(a: string, b: string): boolean {
  return a === b || (semver.parse(a, { loose: true }) !== null && a.replace(/^v/, "") === b.replace(/^v/, ""));
}
