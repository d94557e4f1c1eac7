import { defined } from "../../core/base/defined.ts";
import { sayProblem } from "../../core/report/reasons/problems.ts";
import type { World } from "../../core/run/state/world.ts";
import { parseRepoConfig } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { RepoContext } from "../round/context.ts";
import type { Commits } from "./commits.ts";

type Bounds = Pick<World, "freezes" | "limits" | "settingsBroken">;

/** What the repo's settings at the base, and the server's, say of when and how much may move. */
export interface Settings {
  bounds(base: string): Promise<Bounds>;
  /** `journal.keep` as last read; undefined: not said, or not read yet. */
  readonly journalKeep: number | undefined;
}

export function openSettings(context: Pick<RepoContext, "freezes">, commits: Commits): Settings {
  let journalKeep: number | undefined;
  return {
    async bounds(base) {
      const { bounds, problems } = parseRepoConfig(await commits.snapshot(base).read(SETTINGS_FILE), SETTINGS_FILE);
      const error = problems.find((problem) => problem.severity === "error");
      if (error !== undefined) return { settingsBroken: `${error.file}:${error.line}:${error.column}: ${sayProblem(error).message}` };
      journalKeep = bounds.keep;
      const freezes = [
        ...bounds.freezes.map((window) => ({ ...window, where: SETTINGS_FILE })),
        ...(context.freezes ?? []).map((window) => ({ ...window, where: "the server" })),
      ];
      return defined({ freezes, limits: bounds.limits });
    },
    get journalKeep() {
      return journalKeep;
    },
  };
}
