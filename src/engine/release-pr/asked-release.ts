import { pathMatcher } from "../../core/base/path-glob.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import type { Release } from "../../core/plan/plan-types.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { type ReadRelease, readRelease, releaseFiles } from "../config-repo/release.ts";
import type { Releases } from "../config-repo/releases.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import type { JudgedPull, PlanBase } from "./types.ts";

/** What a rollout asks for with a PR merged. `isToCome`: the PR's head stands for its merge commit. */
export type Asked =
  | { kind: "release"; release: Release; before: Release | undefined; isToCome: boolean }
  /** Nothing is asked for: it can be seen only in Git's history. */
  | { kind: "none"; note: AnyReason }
  | { kind: "error"; problem: Problem };

/** Of a release by `commit` the PR's head stands for the merge commit that is still to come. */
export async function askedBy(
  releases: Releases,
  rollout: Rollout,
  base: PlanBase,
  pull: JudgedPull,
  before: Snapshot,
  after: Snapshot,
): Promise<Asked> {
  const { name, release: spec } = rollout;
  if (spec === undefined) return { kind: "none", note: engineReason("NOTE_NO_RELEASE", { rollout: name }) };
  const known = await releases.at(name, base.commit);
  if (spec.kind === "commit" && pull.touched.some(pathMatcher(spec.paths))) {
    const release = { values: { version: pull.head }, attempt: spec.attempt };
    return { kind: "release", release, before: known, isToCome: true };
  }
  const found = await releases.version(rollout, base.commit);
  if (spec.kind === "tag" && found.version === undefined)
    return { kind: "none", note: engineReason("NOTE_NO_TAG", { rollout: name, range: spec.range }) };
  const read = await after.with((files) => readRelease(rollout, (path) => files.read(path), found));
  if (!read.ok) return { kind: "error", problem: releaseProblem(rollout, read) };
  // Noted, so that the judgement lapses where the base's own release changes.
  for (const file of [rollout.file, ...releaseFiles(rollout)]) await before.read(file).catch(() => null);
  return { kind: "release", release: read.release, before: known, isToCome: false };
}

/** A release that cannot be read, at its place. */
function releaseProblem(rollout: Rollout, { file, why, line = 1, column = 1 }: Extract<ReadRelease, { ok: false }>): Problem {
  const place = { file: file === "" ? rollout.file : file, line, column, path: ["spec", "release"] };
  return { code: "RELEASE_NOT_FOUND", ...why, severity: "error", ...place };
}
