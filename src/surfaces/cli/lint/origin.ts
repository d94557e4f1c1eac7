/** Where a clone came from. Called by lint and by planning on a checkout. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { defined } from "../../../core/base/defined.ts";
import type { Checkout } from "./lint-checkout.ts";

/** What a checkout knows of where it came from. */
interface Origin {
  repoURL?: string;
  defaultBranch?: string;
}

/** Of a clone; undefined: no clone, or it does not say. */
export function defaultBranchOf(checkout: Checkout): string | undefined {
  return originOf(checkout.root).defaultBranch;
}

function quietly<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** From the clone's own files, without running git: a plain folder has none, and then nothing is said of revisions. */
export function originOf(root: string): Origin {
  const directory = gitDirectory(root);
  if (directory === undefined) return {};
  const config = quietly(() => readFileSync(join(directory, "config"), "utf8")) ?? "";
  const url = /^\[remote "origin"\][^[]*?^\s*url\s*=\s*(\S+)/ms.exec(config)?.[1];
  const head = quietly(() => readFileSync(join(directory, "refs/remotes/origin/HEAD"), "utf8")) ?? "";
  const branch = /^ref: refs\/remotes\/origin\/(\S+)/.exec(head)?.[1];
  return defined({ repoURL: url, defaultBranch: branch });
}

/** `.git`, or where a work tree's file of that name points to: its common directory. */
function gitDirectory(root: string): string | undefined {
  const path = join(root, ".git");
  if (!existsSync(path)) return undefined;
  if (statSync(path).isDirectory()) return path;
  const named = /^gitdir: (.+)$/m.exec(quietly(() => readFileSync(path, "utf8")) ?? "")?.[1];
  return named === undefined ? undefined : resolve(root, named.replace(/\/worktrees\/[^/]+$/, ""));
}
