import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { findPin } from "../../../core/pins/find.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { planRollback } from "../../../core/run/outcome/rollback.ts";
import { startRollback } from "../../../core/run/start.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { VERSION } from "../../config-repo/release.ts";
import type { RepoContext } from "../context.ts";
import type { StartedRun } from "./started.ts";

/**
 * The rollback that the last run of a rollout asks for, once it has ended: then all its PRs are observed closed or merged (docs/spec.md §9.17).
 * `alone`: no release waits. Where one does, the release value is its own, and stays.
 */
export async function startRollbackOf(
  { clock, log }: Pick<RepoContext, "clock" | "log">,
  commits: Commits,
  { rollout, entry, before, base, alone }: { rollout: Rollout; entry: IndexEntry; before: Run | undefined; base: string; alone: boolean },
): Promise<StartedRun | undefined> {
  const asked = before?.rollback;
  if (before === undefined || asked === undefined || !isEnded(before) || before.number !== entry.lastRun) return undefined;
  const back = planRollback(before, asked.to);
  if ("error" in back) {
    log.error({ rollout: rollout.name, run: before.number, why: back.error }, "a rollback cannot be planned");
    return undefined;
  }
  const { values } = back.plan.release;
  // Where nothing is committed, what is asked for stays in its file.
  const writes = rollout.delivery.strategy !== "Commit";
  const edits =
    alone && writes ? await commits.snapshot(base).with((files) => releaseEdits(rollout, values, (path) => files.read(path))) : [];
  const number = entry.lastRun + 1;
  return {
    // What is asked for stays asked for until the last batch puts it back: nothing is a new release meanwhile.
    entry: { ...entry, lastRun: number, cursor: alone ? base : entry.cursor },
    run: startRollback({ of: before, back, number, asked, restore: edits ?? [], now: clock.now() }),
    events: [{ run: number, reason: engineReason("RUN_ROLLS_BACK", { run: before.number, because: asked.reason }) }],
    waiting: false,
  };
}

/**
 * Once a rollback is done, the release it went back to is the last one: the version it took back can be released again. That may have been
 * merged already, and what is merged after the rollback's own last commit is still to be looked at: between it and the commit before
 * the rollback no release value differs.
 */
export function afterRollback(entry: IndexEntry, before: Run | undefined, base: string): IndexEntry | undefined {
  if (before === undefined || before.kind !== "Rollback" || before.phase !== "RolledBack" || (before.restore ?? []).length === 0)
    return undefined;
  const restored = before.release.values;
  const same = Object.keys(restored).every((name) => entry.lastRelease[name] === restored[name]);
  const last = before.batches.findLast((batch) => batch.merged !== undefined)?.merged?.commit;
  return same ? undefined : { ...entry, lastRelease: { ...entry.lastRelease, ...restored }, cursor: last ?? base };
}

/** Merges of ours are never releases: the last of a rollback changes the release value, and starts nothing. */
export function isOwnMerge(before: Run | undefined, commit: string): boolean {
  return before?.batches.some((batch) => batch.merged?.commit === commit) ?? false;
}

/** Documents of a file that are looked through for a rollout. */
const MOST_DOCUMENTS = 50;

interface Place {
  file: string;
  path: string;
}

/** Where each value of a release stands in the repo, as the files say now. null: it stands in no file, or not where it can be told. */
function releasePlaces(rollout: Rollout, read: (path: string) => string | null): Map<string, Place & { value: string }> | null {
  const spec = rollout.release;
  const places = new Map<string, Place>();
  if (spec?.kind === "from") places.set(VERSION, { file: spec.file, path: spec.path });
  else if (spec?.kind === "version") {
    const place = placeOfText(rollout, "version", spec.version, read);
    if (place === undefined) return null;
    places.set(VERSION, place);
  } else if (spec?.kind === "values") {
    for (const [name, value] of Object.entries(spec.values)) {
      const place = typeof value === "string" ? placeOfText(rollout, `values.${name}`, value, read) : value;
      if (place === undefined) return null;
      places.set(name, { file: place.file, path: place.path });
    }
  } else return null;
  const found = new Map<string, Place & { value: string }>();
  for (const [name, place] of places) {
    const value = valueAt(place, read);
    if (value === undefined) return null;
    found.set(name, { ...place, value });
  }
  return found;
}

/** The edits that make a release say these values instead; null: it cannot be told where they stand. Values that stand there already need none. */
export function releaseEdits(
  rollout: Rollout,
  values: Readonly<Record<string, string>>,
  read: (path: string) => string | null,
): Edit[] | null {
  const places = releasePlaces(rollout, read);
  if (places === null) return null;
  const edits: Edit[] = [];
  for (const [name, { file, path, value }] of places) {
    const to = values[name];
    if (to !== undefined && to !== value) edits.push({ file, path, kind: "value", from: value, to });
  }
  return edits;
}

/** Where a text of the release stands: in the repo's settings, in the rollout's own document, or in its annotation. */
function placeOfText(rollout: Rollout, below: string, text: string, read: (path: string) => string | null): Place | undefined {
  const inSettings = { file: SETTINGS_FILE, path: `rollouts["${rollout.name}"].release.${below}` };
  const inFile = Array.from({ length: MOST_DOCUMENTS }, (_, i) => (i === 0 ? "" : `#${i + 1}/`))
    .filter((prefix) => valueAt({ file: rollout.file, path: `${prefix}metadata.name` }, read) === rollout.name)
    .flatMap((prefix) => [`${prefix}spec.release.${below}`, `${prefix}metadata.annotations["stagecoach.dev/release"]!${below}`])
    .map((path) => ({ file: rollout.file, path }));
  return [inSettings, ...inFile].find((place) => valueAt(place, read) === text);
}

function valueAt({ file, path }: Place, read: (path: string) => string | null): string | undefined {
  const text = read(file);
  if (text === null) return undefined;
  const found = findPin(text, { path });
  return found.ok && found.found.value !== null ? found.found.value : undefined;
}
