/** When windows and freezes of the simulated world are open: the same each day, in UTC. */
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { ModelFreeze, ModelScoped, ModelWindow } from "../generate/scenario.ts";
import type { Truth } from "./world.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** By the time of the day, in UTC. */
export function isOpenAt(windows: readonly ModelWindow[], now: number): boolean {
  const isOn = ({ fromMinute, forMinutes }: ModelWindow) => {
    const since = (((now - fromMinute * MINUTE) % DAY) + DAY) % DAY;
    return since < forMinutes * MINUTE;
  };
  if (windows.some((window) => window.kind === "deny" && isOn(window))) return false;
  const allows = windows.filter((window) => window.kind === "allow");
  return allows.length === 0 || allows.some(isOn);
}

/** Tried where one of them begins or ends, within a day: they are the same each day. */
export function firstOpening(sets: readonly (readonly ModelWindow[])[], now: number): number | undefined {
  const isOpen = (at: number) => sets.every((windows) => isOpenAt(windows, at));
  if (isOpen(now)) return now;
  const day = Math.floor(now / DAY) * DAY;
  const times = sets.flat().flatMap(({ fromMinute, forMinutes }) => [fromMinute, fromMinute + forMinutes]);
  const changes = times.map((minute) => day + ((minute * MINUTE) % DAY)).map((at) => (at > now ? at : at + DAY));
  return changes.sort((a, b) => a - b).find(isOpen);
}

/** What binds a batch, set by set: its rollout's, its stage's, and the freezes for it, those of one scope together. */
export function bindingOn(truth: Truth, run: Run, batch: Batch, now: number): ModelWindow[][] {
  const own = run.kind === "Rollback" ? [] : ownWindowsOn(truth, run, batch);
  return [...own, ...freezesOn(truth, run.rollout, run.plan.stages[batch.stage]?.name, batch, now)];
}

/** Of its rollout those that are for it, of its stage the same, those of one scope together. */
export function ownWindowsOn(truth: Truth, run: Run, batch: Batch): ModelScoped[][] {
  const model = truth.rollouts.find(({ name }) => name === run.rollout)?.model;
  const lists = [model?.windows, model?.stages[batch.stage]?.windows].filter((list) => list !== undefined);
  // Most runs have none, and are asked at every look.
  if (lists.length === 0) return [];
  const stage = run.plan.stages[batch.stage]?.name;
  const regions = regionsOf(truth, batch);
  const isFor = (window: ModelScoped) => (window.stage ?? stage) === stage && isForSome(window, regions);
  return lists.flatMap((list) => byScope(list.filter(isFor)));
}

/** The windows of its own that are shut for a batch. */
export function outsideOf(truth: Truth, run: Run, batch: Batch, now: number): string[] {
  const model = truth.rollouts.find(({ name }) => name === run.rollout)?.model;
  const shut = ownWindowsOn(truth, run, batch).filter((windows) => !isOpenAt(windows, now));
  return shut.map(([one]) => {
    const whose = one !== undefined && model?.windows?.includes(one) === true ? "its windows" : "the windows of its stage";
    return `${whose}${one?.region === undefined ? "" : " for its clusters"}${one?.stage === undefined ? "" : " for this stage"}`;
  });
}

function byScope<W extends ModelFreeze>(windows: readonly W[]): W[][] {
  return [...Map.groupBy(windows, ({ region, stage, rollout }) => [region, stage, rollout].join("\n")).values()];
}

const OUT: ReadonlySet<string> = new Set(["Skipped", "Requeued", "RolledBack"]);

/** The freezes for a batch, those of one scope together. */
export function freezesOn(
  truth: Truth,
  rollout: string,
  stage: string | undefined,
  batch: Pick<Batch, "targets">,
  now: number,
): ModelFreeze[][] {
  if (truth.freezes.length === 0) return [];
  const regions = regionsOf(truth, batch);
  const bound = truth.freezes.flatMap(({ until, model }) => {
    if (model === undefined || now >= until) return [];
    const isFor = (model.rollout ?? rollout) === rollout && (model.stage ?? stage) === stage;
    return isFor && isForSome(model, regions) ? [model] : [];
  });
  return byScope(bound);
}

/** Of its clusters; of what is counted on a cluster, that cluster's, too. */
function regionsOf(truth: Truth, { targets }: Pick<Batch, "targets">): ReadonlySet<string | undefined> {
  return new Set(
    targets
      .filter(({ phase }) => !OUT.has(phase))
      .map(({ cluster }) => truth.clusters.get(cluster))
      .flatMap((one) => [one?.labels["region"], ...(one?.on === undefined ? [] : [one.on.labels["region"]])]),
  );
}

/** Of a cluster that is not there nobody knows. */
function isForSome({ region }: ModelScoped, regions: ReadonlySet<string | undefined>): boolean {
  return region === undefined || regions.has(region) || regions.has(undefined);
}
