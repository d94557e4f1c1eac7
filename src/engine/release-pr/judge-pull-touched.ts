import { plainFolder } from "../../core/base/folder.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import { templateParts } from "../../core/base/template.ts";
import { pinsOf } from "../../core/plan/steps.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import { inventoryFiles, type PinTemplate, type Rollout, type SourceRef } from "../../core/spec/rollout.ts";

import { declares } from "../config-repo/appset-in-git.ts";
import { isRolloutFile, type Project } from "../config-repo/project.ts";
import { releaseFiles } from "../config-repo/release.ts";
import { manifestsAmong } from "../config-repo/set-files.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import type { RolloutParent } from "./pull-parents.ts";

/** Manifests, and what Helm and kustomize make them from. */
const RENDERED = /\.(ya?ml|tpl|gotmpl|json|toml|env|properties|txt)$/;

/** What of a rollout a PR changes. */
export interface Touches {
  /** The rollout's own file, its inventory, or the repo's settings. */
  rollout: boolean;
  /** What says the release, or is it. */
  release: boolean;
  pins: boolean;
  /** A set of its, or an Application that no set makes. */
  set: boolean;
  /** Parents that render its sets or Applications, and are made from what the PR changes. */
  parents?: readonly RolloutParent[];
}

/** Whether a PR may concern any rollout: by the names of its files alone, so that most PRs cost nothing. */
export function mayConcern(project: Project, touched: readonly string[]): boolean {
  if (touched.some((path) => isRolloutFile(path) || path === SETTINGS_FILE)) return true;
  if (project.rollouts.length === 0) return false;
  const rollouts = project.rollouts.map(placesOf);
  return touched.some((path) => RENDERED.test(path) || rollouts.some((of) => of.isOwn(path) || of.isRelease(path) || of.isPin(path)));
}

/** Where what a rollout is made of stands. */
function placesOf({ file, inventory, release, ...rollout }: Rollout) {
  const files = new Set(releaseFiles({ release }));
  const isPath = release?.kind === "commit" ? pathMatcher(release.paths) : () => false;
  return {
    isOwn: (path: string) => [file, ...inventoryFiles({ inventory }), SETTINGS_FILE].includes(path),
    isRelease: (path: string) => files.has(path) || isPath(path),
    isPin: pinFiles(pinsOf(rollout)),
  };
}

/** What of this rollout a PR changes, as it stands before and with the PR merged; `sets`: those that its Applications come from. */
export async function touchesOf(
  rollout: Rollout,
  sets: readonly SourceRef[],
  touched: readonly string[],
  before: Snapshot,
  after: Snapshot | undefined,
  applications: readonly Pick<SourceRef, "name" | "namespace">[] = [],
): Promise<Touches> {
  const { isOwn, isRelease, isPin } = placesOf(rollout);
  const places = { ApplicationSet: sets, Application: applications };
  const set = await touchesDeclared(places, touched, before, after);
  return { rollout: touched.some(isOwn), release: touched.some(isRelease), pins: touched.some(isPin), set };
}

async function touchesDeclared(
  places: Record<"ApplicationSet" | "Application", readonly Pick<SourceRef, "name" | "namespace">[]>,
  touched: readonly string[],
  before: Snapshot,
  after: Snapshot | undefined,
): Promise<boolean> {
  for (const kind of ["ApplicationSet", "Application"] as const) {
    if (places[kind].length === 0) continue;
    for (const file of manifestsAmong(touched)) {
      for (const snapshot of [before, after]) {
        if (snapshot !== undefined && (await declares(snapshot, file, kind, places[kind]))) return true;
      }
    }
  }
  return false;
}

/** Files that pins may stand in, whatever their templates are filled in with. */
function pinFiles(pins: readonly PinTemplate[]): (path: string) => boolean {
  const patterns = pins.flatMap((pin) => {
    if (pin.kind === "branch") return [];
    const place = pin.kind === "copy" ? plainFolder(pin.to) : pin.file;
    const parts = templateParts(place);
    const glob = parts.map((part) => ("text" in part ? part.text.replace(/[*?[\]!]/g, "?") : "**")).join("");
    return [pin.kind === "copy" ? `${glob}/**` : glob];
  });
  return patterns.length === 0 ? () => false : pathMatcher(patterns);
}

/** Whether the base has this rollout with the same source. */
export function hasSource({ rollouts }: Project, { name, source }: Rollout): boolean {
  const base = rollouts.find((one) => one.name === name);
  return JSON.stringify(base?.source) === JSON.stringify(source);
}

/** Problems that a PR brings: those in files it changes, and those that the base does not have. */
export function newProblems(before: Project, after: Project, touched: readonly string[]): Problem[] {
  const old = new Set(before.problems.map(keyOf));
  return after.problems.filter((problem) => touched.includes(problem.file) || !old.has(keyOf(problem)));
}

/** Lines move with edits that have nothing to do with it. */
function keyOf({ line: _line, column: _column, path: _path, ...rest }: Problem): string {
  return JSON.stringify(rest);
}
