import { iso } from "../../core/base/time.ts";
import { plan } from "../../core/plan/plan.ts";
import type { Plan, Release, Target } from "../../core/plan/plan-types.ts";
import { onOverlap } from "../../core/run/outcome/overlap.ts";
import { planRollback } from "../../core/run/outcome/rollback.ts";
import { startRollback, startRun, supersede } from "../../core/run/start.ts";
import { haltsOn } from "../../core/run/state/halts.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import { AUTHOR } from "../generate/scenario.ts";
import { hostsOf } from "./fleet.ts";
import { headOf, type ModelCommit, type ModelGit, pinOf, pinValue, releaseEdit } from "./git.ts";
import type { Entry, RepoRollout, Truth } from "./world.ts";

interface Started {
  index: number;
  entry: Entry;
}

/** A model of starting runs: level-triggered, from the commits after the cursor. Policies and runs are the core's. */
export function startAll(truth: Truth, entries: readonly Entry[], now: number): Started[] {
  const started: Started[] = [];
  for (const rollout of truth.rollouts) {
    const entry = entries[rollout.index];
    const next = entry === undefined ? undefined : startOne(truth, rollout, entry, now);
    if (next !== undefined) started.push({ index: rollout.index, entry: next });
  }
  return started;
}

function startOne(truth: Truth, rollout: RepoRollout, entry: Entry, now: number): Entry | undefined {
  const before = entry.run;
  const inProgress = before !== undefined && !isEnded(before) ? before : undefined;
  const newest = newestRelease(truth.git, rollout, entry);
  if (newest === undefined)
    return startRetried(truth, rollout, entry, now) ?? startBack(truth, rollout, entry, now) ?? afterRollback(truth, entry);
  if (newest.version === entry.lastRelease["version"] && isBeingDone(before)) return undefined;
  if (inProgress?.ending !== undefined) return undefined;
  if (inProgress === undefined) return startForward(truth, rollout, entry, newest, now);
  const commit = newest.commit.id;
  switch (onOverlap(rollout.spec.onNewRelease, inProgress)) {
    case "Supersede":
      return { ...entry, run: supersede(inProgress, { values: { version: newest.version }, commit }, now) };
    case "Queue":
      return undefined;
    case "Reject":
      return { ...entry, cursor: headOf(truth.git).index, rejected: { version: newest.version, pull: pullOf(newest.commit), at: now } };
  }
}

/** Released and taken back before it started: what is asked for is being done, or is done. */
function isBeingDone(before: Run | undefined): boolean {
  if (before === undefined) return true;
  return isEnded(before) ? before.phase === "Succeeded" : before.ending === undefined;
}

interface Found {
  version: string;
  commit: ModelCommit;
}

function newestRelease(git: ModelGit, rollout: RepoRollout, entry: Entry): Found | undefined {
  const log = git.log.get(pinOf(releaseEdit(rollout.name))) ?? [];
  for (let place = log.length - 1; place >= 0; place--) {
    const { index, value } = log[place] ?? { index: 0, value: null };
    if (index <= entry.cursor) return undefined;
    const commit = git.commits[index];
    if (commit === undefined || value === null) continue;
    // Merges of ours are never releases.
    if (entry.run?.batches.some((batch) => batch.merged?.commit === commit.id) === true) continue;
    return { version: value, commit };
  }
  return undefined;
}

/** The release PR of a commit. */
function pullOf(commit: ModelCommit): number {
  return 10_000 + commit.index;
}

/** One of three releases was merged by somebody of the team, and one has a commit of nobody's. Nothing is drawn for it. */
function broughtBy({ clusters }: Truth, { model }: RepoRollout, { index }: ModelCommit): Partial<Run["trigger"]> {
  const most = Math.max(0, ...(model?.stages ?? []).map(({ approvals = 0 }) => approvals));
  const which = (index + clusters.size) % 3;
  // As many of the team as there are have to be left.
  if (which === 1 && most < 2) return { merger: "bob" };
  return which === 2 ? { unlinked: [`typed${index}`], reviewers: most < 2 ? [AUTHOR] : ["dave"] } : {};
}

