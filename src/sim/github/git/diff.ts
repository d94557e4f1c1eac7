import type { BareRepo } from "./bare-repo.ts";
import { mustGit } from "./run-git.ts";

export interface FileDiff {
  path: string;
  previous?: string;
  status: "added" | "removed" | "modified" | "renamed";
  additions: number;
  deletions: number;
  /** Blob at the newer side; at the older one where it was removed. */
  sha: string;
  patch?: string;
}

const STATUS = { A: "added", D: "removed", M: "modified", T: "modified", R: "renamed" } as const;

/** Files that differ between two commits, with counts and, where asked for, the patch of each. One process. */
export async function diffFiles(repo: BareRepo, from: string, to: string, withPatch = false): Promise<FileDiff[]> {
  const args = ["diff", "--raw", "--numstat", "--abbrev=40", "-M", "-z", ...(withPatch ? ["--patch"] : []), from, to];
  const out = await mustGit(repo.dir, args);
  const patchAt = withPatch ? out.indexOf("\0\0") : -1;
  const head = patchAt < 0 ? out : out.slice(0, patchAt);
  const files = parseHead(head.split("\0"));
  if (patchAt >= 0) addPatches(files, out.slice(patchAt + 2));
  return files;
}

function parseHead(fields: string[]): FileDiff[] {
  const files = new Map<string, FileDiff>();
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] ?? "";
    if (field.startsWith(":")) {
      const [, , oldSha = "", newSha = "", letter = "M"] = field.split(" ");
      const status = STATUS[(letter[0] ?? "M") as keyof typeof STATUS] ?? "modified";
      const first = fields[++i] ?? "";
      const path = status === "renamed" ? (fields[++i] ?? "") : first;
      const base = { path, status, additions: 0, deletions: 0, sha: status === "removed" ? oldSha : newSha };
      files.set(path, status === "renamed" ? { ...base, previous: first } : base);
      continue;
    }
    const [, plus = "", minus = "", name = ""] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? [];
    if (plus === "") continue;
    // A rename has an empty name here, then the old and the new one.
    if (name === "") i += 2;
    const file = files.get(name === "" ? (fields[i] ?? "") : name);
    if (file === undefined) continue;
    file.additions = Number(plus) || 0;
    file.deletions = Number(minus) || 0;
  }
  return [...files.values()];
}

function addPatches(files: FileDiff[], text: string): void {
  const pieces = text.split(/^diff --git /m).slice(1);
  // Patches come in the order of the raw lines.
  for (const [index, piece] of pieces.entries()) {
    const file = files[index];
    const hunk = piece.indexOf("\n@@ ");
    if (file !== undefined && hunk >= 0) file.patch = piece.slice(hunk + 1).replace(/\n$/, "");
  }
}
