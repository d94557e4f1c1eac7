/**
 * Bounds on YAML that the `yaml` package does not have: its own check of keys is quadratic, and so is what it does for aliases and merge keys.
 * All three readers of YAML ask here; each check takes time linear in the text.
 */
import { type Document, isAlias, isCollection, isNode, isPair, isScalar, visit } from "yaml";

/** How the package reads a text in linear time: no check of keys by comparing all, no line quoted for each error. */
export const LINEAR = { logLevel: "silent", prettyErrors: false, uniqueKeys: false } as const;

/** Each document costs the package a schema of its own, whatever is in it. */
export const MOST_DOCUMENTS = 5000;
/** How many nodes aliases and merge keys may stand for, beyond those that are written. */
const MOST_EXPANDED = 400_000;
/** The package finds an anchor by walking a list of them and of the aliases: so many of these cost as much as one node. */
const SOUGHT_FOR_ONE = 50;

/** By character code: what opens, ends, separates or begins something in YAML. */
const MARKS = new Uint8Array(128);
for (const mark of "[]{},:?-&*!|>'\"#\n") MARKS[mark.charCodeAt(0)] = 1;

/** How many marks of YAML a text has: the package takes 5 to 10 microseconds for each of them, whatever is wrong there. */
export function yamlMarks(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) count += MARKS[text.charCodeAt(at)] ?? 0;
  return count;
}

/** Says whether a text has more documents than anybody writes into a file. Asked before it is parsed. */
export function hasTooManyDocuments(text: string, most = MOST_DOCUMENTS): boolean {
  let count = 0;
  for (const _ of text.matchAll(/^(?:---|\.\.\.)(?=\s|$)/gm)) if (++count > most) return true;
  return false;
}

/**
 * Says whether what aliases stand for comes to more than anybody writes, or has no end. A document that was asked may be read
 * without the package's own count.
 */
export function expandsTooFar(document: Document, most = MOST_EXPANDED): boolean {
  let sought = 0;
  let aliases = 0;
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) aliases += 1;
      if (isAlias(node) || node.anchor !== undefined) sought += 1;
    },
  });
  if (aliases === 0) return false;
  const sizes = new Map<string, number>();
  let expanded = 0;
  const sizeOf = (node: unknown): number => {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (!isNode(node)) return 1;
    if (isAlias(node)) {
      const size = (sizes.get(node.source) ?? 0) + sought / SOUGHT_FOR_ONE;
      expanded += size;
      return size;
    }
    // An alias of what it stands in has no end.
    if (node.anchor !== undefined) sizes.set(node.anchor, Number.POSITIVE_INFINITY);
    let size = 1;
    if (isCollection(node)) for (const item of node.items) size += sizeOf(item);
    if (node.anchor !== undefined) sizes.set(node.anchor, size);
    return size;
  };
  sizeOf(document.contents);
  return expanded > most;
}

/** Where keys of a map stand for the second time, in the order of the text. */
export function duplicateKeys(document: Document): number[] {
  const found: number[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) found.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  return found.sort((a, b) => a - b);
}
