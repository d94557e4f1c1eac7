import { GitError } from "../../adapters/git/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { apart, stepsOfYaml } from "../../core/base/pass.ts";
import { type Problem, problemIn } from "../../core/reasons/problems/problem.ts";
import type { RepoConfigRollouts } from "../../core/spec/parse/config.ts";
import { parseRepoConfig } from "../../core/spec/parse/config.ts";
import { locateInRollout } from "../../core/spec/parse/locate.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { clashes } from "../../core/spec/rules/together.ts";
import { otherBase } from "./base-branch.ts";
import type { Snapshot, SyncFiles } from "./snapshot.ts";

export const ROLLOUTS_FOLDER = "rollouts/";

/** The rollouts a config repo declares at one commit. */
export interface Project {
  rollouts: Rollout[];
  problems: Problem[];
}

/** Read lately: nearly every commit leaves them as they are, and each is looked at several times. */
const READ = new BoundedMap<string, ReturnType<typeof parseRollouts>>(500);
/** Checking them takes about as long as reading them. */
const STEPS_OF_RULES = 2;
/** With the settings, which say a part of it. What is longer is read anew each time. */
const LONGEST_KEPT = 20_000;
/** So many problems of a file are given their lines: nobody mends more at once, and each is looked for among all of its rollouts. */
const MOST_LOCATED = 20;

/** What a file declares is told by its name, its text and the text of the settings: kept, and never changed. */
function rolloutsIn(text: string, file: string, settings: { text: string | null; rollouts: RepoConfigRollouts }) {
  const key = JSON.stringify([file, settings.text, text]);
  const known = READ.get(key);
  if (known !== undefined) return known;
  const here = () => {
    const parsed = parseRollouts(text, file, settings.rollouts);
    if (key.length <= LONGEST_KEPT) READ.set(key, parsed);
    return parsed;
  };
  const rest: ApartRollouts = { file, settings: settings.text };
  const tooMuch = { rollouts: [], problems: [problemIn(file, { code: "TOO_LARGE", kind: "Slow" })] };
  const steps = () => STEPS_OF_RULES * stepsOfYaml(text);
  return apart({ name: "rollouts", text, rest, steps, here, empty: { rollouts: [], problems: [] }, tooMuch });
}

/** A file of rollouts, and the settings that say a part of them. */
export interface ApartRollouts {
  file: string;
  settings: string | null;
}

/** As `rolloutsIn`, with the settings as text. */
export function readRollouts(text: string, { file, settings }: ApartRollouts): ReturnType<typeof parseRollouts> {
  return parseRollouts(text, file, parseRepoConfig(settings, SETTINGS_FILE).rollouts);
}

/**
 * Reads and validates `rollouts/*.yaml` and `.github/stagecoach.yaml`. A file with an error takes only its own rollouts out,
 * and rollouts that clash take each other out: which of the two is meant, only a person can say. With `baseBranch`, the branch
 * it is read from, rollouts that want another one are out, too. A rollout that is a symbolic link is a problem: none is followed.
 */
export async function readProject(snapshot: Snapshot, baseBranch?: string): Promise<Project> {
  const files = [...(await snapshot.paths()), ...(await snapshot.links(ROLLOUTS_FOLDER))].filter(isRolloutFile);
  const json = passedOver(await snapshot.paths());
  return snapshot.with((sync) => {
    const problems: Problem[] = [...json];
    const settings = readOrTell(sync, SETTINGS_FILE, problems);
    const config = parseRepoConfig(settings, SETTINGS_FILE);
    problems.push(...config.problems);
    // Settings that cannot be read may be the ones that hold a rollout back: none is taken to be declared then.
    if (problems.some((problem) => problem.severity === "error")) return { rollouts: [], problems };
    const rollouts: Rollout[] = [];
    for (const file of files) {
      const text = readOrTell(sync, file, problems);
      if (text === null) continue;
      const parsed = rolloutsIn(text, file, { text: settings, rollouts: config.rollouts });
      rollouts.push(...parsed.rollouts);
      problems.push(...parsed.problems);
    }
    const out = new Set<Rollout>();
    const locate = openLocate(sync);
    for (const rollout of rollouts) {
      const other = otherBase(rollout, baseBranch);
      if (other.length > 0) out.add(rollout);
      problems.push(...other.map((problem) => locate(problem, rollout)));
    }
    for (const clash of clashes(rollouts)) {
      if (clash.problem.severity !== "error") continue;
      for (const rollout of clash.rollouts) out.add(rollout);
      problems.push(locate(clash.problem, clash.rollouts[1]));
    }
    return { rollouts: rollouts.filter((rollout) => !out.has(rollout)), problems };
  });
}

/** Gives problems of rollouts their lines; past the most of a file they are left at its beginning. */
function openLocate(sync: SyncFiles) {
  const located = new Map<string, number>();
  return (problem: Problem, rollout: Rollout): Problem => {
    const before = located.get(rollout.file) ?? 0;
    if (before >= MOST_LOCATED) return problem;
    located.set(rollout.file, before + 1);
    return locateInRollout(problem, rollout, (path) => sync.read(path));
  };
}

/** What lies among the rollouts as JSON, which nobody reads. */
export function passedOver(paths: readonly string[]): Problem[] {
  const files = paths.filter((path) => path.startsWith(ROLLOUTS_FOLDER) && path.endsWith(".json"));
  return files
    .slice(0, MOST_LOCATED)
    .map((name) => ({ ...problemIn(name, { code: "NOT_A_ROLLOUT", kind: "Json", name }), severity: "warning" }));
}

function readOrTell(sync: SyncFiles, file: string, problems: Problem[]): string | null {
  try {
    return sync.read(file);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    problems.push({ code: "UNREADABLE", said: error.message, severity: "error", file, line: 1, column: 1, path: [] });
    return null;
  }
}

export function isRolloutFile(path: string): boolean {
  return path.startsWith(ROLLOUTS_FOLDER) && /\.ya?ml$/.test(path);
}