function startForward(truth: Truth, rollout: RepoRollout, entry: Entry, found: Found, now: number): Entry | undefined {
  const { version, commit } = found;
  const release = rollout.plan?.release ?? { values: { version }, attempt: 1 };
  const made = planned(truth, rollout, release);
  if (made === undefined) return undefined;
  const number = entry.lastRun + 1;
  const trigger = { commit: commit.id, pull: pullOf(commit), author: AUTHOR, at: iso(commit.at), ...broughtBy(truth, rollout, commit) };
  const { run: before, lastRelease } = entry;
  const run = startRun({ rollout: rollout.spec, number, release, trigger, plan: made, now, before, lastRelease });
  const halts = haltsOn(before, now);
  return {
    run: halts.length === 0 ? run : { ...run, halts },
    lastRun: number,
    lastRelease: release.values,
    cursor: headOf(truth.git).index,
  };
}

/** undefined: no plan can be made as things are, such as with every cluster gone. */
function planned(truth: Truth, rollout: RepoRollout, release: Release): Plan | undefined {
  if (rollout.plan !== undefined) return rollout.plan;
  const version = release.values["version"] ?? "";
  const targets: Target[] = [];
  for (const target of rollout.targets) {
    if (!truth.clusters.has(target.cluster)) continue;
    const edits = target.edits.map((edit) => ({ ...edit, from: pinValue(truth.git, pinOf(edit)), to: version }));
    if (edits.every((edit) => edit.from !== null)) targets.push({ ...target, edits });
  }
  const input = { rollout: rollout.spec, release, clusters: [...truth.clusters.values()], fleet: hostsOf(truth.clusters), targets };
  const made = plan({ ...input, limits: truth.limits });
  if (made.ok) return made.plan;
  // As if the limits had been lowered after it began.
  const unlimited = plan(input);
  return unlimited.ok ? unlimited.plan : undefined;
}

/** `/retry` of somebody who may, on the PR of a rejected release. */
function startRetried(truth: Truth, rollout: RepoRollout, entry: Entry, now: number): Entry | undefined {
  const { rejected } = entry;
  if (rejected === undefined || (entry.run !== undefined && !isEnded(entry.run))) return undefined;
  const may = ["write", "maintain", "admin"];
  const asked = truth.commands.some(
    (one) => one.pull === rejected.pull && one.command.name === "retry" && may.includes(one.command.permission),
  );
  const commit = truth.git.commits[rejected.pull - 10_000];
  if (!asked || commit === undefined) return undefined;
  return startForward(truth, rollout, entry, { version: rejected.version, commit }, now);
}

/** The rollback that the last run asks for, once it has ended. */
function startBack(truth: Truth, rollout: RepoRollout, entry: Entry, now: number): Entry | undefined {
  const { run: of } = entry;
  if (of?.rollback === undefined || !isEnded(of)) return undefined;
  const back = planRollback(of, of.rollback.to);
  if ("error" in back) return undefined;
  const edit = releaseEdit(rollout.name);
  const [value] = Object.values(back.plan.release.values);
  const restore = value === undefined ? [] : [{ ...edit, from: pinValue(truth.git, pinOf(edit)), to: value }];
  const number = entry.lastRun + 1;
  const run = startRollback({ of, back, number, asked: of.rollback, restore, now });
  return { run, lastRun: number, lastRelease: entry.lastRelease, cursor: headOf(truth.git).index };
}

function afterRollback(truth: Truth, entry: Entry): Entry | undefined {
  const { run } = entry;
  if (run === undefined || run.kind !== "Rollback" || run.phase !== "RolledBack" || (run.restore ?? []).length === 0) return undefined;
  const restored = run.release.values;
  if (Object.keys(restored).every((name) => entry.lastRelease[name] === restored[name])) return undefined;
  return { ...entry, lastRelease: restored, cursor: headOf(truth.git).index };
}
