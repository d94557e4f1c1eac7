import { stageEvent } from "../../core/report/hook-event.ts";
import { hookTryKey } from "../../core/run/state/hooks-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { RepoContext } from "./context.ts";
import { callerKey } from "./observe/observe-hooks.ts";

/** Makes one request to a hook, unless it is under way. Its answer wakes the next round. */
export function callHook(context: RepoContext, run: Run, id: string, request: number): true {
  const call = run.hooks?.find((one) => one.id === id);
  const hook = call === undefined ? undefined : run.spec.stages[call.stage]?.hooks?.[call.when][call.index];
  if (call === undefined || hook === undefined || context.hooks === undefined) return true;
  const source = context.repoURL.replace(/\.git$/, "");
  const event = stageEvent(run, call, { repository: context.repository, source });
  context.hooks.call({
    key: callerKey(context, hookTryKey(id, request)),
    id,
    url: hook.url,
    timeoutMs: hook.timeoutMs,
    body: JSON.stringify(event),
    count: request,
  });
  return true;
}
