import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import type { AppSetCluster } from "../../../core/appset/index.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import type { Problem } from "../../../core/base/problem.ts";
import type { Edit, Plan } from "../../../core/plan/plan-types.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { manifestIn } from "../../../engine/config-repo/appset-in-git.ts";
import { lintOutside, type ParentApplication } from "../../../engine/lint/lint-outside.ts";
import { gatherOutside } from "../../../engine/lint/lint-outside-gather.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
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
  const set = findSet(rollout, checkout);
  if (set === undefined) return [];
  const origin = originOf(checkout.root);
  const input = gatherOutside(
    {
      rollout,
      set,
      clusters: clustersOf(inventory),
      edits: editsOf(plan),
      parents: parentsOf(checkout, inventory),
      seesAll: false,
      repoURL: origin.repoURL,
      fileCount: checkout.paths().length,
      defaultBranch: origin.defaultBranch,
    },
    checkout,
  );
  return lintOutside(input).map((problem) => locateIn(rollout, checkout, problem));
}

/** Of a clone; undefined: no clone, or it does not say. */
export function defaultBranchOf(checkout: Checkout): string | undefined {
  return originOf(checkout.root).defaultBranch;
}

function findSet(rollout: Rollout, checkout: Checkout): { file: string; object: Record<string, unknown> } | undefined {
  for (const file of checkout.paths()) {
    if (!/\.ya?ml$/.test(file)) continue;
    const object = manifestIn(
      quietly(() => checkout.read(file)),
      "ApplicationSet",
      [rollout.source],
    );
    if (object !== undefined) return { file, object };
  }
  return undefined;
}

function quietly<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function clustersOf(inventory: Inventory | undefined): AppSetCluster[] {
  return (inventory?.clusters ?? []).map(({ name, server, labels, annotations }) => ({
    name,
    server,
    labels: { ...labels, "argocd.argoproj.io/secret-type": "cluster" },
    annotations,
  }));
}

function editsOf(plan: Plan | undefined): Map<string, readonly Edit[]> {
  const targets = (plan?.stages ?? []).flatMap((stage) => [...stage.batches.flatMap((batch) => batch.targets), ...stage.requeuedTargets]);
  return new Map(targets.map((target) => [target.application, target.edits]));
}

const parents = new WeakMap<Checkout, ParentApplication[]>();

/** Applications as the repo declares them, and as the inventory holds them. */
function parentsOf(checkout: Checkout, inventory: Inventory | undefined): ParentApplication[] {
  const live = (inventory?.applications ?? []).flatMap(asParent);
  const known = parents.get(checkout) ?? checkout.paths().flatMap((file) => declaredIn(checkout, file));
  parents.set(checkout, known);
  return [...live, ...known];
}

function declaredIn(checkout: Checkout, file: string): ParentApplication[] {
  if (!/\.ya?ml$/.test(file)) return [];
  const text = quietly(() => checkout.read(file));
  if (text === null || !/^kind: Application$/m.test(text)) return [];
  return parseAllDocuments(text, { logLevel: "silent" }).flatMap((document) => {
    if (document.errors.length > 0) return [];
    const object = quietly(() => document.toJS({ maxAliasCount: 100 }) as unknown);
    return isRecord(object) && object["kind"] === "Application" ? asParent(object) : [];
  });
}

function asParent(object: unknown): ParentApplication[] {
  const view = decodeApplication(object, 0);
  return view === undefined ? [] : [{ name: view.name, sources: view.spec.sources, owned: view.owner?.kind === "ApplicationSet" }];
}

/** From the clone's own files, without running git: a plain folder has none, and then nothing is said of revisions. */
function originOf(root: string): Origin {
  const directory = gitDirectory(root);
  if (directory === undefined) return {};
  const config = quietly(() => readFileSync(join(directory, "config"), "utf8")) ?? "";
  const url = /^\[remote "origin"\][^[]*?^\s*url\s*=\s*(\S+)/ms.exec(config)?.[1];
  const head = quietly(() => readFileSync(join(directory, "refs/remotes/origin/HEAD"), "utf8")) ?? "";
  const branch = /^ref: refs\/remotes\/origin\/(\S+)/.exec(head)?.[1];
  return { ...(url === undefined ? {} : { repoURL: url }), ...(branch === undefined ? {} : { defaultBranch: branch }) };
}

/** `.git`, or where a work tree's file of that name points to: its common directory. */
function gitDirectory(root: string): string | undefined {
  const path = join(root, ".git");
  if (!existsSync(path)) return undefined;
  if (statSync(path).isDirectory()) return path;
  const named = /^gitdir: (.+)$/m.exec(quietly(() => readFileSync(path, "utf8")) ?? "")?.[1];
  return named === undefined ? undefined : resolve(root, named.replace(/\/worktrees\/[^/]+$/, ""));
}
