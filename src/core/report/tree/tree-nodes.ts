/** Turns the model of a run into lines of the terminal: stage → batch → cluster → Application. No layout, no colour. */
import { type Counting, countPhrase, shareBesideState } from "../counted.ts";
import { present } from "../markdown.ts";
import { LABELS } from "../model/labels.ts";
import type { ModelNode, RunModel } from "../model/types.ts";
import { line, markOf, type TreeNode, within } from "./tree-marks.ts";

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
