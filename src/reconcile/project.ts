import { type Problem, parseRepoConfig, parseRollouts } from "../rollout/parse.ts";
import type { Rollout } from "../rollout/rollout.ts";
import type { Snapshot } from "./snapshot.ts";

/** Where a repo's own settings stand, always read from the base branch, never from a PR. */
export const REPO_CONFIG = ".github/stagecoach.yaml";
export const ROLLOUTS_FOLDER = "rollouts/";

/** The rollouts a config repo declares at one commit. */
export interface Project {
  rollouts: Rollout[];
  problems: Problem[];
}

/** Reads and validates `rollouts/*.yaml` and `.github/stagecoach.yaml`. A file with an error takes only its own rollouts out. */
export async function readProject(snapshot: Snapshot): Promise<Project> {
  const files = (await snapshot.paths()).filter(isRolloutFile);
  return snapshot.with((sync) => {
    const config = parseRepoConfig(sync.read(REPO_CONFIG), REPO_CONFIG);
    const problems: Problem[] = [...config.problems];
    // Settings that cannot be read may be the ones that hold a rollout back: none is taken to be declared then.
    if (problems.some((problem) => problem.severity === "error")) return { rollouts: [], problems };
    const rollouts: Rollout[] = [];
    for (const file of files) {
      const text = sync.read(file);
      if (text === null) continue;
      const parsed = parseRollouts(text, file, config.rollouts);
      rollouts.push(...parsed.rollouts);
      problems.push(...parsed.problems);
    }
    return { rollouts, problems };
  });
}

export function isRolloutFile(path: string): boolean {
  return path.startsWith(ROLLOUTS_FOLDER) && /\.ya?ml$/.test(path);
}
