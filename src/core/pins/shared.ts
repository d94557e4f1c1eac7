import { defined } from "../base/defined.ts";
import { position, type YamlNode } from "../base/yaml-scan/model.ts";
import type { PinFile } from "./file.ts";
import { overrideOf } from "./override.ts";
import { type PinStep, printPinPath } from "./path.ts";
import type { Reached } from "./resolve.ts";
import { type PinError, pinError } from "./types.ts";

/** Each is looked for in the whole document. */
const MOST_TOLD = 10;

/** Who else would change with what a path reached; undefined: nobody. `own`: the node, or what it is written into. */
export function sharedBy(file: PinFile, reached: Reached, own: YamlNode | undefined): PinError | undefined {
  const shares = file.surveys[reached.document.number - 1]?.shares ?? new Map<YamlNode, YamlNode[]>();
  const anchored = reached.chain.filter((node) => shares.has(node));
  if (anchored.length === 0 && !reached.borrowed) return undefined;
  const anchors = anchored.length > 0 ? anchored : mergeSources(own, shares);
  const all = anchors.flatMap((node) => [node, ...(shares.get(node) ?? [])]);
  const sharers = all
    .slice(0, MOST_TOLD)
    .map((node) => ({ pinPath: pathTo(reached.document.root, node), line: position(file.text, node.start).line }));
  const [first] = anchors;
  const anchor = first !== undefined && "anchor" in first ? first.anchor : undefined;
  const { alias, chain } = reached;
  const around = chain.slice(0, alias === undefined ? -1 : chain.indexOf(alias));
  // What stands in something shared would be shared again.
  const writable = (alias !== undefined || reached.merged === true) && !around.some((node) => shares.has(node));
  const over = writable ? undefined : overrideOf(file, reached);
  const bare = over?.ok === false ? over.bare : undefined;
  const pinPath = bare && pathTo(reached.document.root, bare);
  const name = /[\w-]+$/.exec(pinPath ?? "")?.[0] ?? "default";
  const follow = bare && pinPath !== undefined ? { pinPath, line: position(file.text, bare.start).line, name } : undefined;
  const isWritable = writable || over?.ok === true;
  return pinError(
    "PIN_SHARED_ANCHOR",
    {
      anchor,
      sharers,
      ...defined({ more: all.length > MOST_TOLD ? all.length - MOST_TOLD : undefined, writable: isWritable || undefined, follow }),
    },
    file.text,
    reached.chain.at(-1)?.start,
  );
}

/** The anchored mapping around a value that a merge key brought in, which is not on the way to it. */
function mergeSources(target: YamlNode | undefined, shares: ReadonlyMap<YamlNode, readonly YamlNode[]>): YamlNode[] {
  return [...shares.keys()].filter((node) => target !== undefined && holds(node, target)).slice(-1);
}

function holds(node: YamlNode, target: YamlNode): boolean {
  if (node === target) return true;
  if (node.kind === "map") return node.pairs.some((pair) => holds(pair.value, target));
  return node.kind === "seq" && node.items.some((item) => holds(item, target));
}

/** The pin path of a node; empty for the whole document. */
function pathTo(root: YamlNode | undefined, target: YamlNode): string {
  return printPinPath({ steps: (root === undefined ? undefined : search(root, target)) ?? [] });
}

function search(node: YamlNode, target: YamlNode): PinStep[] | undefined {
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
