import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import { EMPTY_TREE, folderIn } from "../../core/base/folder.ts";
import { findPin } from "../../core/pins/find.ts";
import { unmake } from "../../core/pins/unmake.ts";
import type { Edit, PlannedTarget } from "../../core/plan/plan-types.ts";
import type { Batch, BatchTarget } from "../../core/run/state/run.ts";
import type { ObservedTarget } from "../../core/run/state/world.ts";
import type { Commits } from "../config-repo/commits.ts";
import type { SyncFiles } from "../config-repo/snapshot.ts";
import { type BranchMove, branchesOf, movesOf } from "../round/act/branch-moves.ts";
import type { BranchHeads } from "../round/observe/branch-heads.ts";
import { madePin } from "./apply-edits.ts";
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
  /** The image references that edits of a target are parts of, whole, as they stand at a commit. */
  imagesAt(commit: string, target: PlannedTarget): Promise<string[]>;
  /** The latest commit since the merge that touched a pin's file, where the pin is not what it should be. */
  driftOf(
    base: string,
    target: BatchTarget,
    values: readonly (string | null)[] | undefined,
    merged: string,
  ): Promise<ObservedTarget["drift"]>;
}

const MOST_KEPT = 500;

export function openPins(commits: Commits, headsOf: BranchHeads): Pins {
  const kept = new BoundedMap<string, PinValues>(MOST_KEPT);

  async function writtenAt(base: string, batch: PinnedBatch): Promise<PinValues> {
    const key = `${base} ${batch.branch}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const values = await commits.snapshot(base).with((files) => readPins(files, batch));
    kept.set(key, values);
    return values;
  }

  /** What stands on a branch that is no longer where this run moved it. */
  async function branchDrift(branch: string): Promise<ObservedTarget["drift"]> {
    const head = (await headsOf([branch])).get(branch);
    const info = head === undefined ? undefined : await commits.mirror.commitInfo(head);
    return info && { commit: info.sha, author: info.author, subject: info.subject };
  }

  return {
    writtenAt,
    imagesAt: (commit, target) => commits.snapshot(commit).with((files) => readImages(files, target)),
    async at(base, batch) {
      const written = await writtenAt(base, batch);
      const branches = branchesOf(batch).map(({ branch }) => branch);
      if (branches.length === 0) return written;
      const moves = new Map((await movesOf(commits, batch, await headsOf(branches))).map((move) => [move.branch, move]));
      const moved = batch.merged !== undefined;
      const values: PinValues = new Map();
      for (const { key, edits } of batch.targets) {
        const own = written.get(key);
        if (own === undefined) continue;
        values.set(
          key,
          own.map((value, index) => (edits[index]?.kind === "branch" ? branchValue(moves.get(edits[index].path), moved) : value)),
        );
      }
      return values;
    },
    async driftOf(base, target, values, merged) {
      const edit = values && target.edits.find(({ to }, index) => values[index] !== to);
      if (edit === undefined) return undefined;
      if (edit.kind === "branch") return branchDrift(edit.path);
      const place = edit.kind === "copy" ? `${edit.file}/` : edit.file;
      const commit = merged === base ? undefined : await commits.lastTouchAfter(merged, base, place);
      return commit && { commit: commit.sha, author: commit.author, subject: commit.subject };
    },
  };
}

/** A branch's value is its head. Once it has been moved, what comes on top of the release commit takes nothing from it. */
function branchValue(move: BranchMove | undefined, moved: boolean): string | null {
  return moved && move?.stands === "past" ? move.to : (move?.head ?? null);
}

/** Exported for its test. */
export function readPins(files: SyncFiles, batch: PinnedBatch): PinValues {
  const values: PinValues = new Map();
  const stuck = changedSince(files, batch);
  for (const target of batch.targets) {
    const found = target.edits.map((edit) => (stuck.has(`${edit.file}\n${edit.path}`) ? null : readPin(files, edit)));
    if (found.every((value) => value !== undefined)) values.set(target.key, found);
  }
  return values;
}

/** Of what is to go, what somebody has changed since it was made, by file and path: no value tells that. */
function changedSince(files: SyncFiles, { targets }: PinnedBatch): Set<string> {
  const stuck = new Set<string>();
  const edits = targets.flatMap((target) => target.edits.filter((edit) => edit.removes === true && readPin(files, edit) === edit.from));
  for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) {
    const text = files.read(file) ?? "";
    let pins = [...new Map(own.flatMap((edit) => madePin(edit) ?? []).map((pin) => [pin.path, pin])).values()];
    for (let done = unmake(text, pins); !done.ok; done = unmake(text, pins)) {
      const changed = new Set(done.pins);
      for (const { path } of changed) stuck.add(`${file}\n${path}`);
      pins = pins.filter((one) => !changed.has(one));
    }
  }
  return stuck;
}

/** null: absent, or a branch, which stands in no file. undefined: it cannot be read. */
export function readPin(files: Pick<SyncFiles, "read">, edit: Edit): string | null | undefined {
  if (edit.kind === "branch") return null;
  if (edit.kind === "copy") return readCopied(files, edit);
  const text = files.read(edit.file);
  if (text === null) return null;
  const result = edit.kind === "clusterGenerator" ? readGeneratorPin(text, edit) : findPin(text, pinOf(edit));
  if (result.ok) return result.found.value;
  if (result.error.code !== "PIN_NOT_FOUND") return undefined;
  return edit.removes === true ? edit.to : null;
}

/** A directory that is not there is empty where that is what it was or is to be; else it has left, as any pin may. */
function readCopied(files: Pick<SyncFiles, "read">, { file, from, to }: Edit): string | null {
  return folderIn(files, file)?.id ?? ([from, to].includes(EMPTY_TREE) ? EMPTY_TREE : null);
}

/** `ghcr.io/acme/web:v2`, with a path, so that it is no `key:value`. */
const IMAGE = /^[a-z0-9][\w.-]*(:\d+)?(\/[\w.-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/i;

/** Whether an edit writes an image reference, or a part of one. */
export function isImageEdit({ kind, part, to }: Edit): boolean {
  return kind === "value" && (part === undefined ? IMAGE.test(to) && /[:@]/.test(to) : part !== "ref");
}

function readImages(files: SyncFiles, target: PlannedTarget): string[] {
  const found: string[] = [];
  for (const { file, path } of target.edits.filter(isImageEdit)) {
    const whole = findPin(files.read(file) ?? "", { path });
    if (whole.ok && whole.found.value !== null && IMAGE.test(whole.found.value)) found.push(whole.found.value);
  }
  return found;
}

function pinOf({ path, part, create }: Edit) {
  return defined({ path, part, create });
}
