import type { PinFile } from "./file.ts";
import { type PinNode, position } from "./model.ts";
import { type PinStep, printPinPath } from "./path.ts";
import type { Spot } from "./spot.ts";
import type { PinError } from "./types.ts";

/** Who else would change with a spot; undefined: nobody. */
export function sharedBy(file: PinFile, spot: Spot): PinError | undefined {
  const { reached } = spot;
  const survey = file.surveys[reached.document.number - 1];
  const anchored = reached.chain.filter((node) => survey?.shares.has(node));
  if (anchored.length === 0 && !reached.borrowed) return undefined;
  const merged = reached.borrowed && anchored.length === 0;
  const anchors = merged ? mergeSources(spot, file) : anchored;
  const sharers = anchors.flatMap((node) => [node, ...(survey?.shares.get(node) ?? [])]);
  const names = sharers.map((node) => `${pathTo(file, reached.document.number, node)} (line ${position(file.text, node.start).line})`);
  const name = anchors[0] !== undefined && "anchor" in anchors[0] ? `&${anchors[0].anchor}` : "an anchor";
  const message = `the value is shared through ${name}: ${names.join(", ")}`;
  const own = spot.kind === "value" ? spot.node : reached.chain.at(-1);
  const hint = "It would change for all of them; write it out where it should differ, without the anchor.";
  return { code: "PIN_SHARED_ANCHOR", message, hint, ...position(file.text, own?.start ?? 0) };
}

/** The anchored mapping around a value that a merge key brought in, which is not on the way to it. */
function mergeSources(spot: Spot, file: PinFile): PinNode[] {
  const target = spot.kind === "hole" ? spot.at : spot.node;
  const survey = file.surveys[spot.reached.document.number - 1];
  const holders = [...(survey?.shares.keys() ?? [])].filter((node) => target !== undefined && holds(node, target));
  return holders.slice(-1);
}

function holds(node: PinNode, target: PinNode): boolean {
  if (node === target) return true;
  if (node.kind === "map") return node.pairs.some((pair) => holds(pair.value, target));
  return node.kind === "seq" && node.items.some((item) => holds(item, target));
}

/** The pin path of a node, for messages. */
function pathTo(file: PinFile, number: number, target: PinNode): string {
  const root = file.documents[number - 1]?.root;
  const steps = root === undefined ? undefined : search(root, target);
  return steps === undefined || steps.length === 0 ? "the whole document" : printPinPath({ document: undefined, steps });
}

function search(node: PinNode, target: PinNode): PinStep[] | undefined {
  if (node === target) return [];
  if (node.kind === "map") {
    for (const pair of node.pairs) {
      const rest = search(pair.value, target);
      if (rest !== undefined) return [{ kind: "key", key: pair.key ?? "?" }, ...rest];
    }
  }
  if (node.kind === "seq") {
    for (const [index, item] of node.items.entries()) {
      const rest = search(item, target);
      if (rest !== undefined) return [{ kind: "index", index }, ...rest];
    }
  }
  return undefined;
}
