import { parse } from "yaml";
import type { Mirror } from "../../adapters/git/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import type { Selectable } from "../../core/base/selector.ts";
import { type History, historyOf, NO_HISTORY, type TimedRun } from "../../core/report/plan/duration.ts";
import { type Batch, isEnded, type Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import { badWindow, type Window } from "../../core/spec/windows.ts";
import type { PlacedFreeze } from "../../core/spec/windows-binding.ts";
import type { Settings } from "./settings.ts";

/** So many of the last runs are looked at. */
const MOST_RUNS = 20;
const LARGEST_FILE = 16 * 1024 * 1024;

/**
 * How long the last runs of a rollout took, from the journal. `last`: number of its last run. A run that cannot be read, or was folded
 * away, is left out: durations are a help, and hold up nothing.
 */
export type DurationsOf = (
  journal: string | undefined,
  rollout: string,
  last: number,
  freezes?: readonly PlacedFreeze[],
) => Promise<History>;

/** How long the runs before one took, read once a run, for those who cannot wait for it. */
export interface PastRuns {
  /**
   * Reads what is not known yet: it holds up nothing, and where it cannot be read nothing is known. `base`: the commit whose freezes are
   * taken out, as on the release's pull request, so that both say the same, and are waited for in what lies ahead.
   */
  read(runs: readonly { advanced: { run: Run }; world: Pick<World, "clusters" | "clustersKnown"> }[], base: string): Promise<void>;
  of(run: Run): History;
}

export function openPastRuns(
  durationsOf: DurationsOf,
  journal: { head(): string | undefined },
  settings: Pick<Settings, "bounds">,
): PastRuns {
  /** By rollout, of its last run. */
  const known = new BoundedMap<string, { number: number; history: History }>(MOST_KEPT);
  const knownOf = ({ rollout, number }: Run) => {
    const kept = known.get(rollout);
    return kept?.number === number ? kept.history : undefined;
  };
  /** Those of the newest base: a freeze that somebody sets while a run goes on holds it, too. */
  let frozen: { base: string; freezes: History["freezes"] } | undefined;
  /** By rollout, as they were last known: a freeze may be for some clusters. */
  const labels = new BoundedMap<string, ReadonlyMap<string, Selectable>>(MOST_KEPT);
  const freezesAt = async (base: string) => {
    if (frozen?.base !== base) frozen = { base, freezes: (await settings.bounds(base)).freezes };
    return frozen.freezes;
  };
  const historyBefore = async ({ rollout, number }: Run, base: string) =>
    durationsOf(journal.head(), rollout, number - 1, await freezesAt(base));
  return {
    async read(runs, base) {
      if (runs.some(({ advanced }) => !isEnded(advanced.run))) await freezesAt(base).catch(() => undefined);
      for (const { advanced, world } of runs) {
        const { run } = advanced;
        if (world.clustersKnown) labels.set(run.rollout, world.clusters);
        if (isEnded(run) || knownOf(run) !== undefined) continue;
        const history = await historyBefore(run, base).catch(() => NO_HISTORY);
        known.set(run.rollout, { number: run.number, history });
      }
    },
    of: (run) => ({ ...(knownOf(run) ?? NO_HISTORY), freezes: frozen?.freezes, clusters: labels.get(run.rollout) }),
  };
}

const MOST_KEPT = 1000;

type Files = Pick<Mirror, "listFiles" | "readFiles">;

export function openDurations(mirror: Files): DurationsOf {
  /** Runs that have ended stay as they are: each is read once by a process. null: it cannot be read. */
  const kept = new BoundedMap<string, TimedRun | null>(MOST_KEPT);
  return async (journal, rollout, last, freezes = []) => {
    if (journal === undefined || last === 0) return NO_HISTORY;
    const runs: TimedRun[] = [];
    for (let number = last; number > Math.max(0, last - MOST_RUNS); number--) {
      const key = `${rollout}/${number}`;
      let run = kept.get(key);
      if (run === undefined) {
        run = await readTimes(mirror, journal, rollout, number).catch(() => null);
        if (run === null || run.endedAt !== undefined) kept.set(key, run);
      }
      if (run?.endedAt !== undefined) runs.push(run);
    }
    return historyOf(runs, freezes);
  };
}

/** Of the large files only what is small: a batch without its targets, the plan's file without the plan. */
async function readTimes(mirror: Files, journal: string, rollout: string, number: number): Promise<TimedRun | null> {
  const folder = `runs/${rollout}/${number}`;
  const paths = (await mirror.listFiles(journal, folder)).filter((path) => /\/(run|plan|batches\/\d+)\.yaml$/.test(path));
  const texts = await mirror.readFiles(journal, paths, { maxBytes: LARGEST_FILE });
  const head = dataOf(texts.get(`${folder}/run.yaml`)) as Partial<Run> | undefined;
  if (head?.phase === undefined || head.startedAt === undefined || head.stage === undefined) return null;
  const planned = texts.get(`${folder}/plan.yaml`) ?? "";
  const { spec } = (dataOf(planned.slice(planned.lastIndexOf("\nspec:\n") + 1)) ?? {}) as { spec?: Run["spec"] };
  const batches = paths
    .filter((path) => path.includes("/batches/"))
    .map((path) => dataOf(texts.get(path)?.split(/^targets:/m)[0]) as Batch | undefined)
    .filter((batch) => batch !== undefined);
  const { phase, stage, startedAt, endedAt } = head;
  const plan = { stages: (spec?.stages ?? []).map(({ name, windows }) => ({ name: String(name), windows: soundWindows(windows) })) };
  return { rollout, phase, stage, startedAt, plan, windows: soundWindows(spec?.windows), batches, ...defined({ endedAt }) };
}

/** Those that can be asked, of what anybody may have written. */
function soundWindows(windows: readonly Window[] | undefined): Window[] {
  return (Array.isArray(windows) ? windows : []).filter((one: Window) => badWindow(one) === undefined && one.durationMs > 0);
}

function dataOf(text: string | null | undefined): unknown {
  if (text === null || text === undefined) return undefined;
  const data: unknown = parse(text, { logLevel: "silent", maxAliasCount: 0 });
  return typeof data === "object" && data !== null ? data : undefined;
}
