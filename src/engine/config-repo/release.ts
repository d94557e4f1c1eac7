import { findPin } from "../../core/pins/find.ts";
import type { Release } from "../../core/plan/plan-types.ts";
import type { ProblemData } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

export type ReadRelease =
  | { ok: true; release: Release }
  | { ok: false; file: string; why: ProblemData<"RELEASE_NOT_FOUND">; line?: number | undefined; column?: number | undefined };

/** The name under which a release of a single value keeps it. */
export const VERSION = "version";

/** What is found in Git's history and not in a file: a commit, or the name of a tag. */
export interface FoundVersion {
  version: string | undefined;
}

/**
 * The release a rollout asks for, from the rollout itself or the files it points to. `found`: of a release by `commit` or
 * `tag`, which stands in no file; without it such a release is not known.
 */
export function readRelease(rollout: Rollout, read: (path: string) => string | null, found?: FoundVersion): ReadRelease {
  const spec = rollout.release;
  if (spec === undefined) return { ok: false, file: rollout.file, why: { kind: "Unsaid", rollout: rollout.name } };
  if (spec.kind === "version") return { ok: true, release: { values: { [VERSION]: spec.version }, attempt: spec.attempt } };
  if (spec.kind === "from") return readValues(rollout, { [VERSION]: spec }, spec.attempt, read);
  if (spec.kind === "values") return readValues(rollout, spec.values, spec.attempt, read);
  if (found?.version !== undefined) return { ok: true, release: { values: { [VERSION]: found.version }, attempt: spec.attempt } };
  const why =
    spec.kind === "commit" ? ({ kind: "NoCommit" } as const) : ({ kind: "NoTag", range: spec.range, prefix: spec.prefix } as const);
  return { ok: false, file: rollout.file, why };
}

/** Files besides the rollout's own that say which version to carry. */
export function releaseFiles({ release: spec }: { release?: Rollout["release"] | undefined }): string[] {
  if (spec?.kind === "from") return [spec.file];
  if (spec?.kind === "values") return Object.values(spec.values).flatMap((value) => (typeof value === "string" ? [] : [value.file]));
  return [];
}

function readValues(
  rollout: Rollout,
  wanted: Record<string, string | { file: string; path: string }>,
  attempt: number,
  read: (path: string) => string | null,
): ReadRelease {
  const values: Record<string, string> = {};
  for (const [name, place] of Object.entries(wanted)) {
    if (typeof place === "string") {
      values[name] = place;
      continue;
    }
    const text = read(place.file);
    if (text === null)
      return { ok: false, file: place.file, why: { kind: "NoFile", name: place.file, rollout: rollout.name, rolloutFile: rollout.file } };
    const { file } = place;
    const found = findPin(text, { path: place.path });
    if (!found.ok) {
      const { line, column, ...because } = found.error;
      return { ok: false, file, why: { kind: "Pin", because }, line, column };
    }
    const { value, line, column } = found.found;
    if (value === null || value === "") return { ok: false, file, why: { kind: "Empty", at: place.path }, line, column };
    values[name] = value;
  }
  return { ok: true, release: { values, attempt } };
}
