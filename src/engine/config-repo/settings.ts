import { engineReason } from "../../core/reasons/engine.ts";
import type { World } from "../../core/run/state/world.ts";
import type { NotifyRule } from "../../core/spec/notifications.ts";
import { parseRepoConfig } from "../../core/spec/parse/config.ts";
import { freezesOf, SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { RepoContext } from "../round/context.ts";
import type { Commits } from "./commits.ts";

/** What the repo's settings at the base, and the server's, say of when and how much may move. */
export interface Settings {
  bounds(base: string): Promise<Pick<World, "freezes" | "limits" | "settingsBroken">>;
  /** Whether pull requests of forks are planned before somebody asks. */
  plansForks(base: string): Promise<boolean>;
  /** Who is told of what; nobody while the settings cannot be used. */
  notifications(base: string): Promise<readonly NotifyRule[]>;
  /** `journal.keep` as last read; undefined: not said, or not read yet. */
  readonly journalKeep: number | undefined;
}

export function openSettings(context: Pick<RepoContext, "freezes">, commits: Commits): Settings {
  let journalKeep: number | undefined;
  return {
    async bounds(base) {
      const { bounds, problems } = parseRepoConfig(await commits.snapshot(base).read(SETTINGS_FILE), SETTINGS_FILE);
      const problem = problems.find(({ severity }) => severity === "error");
      if (problem !== undefined) return { settingsBroken: engineReason("SETTINGS_INVALID", { problem }) };
      journalKeep = bounds.keep;
      return { freezes: freezesOf(bounds.freezes, context.freezes), limits: bounds.limits };
    },
    async plansForks(base) {
      return parseRepoConfig(await commits.snapshot(base).read(SETTINGS_FILE), SETTINGS_FILE).bounds.plansForks === true;
    },
    async notifications(base) {
      const { notifications, problems } = parseRepoConfig(await commits.snapshot(base).read(SETTINGS_FILE), SETTINGS_FILE);
      return problems.some(({ severity }) => severity === "error") ? [] : notifications.rules;
    },
    get journalKeep() {
      return journalKeep;
    },
  };
}
