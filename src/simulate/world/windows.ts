/** When windows and freezes of the simulated world are open: the same each day, in UTC. */
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { ModelFreeze, ModelWindow } from "../generate/scenario.ts";
import type { Truth } from "./world.ts";

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;

/** By the time of the day, in UTC. */
export function isOpenAt(windows: readonly ModelWindow[], now: number): boolean {
  const isOn = ({ fromMinute, forMinutes }: ModelWindow) => {
    const since = (((now - fromMinute * 60_000) % 86_400_000) + 86_400_000) % 86_400_000;
    return since < forMinutes * 60_000;
  };
  if (windows.some((window) => window.kind === "deny" && isOn(window))) return false;
  const allows = windows.filter((window) => window.kind === "allow");
  return allows.length === 0 || allows.some(isOn);
}

/** By the minute, within a day: they are the same each day. */
export function firstOpening(sets: readonly (readonly ModelWindow[])[], now: number): number | undefined {
  const isOpen = (at: number) => sets.every((windows) => isOpenAt(windows, at));
  if (isOpen(now)) return now;
  const from = Math.floor(now / MINUTE) + 1;
  for (let minute = from; minute <= from + DAY_MINUTES; minute++) if (isOpen(minute * MINUTE)) return minute * MINUTE;
  return undefined;
}

/** What binds a batch, set by set: its rollout's, its stage's, and the freezes for it, those of one scope together. */
export function bindingOn(truth: Truth, run: Run, batch: Batch, now: number): ModelWindow[][] {
  const model = truth.rollouts.find(({ name }) => name === run.rollout)?.model;
  const stage = run.plan.stages[batch.stage]?.name;
  const own = run.kind === "Rollback" ? [] : [model?.windows ?? [], model?.stages[batch.stage]?.windows ?? []];
  return [...own, ...freezesOn(truth, run.rollout, stage, batch, now)];
}

const OUT: ReadonlySet<string> = new Set(["Skipped", "Requeued", "RolledBack"]);

/** The freezes for a batch, those of one scope together. */
export function freezesOn(
  truth: Truth,
  rollout: string,
  stage: string | undefined,
  { targets }: Pick<Batch, "targets">,
  now: number,
): ModelFreeze[][] {
  // Of what is counted on a cluster, that cluster's, too.
  const regions = new Set(
    targets
      .filter(({ phase }) => !OUT.has(phase))
      .map(({ cluster }) => truth.clusters.get(cluster))
      .flatMap((one) => [one?.labels["region"], ...(one?.on === undefined ? [] : [one.on.labels["region"]])]),
  );
  const bound = truth.freezes.flatMap(({ until, model }) => {
    if (model === undefined || now >= until) return [];
    const isFor = (model.rollout ?? rollout) === rollout && (model.stage ?? stage) === stage;
    // Of a cluster that is not there nobody knows.
    return isFor && (model.region === undefined || regions.has(model.region) || regions.has(undefined)) ? [model] : [];
  });
  return [...Map.groupBy(bound, ({ region, stage: of, rollout: by }) => [region, of, by].join("\n")).values()];
}
