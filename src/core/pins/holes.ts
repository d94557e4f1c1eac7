/** Collects what is to be written where nothing stands yet, or over what is borrowed, and writes it. Called by `splice.ts`. */
import { type AliasNode, type MapNode, position, type ScalarNode, type YamlNode } from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import {
  addToList,
  addToMap,
  emptyFor,
  fillEmpty,
  fillFile,
  flowOver,
  type Items,
  type Layout,
  type Op,
  plant,
  type Tree,
  type Value,
} from "./create.ts";
import type { PinFile } from "./file.ts";
import type { Spot } from "./locate.ts";
import { type Override, plantOver } from "./override.ts";
import { writePart } from "./part.ts";
import type { Reached } from "./resolve.ts";
import { type PinError, type PinPart, pinError } from "./types.ts";
import type { Expect } from "./verify.ts";

type Hole = Spot & { kind: "hole" };

/** By where it is written: a mapping, a list, an empty value, an alias in whose place it comes, or a file without any. */
type Holes = Map<YamlNode | "file", { tree: Value; edit: number; at: Hole["at"] | AliasNode; reached: Reached }>;

export interface HoleWork {
  file: PinFile;
  layout: Layout;
  ops: Op[];
  expects: Map<YamlNode, Expect>;
  holes: Holes;
}

export interface HoleJob {
  edit: number;
  part: PinPart | undefined;
  value: string;
}

export function collectHole({ file: { text }, holes }: HoleWork, job: HoleJob, spot: Hole): PinError | undefined {
  const key = spot.at ?? "file";
  const start = spot.at?.start ?? text.length;
  if (job.part !== undefined) return pinError("PIN_PART", { kind: "NoValue", part: job.part }, text, start);
  const known = holes.get(key)?.tree;
  const tree = spot.rest.length === 0 ? job.value : (known ?? emptyFor(spot.rest[0]));
  const fits = typeof tree === "string" ? spot.rest.length === 0 && (known ?? tree) === tree : plant(tree, spot.rest, job.value);
  if (!fits) return pinError("PIN_AMBIGUOUS", { kind: "TwoValues" }, text, start);
  holes.set(key, { tree, edit: job.edit, at: spot.at, reached: spot.reached });
  return undefined;
}

/** A value of its own over what others share; none where it says the same. */
export function collectOver(
  { file: { text }, holes }: HoleWork,
  job: HoleJob,
  spot: Spot & { kind: "value" },
  to: Override,
): PinError | undefined {
  const { node, reached } = spot;
  const old = scalarText(text, node);
  const next = job.part === undefined ? { ok: true as const, value: job.value } : writePart(old, job.part, job.value);
  if (!next.ok) return { ...next.error, ...position(text, node.start) };
  if (next.value === old) return undefined;
  const known = holes.get(to.at)?.tree;
  const within: Value | undefined = to.key === undefined ? known : known instanceof Map ? known.get(to.key) : undefined;
  const over = plantOver(within, to.levels, next.value);
  const fits = over !== undefined && (to.key === undefined || known === undefined || known instanceof Map);
  if (!fits) return pinError("PIN_AMBIGUOUS", { kind: "TwoValues" }, text, node.start);
  const tree: Value = to.key === undefined ? over : (known instanceof Map ? known : new Map()).set(to.key, over);
  const chain = reached.chain.slice(0, reached.chain.indexOf(to.at) + 1);
  holes.set(to.at, { tree, edit: job.edit, at: to.at, reached: { ...reached, chain } });
  return undefined;
}

export function inFlow(chain: readonly YamlNode[]): boolean {
  return chain.some((node) => (node.kind === "map" || node.kind === "seq") && node.flow);
}

export function writeHoles({ file: { text }, layout: whole, ops, expects }: HoleWork, holes: Holes): void {
  // Where two end on one line, what is deeper comes first.
  const inward = [...holes.values()].sort((a, b) => b.reached.chain.length - a.reached.chain.length);
  for (const { tree, at, reached } of inward) {
    const layout = { ...whole, flow: inFlow(reached.chain) };
    if (at === undefined) ops.push(fillFile(text, tree as Tree | Items, layout));
    else if (at.kind === "seq") {
      ops.push(addToList(text, at, tree as Items, layout));
      expects.set(at, { kind: "added", tree });
    } else if (at.kind === "map") {
      ops.push(addToMap(text, at, tree as Tree, layout));
      expects.set(at, { kind: "added", tree });
    } else if (typeof tree !== "string" && "own" in tree) {
      ops.push({ start: at.start, end: at.end, text: flowOver(tree, layout) });
      expects.set(at, { kind: "tree", tree });
    } else if (at.kind === "scalar") {
      ops.push(fillEmpty(text, at, tree, layout, reached.column, hasColon(at, reached)));
      expects.set(at, typeof tree === "string" ? { kind: "text", text: tree } : { kind: "tree", tree });
    }
  }
}

/** `{a, b}` has keys without a colon. */
function hasColon(node: ScalarNode, reached: Pick<Reached, "chain">): boolean {
  const owner = reached.chain.findLast((one): one is MapNode => one.kind === "map");
  return owner?.pairs.find((pair) => pair.value === node)?.colon !== -1;
}
