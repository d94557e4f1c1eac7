import { type Counting, countedWords } from "../counted.ts";
import { mark, type TreeNode } from "./tree-marks.ts";

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
