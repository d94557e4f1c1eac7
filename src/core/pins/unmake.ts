/**
 * Takes away what `create` wrote: the key, and the items, lists and mappings around it that came with it. It is what it was to the byte, as long as
 * what stands there is what would be written there again; what anybody has changed since stays, and is said. Called where a run is taken back.
 */
import { endOf, type MapNode, type SeqNode, type YamlNode } from "../base/yaml-scan/model.ts";
import {
  addToList,
  addToMap,
  emptyFor,
  fillEmpty,
  type Items,
  type Layout,
  layoutOf,
  lineAfter,
  lineEnd,
  type Op,
  plant,
  type Tree,
} from "./create.ts";
import { encodePlain, quoteOf } from "./encode.ts";
import { openPinFile, type PinFile } from "./file.ts";
import { inFlow } from "./holes.ts";
import { locate, readQuery } from "./locate.ts";
import type { PinStep } from "./path.ts";
import { sharedBy } from "./shared.ts";
import { apply, splice } from "./splice.ts";
import { type PinError, pinError } from "./types.ts";

/** A value that was made. `made`: how many steps of its path came with it. */
export interface MadePin {
  path: string;
  value: string;
  made: number;
}

/** `pins`: those that are not what was written. */
type Unmade = { ok: true; text: string } | { ok: false; error: PinError; pins: readonly MadePin[] };

/** Takes all of them away; one that is not there is away already. Errors: PIN_VERIFY, of pins that are not what was written. */
export function unmake(text: string, pins: readonly MadePin[]): Unmade {
  const refused = (those: readonly MadePin[]): Unmade => ({ ok: false, error: pinError("PIN_VERIFY", { kind: "Values" }), pins: those });
  let left = text;
  const gone: MadePin[] = [];
  for (let todo = pins; todo.length > 0; ) {
    const round = cutRound(left, todo);
    // What held them up has gone, or nothing more will.
    if (round.gone.length === 0 && round.stuck.length > 0) return refused(round.stuck);
    left = apply(left, round.cuts);
    gone.push(...round.gone);
    todo = round.stuck;
  }
  const [first] = gone;
  if (first === undefined) return { ok: true, text };
  const kept = gone.filter((pin) => isItemLeft(left, pin));
  if (kept.length > 0) return refused(kept);
  const again = splice(
    left,
    gone.map(({ path, value }) => ({ path, value, create: true })),
  );
  if (!again.ok) return refused([gone[again.edit] ?? first]);
  return again.found.every(({ value }) => value === null) && wordsOf(again.text) === wordsOf(text)
    ? { ok: true, text: left }
    : refused([first]);
}

/** All that can be cut from one text at once, which is read once for it: what another cut bears on waits for the next. */
function cutRound(text: string, pins: readonly MadePin[]): { cuts: Op[]; gone: MadePin[]; stuck: MadePin[] } {
  const [cuts, gone, stuck]: [Op[], MadePin[], MadePin[]] = [[], [], []];
  const left = new Map<YamlNode, number>();
  for (const pin of pins) {
    const cut = cutOf(text, pin);
    if (cut === "absent") continue;
    const rest = cut === "changed" ? 0 : (left.get(cut.within) ?? cut.room);
    if (cut === "changed" || (left.has(cut.within) && rest < 1)) {
      stuck.push(pin);
      continue;
    }
    left.set(cut.within, rest - 1);
    cuts.push({ start: cut.start, end: cut.end, text: "" });
    gone.push(pin);
  }
  cuts.sort((a, b) => a.start - b.start);
  return { cuts, gone, stuck };
}

/** An item that was made, with something else in it by now. */
function isItemLeft(text: string, { path, made }: MadePin): boolean {
  const read = readQuery(path, false);
  const opened = openPinFile(text);
  if (!read.ok || !opened.ok) return true;
  const { document, steps } = read.query.path;
  return steps.some((step, at) => {
    if (step.kind !== "match" || at < steps.length - made) return false;
    const item = locate(opened.file, { path: { document, steps: steps.slice(0, at + 1) }, create: false });
    return item.ok || item.error.code !== "PIN_NOT_FOUND";
  });
}

/** The same whatever the order of items. */
function wordsOf(text: string): string {
  return text
    .split(/[\s,[\]{}]+/)
    .sort()
    .join("\n");
}

interface Cut {
  start: number;
  end: number;
  /** The collection that it is cut from. */
  within: YamlNode;
  /** How many may be cut from that at once: what stays in it says how the next one would be written. */
  room: number;
}

function cutOf(text: string, { path, value, made }: MadePin): Cut | "absent" | "changed" {
  const read = readQuery(path, false);
  const opened = openPinFile(text);
  if (!read.ok || !opened.ok) return "changed";
  const located = locate(opened.file, read.query);
  if (!located.ok) return located.error.code === "PIN_NOT_FOUND" ? "absent" : "changed";
  const { spot } = located;
  if (spot.kind !== "value" || sharedBy(opened.file, spot.reached, spot.node) !== undefined) return "changed";
  const way: Way = { file: opened.file, chain: spot.reached.chain, steps: read.query.path.steps, value, made };
  if (made === 0) return emptied(way) ?? "changed";
  for (let depth = Math.min(made, way.steps.length); depth > 0; depth--) {
    const cut = cutAt(way, depth);
    if (cut !== undefined && cut.end > cut.start) return cut;
  }
  return "changed";
}

