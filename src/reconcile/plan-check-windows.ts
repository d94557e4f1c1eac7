import { parseRepoConfig } from "../rollout/parse.ts";
import type { Warning } from "../rollout/plan-types.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { iso } from "../rollout/time.ts";
import { windowsAt } from "../rollout/windows.ts";
import type { RepoContext } from "./context.ts";
import { REPO_CONFIG } from "./project.ts";
import type { Snapshot } from "./snapshot.ts";

/** Windows and freezes that would hold the first batch now: said before anybody merges the release. */
export async function windowWarning(
  context: Pick<RepoContext, "clock" | "freezes">,
  rollout: Rollout,
  snapshot: Snapshot,
): Promise<Warning[]> {
  const { freezes } = parseRepoConfig(await snapshot.read(REPO_CONFIG), REPO_CONFIG).bounds;
  const windows = [...(rollout.windows ?? []), ...freezes, ...(context.freezes ?? [])];
  if (windows.length === 0 || rollout.mode === "Observe") return [];
  const { open, changesAt, by } = windowsAt(windows, context.clock.now());
  if (open) return [];
  const rule = by === undefined ? "its windows" : `${by.kind === "deny" ? "a freeze" : "the window"} ${by.schedule} (${by.timeZone})`;
  const until = changesAt === undefined ? "and do not open within a year" : `until ${iso(changesAt).slice(0, 16).replace("T", " ")} UTC`;
  return [{ code: "WINDOW_CLOSED", message: `no batch merges now: ${rule} holds them ${until}` }];
}
