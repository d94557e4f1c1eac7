import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import { findPin } from "../../core/pins/index.ts";
import type { Edit, PlannedTarget } from "../../core/plan/plan-types.ts";
import type { Batch, BatchTarget } from "../../core/run/state/run.ts";
import type { ObservedTarget } from "../../core/run/state/world.ts";
import type { Commits } from "../config-repo/commits.ts";
import type { SyncFiles } from "../config-repo/snapshot.ts";
import { type BranchMove, branchesOf, movesOf } from "../round/act/branch-moves.ts";
import type { BranchHeads } from "../round/observe/branch-heads.ts";
import { readGeneratorPin } from "./targets-generator.ts";

/** By target key, in the order of its edits; null: absent. */
type PinValues = Map<string, (string | null)[]>;

/** A batch, or what may become one. */
interface PinnedBatch {
  branch: string;
  targets: readonly PlannedTarget[];
  merged?: Batch["merged"];
}

/** Reads the pins of one repo's targets. */
export interface Pins {
  /** The pins' values at the base, by target key; a target whose file cannot be read or whose pin is ambiguous is left out. */
  at(base: string, batch: PinnedBatch): Promise<PinValues>;
  /** The same for what stands in files, at any commit. */
  writtenAt(base: string, batch: PinnedBatch): Promise<PinValues>;
  /** The latest commit since the merge that touched a pin's file, where the pin is not what it should be. */
  driftOf(
    base: string,
    target: BatchTarget,
    values: readonly (string | null)[] | undefined,
    merged: string,
  ): Promise<ObservedTarget["drift"]>;
}

const MOST_KEPT = 500;

export function openPins(commits: Commits, heads: BranchHeads): Pins {
  const kept = new BoundedMap<string, PinValues>(MOST_KEPT);
  const parts = { commits, heads, kept };
  return {
    at: (base, batch) => pinsAt(parts, base, batch),
    writtenAt: (base, batch) => writtenAt(parts, base, batch),
    driftOf: (base, target, values, merged) => driftOf(parts, base, target, values, merged),
  };
}

interface Parts {
  commits: Commits;
  heads: BranchHeads;
  kept: Map<string, PinValues>;
}

async function pinsAt(parts: Parts, base: string, batch: PinnedBatch): Promise<PinValues> {
  const written = await writtenAt(parts, base, batch);
  const branches = branchesOf(batch).map(({ branch }) => branch);
  if (branches.length === 0) return written;
  const heads = await parts.heads.of(branches);
  const moves = new Map((await movesOf(parts.commits, batch, heads)).map((move) => [move.branch, move]));
  const values: PinValues = new Map();
  for (const { key, edits } of batch.targets) {
    const own = written.get(key);
    if (own === undefined) continue;
    const moved = batch.merged !== undefined;
    values.set(
      key,
      own.map((value, index) => (edits[index]?.kind === "branch" ? branchValue(moves.get(edits[index].path), moved) : value)),
    );
  }
  return values;
}

/** A branch's value is its head. Once it has been moved, what comes on top of the release commit takes nothing from it. */
function branchValue(move: BranchMove | undefined, moved: boolean): string | null {
  return moved && move?.stands === "past" ? move.to : (move?.head ?? null);
}

async function writtenAt({ commits, kept }: Parts, base: string, batch: PinnedBatch): Promise<PinValues> {
  const key = `${base} ${batch.branch}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const values = await commits.snapshot(base).with((files) => readPins(files, batch));
  kept.set(key, values);
  return values;
}

function readPins(files: SyncFiles, batch: PinnedBatch): PinValues {
  const values: PinValues = new Map();
  for (const target of batch.targets) {
    const found = target.edits.map((edit) => readPin(files, edit));
    if (found.every((value) => value !== undefined)) values.set(target.key, found);
  }
  return values;
}

/** null: absent, or a branch, which stands in no file. undefined: it cannot be read. */
function readPin(files: SyncFiles, edit: Edit): string | null | undefined {
  if (edit.kind === "branch") return null;
  const text = files.read(edit.file);
  if (text === null) return null;
  const result = edit.kind === "clusterGenerator" ? readGeneratorPin(text, edit) : findPin(text, pinOf(edit));
  if (result.ok) return result.found.value;
  return result.error.code === "PIN_NOT_FOUND" ? null : undefined;
}

function pinOf({ path, part, create }: Edit) {
  return defined({ path, part, create });
}

async function driftOf(
  parts: Parts,
  base: string,
  target: BatchTarget,
  values: readonly (string | null)[] | undefined,
  merged: string,
): Promise<ObservedTarget["drift"]> {
  if (values === undefined) return undefined;
  const at = target.edits.findIndex((edit, index) => values[index] !== edit.to);
  const edit = target.edits[at];
  if (edit === undefined) return undefined;
  if (edit.kind === "branch") return branchDrift(parts, edit.path);
  if (merged === base) return undefined;
  const commit = await parts.commits.lastTouchAfter(merged, base, edit.file);
  return commit === undefined ? undefined : { commit: commit.sha, author: commit.author, subject: commit.subject };
}

/** What stands on a branch that is no longer where this run moved it. */
async function branchDrift({ commits, heads }: Parts, branch: string): Promise<ObservedTarget["drift"]> {
  const head = (await heads.of([branch])).get(branch);
  const info = head === undefined ? undefined : await commits.mirror.commitInfo(head);
  return info === undefined ? undefined : { commit: info.sha, author: info.author, subject: info.subject };
}
