import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { defined } from "../../../core/base/defined.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import { readManifests } from "../../../core/base/yaml-read.ts";
import type { Plan } from "../../../core/plan/plan-types.ts";
import type { Problem } from "../../../core/reasons/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { generatorCluster } from "../../../engine/config-repo/appset-in-git.ts";
import { kustomizationsIn, takersOf } from "../../../engine/config-repo/kustomize.ts";
import { declaredSet } from "../../../engine/lint/declared-sets.ts";
import { editsOf, type GatherInput, parentOf } from "../../../engine/lint/gather.ts";
import type { ParentApplication } from "../../../engine/lint/gathered.ts";
import { lintOutside } from "../../../engine/lint/lint-outside.ts";
import type { Checkout } from "./lint-checkout.ts";

/** What a checkout knows of where it came from. */
interface Origin {
  repoURL?: string;
  defaultBranch?: string;
}

/**
 * Lint of what stands outside the rollout's file, on a checkout: the ApplicationSet in the repo (or the inventory), the Applications
 * in both that may apply it, and, in a clone, where its remote is.
 */
export function outsideProblems(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, plan: Plan | undefined): Problem[] {
  if (rollout.source.kind !== "ApplicationSet") return [];
  const { set, problems } = declaredSet(rollout, checkout, inventory?.applicationSets);
  if (set === undefined) return problems;
  const origin = originOf(checkout.root);
  const input: GatherInput = {
    rollout,
    set,
    clusters: (inventory?.clusters ?? []).map((cluster) => generatorCluster(cluster)),
    edits: editsOf(plan),
    parents: parentsOf(checkout, inventory),
    seesAll: false,
    repoURL: origin.repoURL,
    defaultBranch: origin.defaultBranch,
  };
  // What cannot be rendered was told where the Applications were looked for.
  return [...problems, ...lintOutside(input, checkout).filter(({ code }) => code !== "SET_BROKEN")];
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

/** Applications as the repo declares them, and as the inventory holds them. */
function parentsOf(checkout: Checkout, inventory: Inventory | undefined): ParentApplication[] {
  const live = (inventory?.applications ?? []).flatMap(asParent);
  return [...live, ...madeOnce(checkout, declaredIn)];
}

function declaredIn(checkout: RepoFiles): ParentApplication[] {
  const kustomizations = kustomizationsIn(checkout);
  return checkout.paths().flatMap((file) => {
    if (!/\.ya?ml$/.test(file)) return [];
    const text = readOrNull(checkout, file);
    if (text === null || !/^kind: Application$/m.test(text)) return [];
    const patched = takersOf(kustomizations, file).some((folder) => kustomizations.get(folder)?.patches === true);
    const found = readManifests(text).flatMap((object) => (object["kind"] === "Application" ? asParent(object) : []));
    return found.map((one) => ({ ...one, patched }));
  });
}

function asParent(object: unknown): ParentApplication[] {
  const view = decodeApplication(object, 0);
  return view === undefined ? [] : [parentOf(view)];
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
