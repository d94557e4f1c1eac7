import { pathMatcher } from "../../core/base/path-glob.ts";
import type { Release } from "../../core/plan/plan-types.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { type ReadRelease, readRelease } from "../config-repo/release.ts";
import type { Releases } from "../config-repo/releases.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import type { JudgedPull, PlanBase } from "./judged-pull.ts";

/** What a rollout asks for with a PR merged. `label`: what the release is called where it has no version yet. */
export type Asked =
  | { kind: "release"; release: Release; before: Release | undefined; label?: string }
  /** Nothing is asked for: it can be seen only in Git's history. */
  | { kind: "none"; why: string }
  | { kind: "error"; problem: Extract<ReadRelease, { ok: false }> };

/** Of a release by `commit` the PR's head stands for the merge commit that is still to come. */
export async function askedBy(
  releases: Releases,
  rollout: Rollout,
  base: PlanBase,
  pull: JudgedPull,
  before: Snapshot,
  after: Snapshot,
): Promise<Asked> {
  const spec = rollout.release;
  if (spec === undefined) return { kind: "none", why: "it has no release, so it can be planned but not run" };
  const known = await releases.at(rollout.name, base.commit);
  if (spec.kind === "commit" && pull.touched.some(pathMatcher(spec.paths))) {
    const release = { values: { version: pull.head }, attempt: spec.attempt };
    return { kind: "release", release, before: known, label: "the merge commit of this PR" };
  }
  const found = await releases.version(rollout, base.commit);
  if (spec.kind === "tag" && found.version === undefined) return { kind: "none", why: `no tag has a version in ${spec.range} yet` };
  const read = await after.with((files) => readRelease(rollout, (path) => files.read(path), found));
  if (!read.ok) return { kind: "error", problem: read };
  // Noted, so that the judgement lapses where the base's own release changes.
  for (const file of releaseFilesOf(rollout)) await before.read(file).catch(() => null);
  return { kind: "release", release: read.release, before: known };
}

function releaseFilesOf(rollout: Rollout): string[] {
  const spec = rollout.release;
  if (spec?.kind === "from") return [rollout.file, spec.file];
  if (spec?.kind === "values") return Object.values(spec.values).flatMap((value) => (typeof value === "string" ? [] : [value.file]));
  return [rollout.file];
}
