import { type HookAnswer, hookTryKey } from "../../../core/run/state/hooks-types.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { World } from "../../../core/run/state/world.ts";
import type { RepoContext } from "../context.ts";

/** Where requests of one repo's runs are told from those of another. */
export function callerKey(context: Pick<RepoContext, "repository">, key: string): string {
  return `${context.repository.toLowerCase()}:${key}`;
}

/** What the hooks answered that a run waits for. */
export function observeHooks(context: RepoContext, run: Run): Pick<World, "hooks"> {
  if (!run.spec.stages.some((stage) => stage.hooks !== undefined)) return {};
  const seen = new Map<string, HookAnswer>();
  for (const { id, tries, phase } of run.hooks ?? []) {
    if (phase !== "Calling") continue;
    const key = hookTryKey(id, tries);
    const answer: HookAnswer | undefined =
      context.hooks === undefined
        ? { kind: "error", message: "this server asks no hooks", again: false }
        : context.hooks.answer(callerKey(context, key));
    if (answer !== undefined) seen.set(key, answer);
  }
  return { hooks: seen };
}
