/** Turns the model of a run into lines of the terminal: stage → batch → cluster → Application, and folds them. No layout, no colour. */
import { type Counting, countedWords, countPhrase, shareBesideState } from "../counted.ts";
import { present } from "../markdown.ts";
import { LABELS } from "../model/labels.ts";
import type { ModelNode, RunModel } from "../model/types.ts";
import { line, mark, markOf, type TreeNode, within } from "./tree-marks.ts";

const FOLDED = { past: "done", now: "now", later: "later" } as const;

export function treeNode(node: RunModel, now: number): TreeNode {
  return nodeOf({ now, said: node.says, targetBy: node.targetBy }, node);
}

/** `said`: what stands above the tree, and is not said again. */
interface Above {
  now: number;
  said: string;
  targetBy: Counting["targetBy"];
}

function nodeOf(above: Above, node: ModelNode, number = 1): TreeNode {
  const { kind, name, state, since } = node;
  // Of what waits for its turn the Applications say nothing more.
  const below = kind === "cluster" && state === "Requeued" && node.when !== "past" ? [] : node.children;
  const children = below.map((child, at) => nodeOf(above, child, at + 1));
  return line(kind, kind === "stage" && state !== "NotInRun" ? `${number} ${name}` : name, {
    ...{ mark: markOf(node), status: LABELS[state], since, children },
    info: infoOf(node, above).join(" · "),
    state: FOLDED[node.when],
    folded: foldedOf(node, above),
  });
}

/** Above the tree stands what is said of the run; what is said of an Application stands not at its cluster, too. */
function infoOf(node: ModelNode, { now, said, targetBy }: Above): string[] {
  const { kind, facts, says, checking, links, counts, eta, children } = node;
  if (kind === "run") return [];
  if (kind === "stage") return counts === undefined ? [] : [shareBesideState(counts, node, { targetBy })];
  if (kind === "cluster" && children.some((child) => child.kind === "application" && child.says === says && says !== "")) return [];
  const turn = node.state === "Requeued" && eta !== undefined && `looked at again ${within(eta.p50, now)}`;
  // What is well and over needs no words.
  const words = node.when === "past" && (node.state === "Healthy" || node.state === "Passed") ? "" : says === said ? "" : says;
  // A sentence that begins with the pull request names it already.
  const named = kind === "batch" ? links.filter((link) => !words.startsWith(`${link.name} `)) : [];
  const isNamed = kind === "batch" && named.length < links.length;
  // What changes is in the header, and the same for all but a few.
  return present(...named.map((link) => `PR ${link.name}`), ...facts, checking, turn, isNamed ? `PR ${words}` : words);
}

function foldedOf({ kind, children }: ModelNode, counting: Counting): string {
  const of = (wanted: ModelNode["kind"]) => children.filter((child) => child.kind === wanted).length;
  if (kind === "stage") return of("batch") === 1 ? "1 batch" : `${of("batch")} batches`;
  if (kind === "batch") return countPhrase(of("cluster"), counting);
  return kind === "cluster" && of("application") > 1 ? `${of("application")} Applications` : "";
}

/** Folds step by step, until the tree has at most so many lines or there is nothing left to fold. */
export function fitTree(root: TreeNode, lines: number, counting: Counting): TreeNode {
  const folding = (kind: TreeNode["kind"], state?: TreeNode["state"]) => (node: TreeNode) =>
    node.kind === kind && (state === undefined || node.state === state) ? fold(node) : undefined;
  const steps: ((node: TreeNode) => TreeNode | undefined)[] = [
    folding("stage", "done"),
    folding("batch", "later"),
    folding("batch", "done"),
    folding("stage", "later"),
    folding("application", "done"),
    (node) => (node.kind === "cluster" && node.children.length === 1 ? withApplication(node) : undefined),
    (node) => (node.children.length > 0 ? summed(node, counting) : undefined),
    folding("batch"),
    folding("stage"),
  ];
  let tree = root;
  for (const step of steps) {
    if (size(tree) <= lines) return tree;
    tree = mapTree(tree, step);
  }
  return tree;
}

function mapTree(node: TreeNode, change: (node: TreeNode) => TreeNode | undefined): TreeNode {
  const changed = change(node) ?? node;
  return { ...changed, children: changed.children.map((child) => mapTree(child, change)) };
}

function size(node: TreeNode): number {
  return node.children.reduce((sum, child) => sum + size(child), 1);
}

function fold(node: TreeNode): TreeNode {
  return { ...node, children: [], info: [node.info, node.folded].filter(Boolean).join(" · ") };
}

/** One line for a cluster with one Application; its Rollouts stay below it. */
function withApplication(node: TreeNode): TreeNode {
  const [only] = node.children;
  return { ...node, children: only?.children ?? [], info: only?.info ?? node.info };
}

const SHOWN = 5;
const NOUNS: Partial<Record<TreeNode["kind"], string>> = { batch: "batches", rollout: "Rollouts" };

/** Of many like children the failed ones and the first few are shown, the others counted by status. */
function summed(node: TreeNode, counting: Counting): TreeNode {
  if (node.kind === "run" || node.children.length <= SHOWN + 2) return node;
  const worth = node.children.filter(
    (child) => child.status.startsWith("Failed") || child.mark.icon === "⚠" || (child.kind === "batch" && child.state === "now"),
  );
  const shown = new Set([...worth.slice(0, SHOWN), ...node.children].slice(0, Math.max(SHOWN, Math.min(worth.length, SHOWN))));
  const rest = node.children.filter((child) => !shown.has(child));
  const [first] = rest;
  if (first === undefined) return node;
  const counts = [...Map.groupBy(rest, (child) => child.status)].map(([status, those]) => `${those.length} ${status}`);
  const name = `… and ${rest.length} more ${first.kind === "cluster" ? countedWords(counting) : (NOUNS[first.kind] ?? "Applications")}`;
  const more = { ...first, since: undefined, name, status: "", info: counts.join(", "), children: [], mark: mark(" ", "dim") };
  return { ...node, children: [...node.children.filter((child) => shown.has(child)), more] };
}
