import { engineReason } from "../../core/reasons/engine.ts";
import { stageEvent } from "../../core/report/hook-event.ts";
import { type HookAnswer, hookTryKey } from "../../core/run/state/hooks-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { RepoContext } from "./context.ts";

/** The hooks of one repo's runs. */
export interface Hooks {
  /** What the hooks answered that a run waits for; undefined: it has none. */
  observe(run: Run): ReadonlyMap<string, HookAnswer> | undefined;
  /** Makes one request to a hook, unless it is under way. Its answer wakes the next round. */
  call(run: Run, id: string, request: number): true;
}

export function openHooks({ repository, repoURL, hooks: caller }: Pick<RepoContext, "repository" | "repoURL" | "hooks">): Hooks {
  /** Where requests of one repo's runs are told from those of another. */
  const callerKey = (key: string) => `${repository.toLowerCase()}:${key}`;
  return {
    observe(run) {
      if (!run.spec.stages.some((stage) => stage.hooks !== undefined)) return undefined;
      const seen = new Map<string, HookAnswer>();
      for (const { id, tries, phase } of run.hooks ?? []) {
        if (phase !== "Calling") continue;
        const key = hookTryKey(id, tries);
        const answer: HookAnswer | undefined =
          caller === undefined ? { kind: "error", message: engineReason("NO_HOOKS"), again: false } : caller.answer(callerKey(key));
        if (answer !== undefined) seen.set(key, answer);
      }
      return seen;
    },
    call(run, id, request) {
      const call = run.hooks?.find((one) => one.id === id);
      const hook = call && run.spec.stages[call.stage]?.hooks?.[call.when][call.index];
      if (call === undefined || hook === undefined || caller === undefined) return true;
      const event = stageEvent(run, call, { repository, source: repoURL.replace(/\.git$/, "") });
      const key = callerKey(hookTryKey(id, request));
      caller.call({ key, id, url: hook.url, timeoutMs: hook.timeoutMs, body: JSON.stringify(event), count: request });
      return true;
    },
  };
}