interface Way {
  file: PinFile;
  /** From the root to the value: one node a step. */
  chain: readonly YamlNode[];
  steps: readonly PinStep[];
  value: string;
  made: number;
}

/** What so many steps from the end brought, where it is what they would bring again. */
function cutAt({ file, chain, steps, value, made }: Way, depth: number): Cut | undefined {
  const at = steps.length - depth;
  const [within, own] = [chain[at], chain[at + 1]];
  const rest = steps.slice(at);
  const tree = emptyFor(rest[0]);
  if (within === undefined || own === undefined || !plant(tree, rest, value)) return undefined;
  const layout = layoutFor(file, chain.slice(0, at + 1));
  const parts = within.kind === "map" || within.kind === "seq" ? apart(within, own) : undefined;
  if (parts === undefined) return undefined;
  const { others, alone, start, count } = parts;
  // An item that came with it does not stay with nothing but the key that it is found by.
  if (depth < made && steps[at - 1]?.kind === "match" && within.kind === "map" && count < 2) return undefined;
  // What it left empty was there before only where that is what it was written into.
  if (count === 0 && depth !== made) return undefined;
  if (count === 0 && !others.flow) return below(file.text, chain.slice(0, at + 1), tree, layout);
  const { text } = file;
  const op = others.kind === "map" ? addToMap(text, others, tree as Tree, layout) : addToList(text, others, tree as Items, layout);
  const cut = others.flow
    ? { start: op.start, end: endOf(own) }
    : { start: lineEnd(text, text.lastIndexOf("\n", start) - 1), end: lineAfter(text, alone) };
  return text.slice(cut.start, cut.end) === op.text ? { ...cut, within, room: Math.max(1, count - 1) } : undefined;
}

interface Parts {
  /** Without it; in brackets what stands before it, if anything does. */
  others: MapNode | SeqNode;
  alone: MapNode | SeqNode;
  start: number;
  /** How many others there are. */
  count: number;
}

/** A mapping or list without one of its values, and with that alone. */
function apart(node: MapNode | SeqNode, own: YamlNode): Parts | undefined {
  const count = (node.kind === "map" ? node.pairs : node.items).length - 1;
  if (node.kind === "map") {
    const at = node.pairs.findIndex((one) => one.value === own);
    const pair = node.pairs[at];
    const pairs = node.pairs.filter((_, index) => (node.flow && at > 0 ? index < at : index !== at));
    return pair && { others: { ...node, pairs }, alone: { ...node, pairs: [pair] }, start: pair.keyStart, count };
  }
  const at = node.items.indexOf(own);
  const isKept = (_: unknown, index: number) => (node.flow && at > 0 ? index < at : index !== at);
  const others = { ...node, items: node.items.filter(isKept), dashes: node.dashes.filter(isKept) };
  return at < 0 ? undefined : { others, alone: { ...node, items: [own] }, start: node.dashes[at] ?? own.start, count };
}

/** All that stands below a key that had no value. */
function below(text: string, chain: readonly YamlNode[], tree: Tree | Items, layout: Layout): Cut | undefined {
  const [owner, within] = chain.slice(-2);
  const pair = owner?.kind === "map" && !owner.flow ? owner.pairs.find((one) => one.value === within) : undefined;
  if (pair === undefined || owner?.kind !== "map" || (within?.kind !== "map" && within?.kind !== "seq")) return undefined;
  const start = lineEnd(text, pair.colon + 1);
  const empty = { kind: "scalar", style: "empty", start, end: start, anchor: undefined, tag: undefined, bodyIndent: -1 } as const;
  const op = fillEmpty(text, empty, tree, layout, owner.column, true);
  const end = lineAfter(text, within);
  return text.slice(start, end) === op.text ? { start, end, within, room: 1 } : undefined;
}

/** A value behind a key that had none. */
function emptied({ file, chain, value }: Way): Cut | undefined {
  const [owner, node] = chain.slice(-2);
  const pair = owner?.kind === "map" ? owner.pairs.find((one) => one.value === node) : undefined;
  if (pair === undefined || pair.colon < 0 || node?.kind !== "scalar") return undefined;
  const start = pair.colon + 1;
  const written = ` ${encodePlain(value, layoutFor(file, chain), undefined)}`;
  return file.text.slice(start, node.end) === written ? { start, end: node.end, within: node, room: 1 } : undefined;
}

function layoutFor({ text, json }: PinFile, chain: readonly YamlNode[]): Layout {
  return layoutOf(text, { json, flow: inFlow(chain), quote: quoteOf(text) });
}
