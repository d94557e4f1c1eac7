import type { Edit } from "../../core/plan/plan-types.ts";

/** The base branch as far as a run can tell: commits, and what each pin was worth at each of them. */
export interface ModelGit {
  commits: ModelCommit[];
  byId: Map<string, ModelCommit>;
  /** By pin, oldest first. */
  log: Map<string, PinEntry[]>;
  /** Commits that a force push took out of the history. */
  forgotten: Set<string>;
}

export interface ModelCommit {
  id: string;
  /** From 0. */
  index: number;
  at: number;
  by: string;
  changes: [string, string | null][];
}

interface PinEntry {
  index: number;
  at: number;
  value: string | null;
}

export const BOT = "stagecoach[bot]";

export function pinOf(edit: Pick<Edit, "file" | "path" | "part" | "cluster">): string {
  return edit.part === undefined && edit.cluster === undefined
    ? `${edit.file} ${edit.path}`
    : `${edit.file} ${edit.path} ${edit.part ?? ""} ${edit.cluster ?? ""}`;
}

/** The place where a rollout's release is written. */
export function releaseEdit(rollout: string): Edit {
  return { file: `releases/${rollout}.yaml`, path: "version", kind: "value", from: null, to: "" };
}

export function modelGit(at: number, values: Iterable<[string, string | null]>): ModelGit {
  const git: ModelGit = { commits: [], byId: new Map(), log: new Map(), forgotten: new Set() };
  commit(git, at, "somebody", [...values]);
  return git;
}

export function commit(git: ModelGit, at: number, by: string, changes: [string, string | null][]): ModelCommit {
  const index = git.commits.length;
  const made = { id: (index + 1).toString(16).padStart(40, "0"), index, at, by, changes };
  git.commits.push(made);
  git.byId.set(made.id, made);
  for (const [pin, value] of changes) {
    const entries = git.log.get(pin);
    if (entries === undefined) git.log.set(pin, [{ index, at, value }]);
    else entries.push({ index, at, value });
  }
  return made;
}

export function headOf(git: ModelGit): ModelCommit {
  const head = git.commits.at(-1);
  if (head === undefined) throw new Error("the base branch has no commit");
  return head;
}

export function pinValue(git: ModelGit, pin: string): string | null {
  return git.log.get(pin)?.at(-1)?.value ?? null;
}

/** The commit that changed a pin last. */
export function lastChange(git: ModelGit, pin: string): ModelCommit | undefined {
  const entry = git.log.get(pin)?.at(-1);
  return entry === undefined ? undefined : git.commits[entry.index];
}

/** A force push that drops a commit: it is no ancestor of the head any more. Its pins go back, unless they are kept under other commits. */
export function forget(git: ModelGit, id: string, at: number, keeps: boolean): void {
  const dropped = git.byId.get(id);
  if (dropped === undefined) return;
  const back = dropped.changes
    .filter(([pin]) => !pin.startsWith("releases/"))
    .map(([pin]): [string, string | null] => {
      const entries = git.log.get(pin) ?? [];
      const index = entries.findIndex((entry) => entry.index === dropped.index);
      return [pin, entries[index - 1]?.value ?? null];
    });
  git.forgotten.add(id);
  if (keeps) return;
  commit(git, at, "force push", back);
}
