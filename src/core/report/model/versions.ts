/**
 * Which version every target of a run has at a moment, as far as the journal knows: from what was merged until then, and from when targets
 * were seen live. What nobody recorded is not made up: a target that a run has not come to yet has what stood in Git when the run began.
 */
import { compareText } from "../../base/compare-text.ts";
import { hasCode } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { type Edit, targetsOf } from "../../plan/plan-types.ts";
import { namedEdits, valuesOfEdits } from "../../plan/values.ts";
import { isOut } from "../../run/state/names.ts";
import type { Batch, BatchTarget, Run } from "../../run/state/run.ts";
import { pinValue, releaseName, shortName } from "../words.ts";
import type { Moment, TargetVersion, VersionShare } from "./schema/versions.ts";

const MOST_PINS = 3;
/** Of more versions the rest is counted as one. */
const MOST_SHARES = 5;

type Moving = Pick<Run, "spec" | "release" | "plan" | "joined" | "batches" | "startedAt">;
type Moved = Batch & { merged: NonNullable<Batch["merged"]> };

/** `at`: epoch milliseconds; absent: as the run stands. */
export function versionsOf(run: Moving, at = Number.POSITIVE_INFINITY): TargetVersion[] {
  const planned = [...targetsOf(run.plan), ...(run.joined ?? []).flatMap(({ targets }) => targets)];
  const found = new Map<string, TargetVersion | undefined>();
  const names = valuesOfEdits(run.spec, run.release);
  for (const { key, application, cluster, edits } of planned) {
    const version = pinnedTo(edits, "from", names);
    const place = { target: key, application, cluster: shortName(cluster) };
    if (version !== undefined) found.set(key, { ...place, version, known: "InGit", since: run.startedAt });
  }
  const merged = run.batches.filter((one): one is Moved => one.merged !== undefined && epoch(one.merged.at) <= at);
  for (const batch of merged.sort((a, b) => epoch(a.merged.at) - epoch(b.merged.at)))
    for (const target of batch.targets) {
      const after = moved(batch, target, { before: found.get(target.key), names, at });
      if (after === "gone") found.delete(target.key);
      else if (after !== undefined) found.set(target.key, after);
    }
  return [...found.values()].filter((one) => one !== undefined);
}

/** What the merge of its batch made of it; undefined: nothing. */
function moved(
  { merged }: Moved,
  target: BatchTarget,
  { before, names, at }: { before: TargetVersion | undefined; names: ReturnType<typeof valuesOfEdits>; at: number },
): TargetVersion | "gone" | undefined {
  const isSettledBy = epoch(target.since) <= at;
  if (hasCode(target.why, "TARGET_GONE") && isSettledBy) return "gone";
  // Put out before the merge: its pin was not in it.
  if (isOut(target) && target.phase !== "RolledBack" && epoch(target.since) < epoch(merged.at)) return undefined;
  const version = pinnedTo(target.edits, "to", names);
  if (version === undefined) return undefined;
  const place = { target: target.key, application: target.application, cluster: shortName(target.cluster), version };
  const { confirmedAt } = target;
  if (confirmedAt !== undefined && epoch(confirmedAt) <= at) return { ...place, known: "Live", since: confirmedAt };
  if (target.phase === "Failed" && isSettledBy) return { ...place, before: before?.version, known: "Failed", since: target.since };
  return { ...place, before: before?.version, known: "Merged", since: merged.at };
}

/** A weight is no version. Of a release of several values each by its name. */
function pinnedTo(edits: readonly Edit[], which: "from" | "to", names: ReturnType<typeof valuesOfEdits>): string | undefined {
  const named = namedEdits(edits, names).filter(([, edit]) => edit[which] !== null);
  if (named.length > 0) return releaseName(Object.fromEntries(named.map(([name, edit]) => [name, pinValue(edit, which)])), "named");
  const values = edits.flatMap((edit) =>
    edit.steps === undefined && edit.weigh === undefined && edit[which] !== null ? [pinValue(edit, which)] : [],
  );
  const each = [...new Set(values)];
  return each.length === 0 ? undefined : each.slice(0, MOST_PINS).join(", ");
}

/** How many targets have which version, the most first; what is not named by itself is counted as others. */
export function sharesOf(targets: readonly Pick<TargetVersion, "version" | "known">[]): VersionShare[] {
  const shares = new Map<string, VersionShare & { version: string }>();
  for (const { version, known } of targets) {
    const share = shares.get(version) ?? { version, targets: 0, live: 0, failed: 0 };
    shares.set(version, share);
    share.targets += 1;
    if (known === "Live") share.live += 1;
    if (known === "Failed") share.failed += 1;
  }
  const sorted = [...shares.values()].sort((a, b) => b.targets - a.targets || compareText(a.version, b.version));
  const rest = sorted.splice(MOST_SHARES);
  if (rest.length === 0) return sorted;
  const sum = (of: "targets" | "live" | "failed") => rest.reduce((total, share) => total + share[of], 0);
  return [...sorted, { targets: sum("targets"), live: sum("live"), failed: sum("failed") }];
}

/** When something happened in a run, oldest first: it began, its batches merged, it paused, it ended. */
export function momentsOf(run: Pick<Run, "batches" | "startedAt" | "endedAt" | "paused">): Pick<Moment, "at" | "what" | "batch">[] {
  const merges = run.batches.flatMap(({ number, merged }) =>
    merged === undefined ? [] : [{ at: merged.at, what: "Merged" as const, batch: number }],
  );
  const ends = run.endedAt === undefined ? [] : [{ at: run.endedAt, what: "Ended" as const }];
  const pauses = run.paused === undefined ? [] : [{ at: run.paused.at, what: "Paused" as const }];
  return [{ at: run.startedAt, what: "Began" as const }, ...merges, ...pauses, ...ends].sort((a, b) => epoch(a.at) - epoch(b.at));
}
