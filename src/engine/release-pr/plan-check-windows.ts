import { iso } from "../../core/base/time.ts";
import type { Warning } from "../../core/reasons/problem.ts";
import { closedNow, windowSets } from "../../core/run/gates/window.ts";
import { neverOpening, neverTogether, nextOpenAt } from "../../core/spec/openings.ts";
import { parseRepoConfig } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Window } from "../../core/spec/windows.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import type { RepoContext } from "../round/context.ts";

/** The freezes of the repo and of the server, with where each stands. */
export async function freezesOf(context: Pick<RepoContext, "freezes">, snapshot: Snapshot): Promise<(Window & { where: string })[]> {
  const { freezes } = parseRepoConfig(await snapshot.read(SETTINGS_FILE), SETTINGS_FILE).bounds;
  return [
    ...freezes.map((one) => ({ ...one, where: SETTINGS_FILE })),
    ...(context.freezes ?? []).map((one) => ({ ...one, where: "the server" })),
  ];
}

/** Windows and freezes that would hold the first batch now: said before anybody merges the release. */
export async function windowWarning(
  context: Pick<RepoContext, "clock" | "freezes">,
  rollout: Rollout,
  snapshot: Snapshot,
): Promise<Warning[]> {
  if (rollout.mode === "Observe") return [];
  const held = await freezesOf(context, snapshot);
  const sets = windowSets(rollout.windows ?? [], held);
  const now = context.clock.now();
  const shut = neverOpening(sets, now);
  if (shut.length > 0) return [{ code: "WINDOW_NEVER_OPENS", kind: "Shut", whose: shut }];
  const apart = neverTogether(sets, now);
  if (apart !== undefined) return [{ code: "WINDOW_NEVER_OPENS", kind: "Apart", whose: apart }];
  const closed = closedNow(sets, now);
  if (closed === undefined) return [];
  const { by } = closed;
  const opening = nextOpenAt(sets, now);
  const at = opening !== undefined && "at" in opening ? opening.at : closed.changesAt;
  const rule = by === undefined ? undefined : { kind: by.kind, schedule: by.schedule, timeZone: by.timeZone };
  return [{ code: "WINDOW_CLOSED", rule, until: at === undefined ? undefined : iso(at) }];
}
