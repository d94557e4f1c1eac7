/** What turns one JSON document into another, as RFC 6902 writes it. Called by whoever sends changes of a model. */
import { isRecord } from "../../core/base/is-record.ts";

export type PatchOperation = { op: "add" | "replace"; path: string; value: unknown } | { op: "remove"; path: string };

/**
 * The operations that make `to` of `from`, in order. `undefined` counts as absent. Members of an array are told by their `kind` and `name`
 * where they have them, so one that comes or goes in the middle rewrites none of the others.
 */
export function jsonPatch(from: unknown, to: unknown, path = ""): PatchOperation[] {
  if (Object.is(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) return arrayPatch(from, to, path);
  if (isRecord(from) && isRecord(to)) return objectPatch(from, to, path);
  return [{ op: "replace", path, value: to }];
}

function objectPatch(from: Record<string, unknown>, to: Record<string, unknown>, path: string): PatchOperation[] {
  const operations: PatchOperation[] = [];
  for (const [name, before] of Object.entries(from)) {
    if (before === undefined) continue;
    const at = below(path, name);
    const after = Object.hasOwn(to, name) ? to[name] : undefined;
    if (after === undefined) operations.push({ op: "remove", path: at });
    else operations.push(...jsonPatch(before, after, at));
  }
  for (const [name, value] of Object.entries(to)) {
    if (value === undefined || (Object.hasOwn(from, name) && from[name] !== undefined)) continue;
    operations.push({ op: "add", path: below(path, name), value });
  }
  return operations;
}

function below(path: string, name: string): string {
  return `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** What both begin and end with is compared in place; of the rest in between so many are changed, then the others taken away or added. */
function arrayPatch(from: readonly unknown[], to: readonly unknown[], path: string): PatchOperation[] {
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && isSame(from[head], to[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(from[from.length - 1 - tail], to[to.length - 1 - tail])) tail += 1;
  const operations: PatchOperation[] = [];
  for (let index = 0; index < shorter - tail; index++) operations.push(...jsonPatch(from[index], to[index], `${path}/${index}`));
  for (let index = from.length - tail - 1; index >= to.length - tail; index--) operations.push({ op: "remove", path: `${path}/${index}` });
  for (let index = from.length - tail; index < to.length - tail; index++)
    operations.push({ op: "add", path: `${path}/${index}`, value: to[index] });
  for (let left = tail; left > 0; left--)
    operations.push(...jsonPatch(from[from.length - left], to[to.length - left], `${path}/${to.length - left}`));
  return operations;
}

function isSame(one: unknown, other: unknown): boolean {
  if (!isRecord(one) || !isRecord(other)) return typeof one === typeof other && Object.is(one, other);
  return one["kind"] === other["kind"] && one["name"] === other["name"];
}

/**
 * The document after a patch; what the patch does not touch is the same object as before. Knows what `jsonPatch` writes.
 *
 * @throws TypeError where a path leads nowhere: the document is another than the patch was made for.
 */
export function applyPatch(document: unknown, operations: readonly PatchOperation[]): unknown {
  return operations.reduce((whole, operation) => {
    const names = operation.path.split("/").slice(1);
    return withOne(
      whole,
      names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")),
      operation,
    );
  }, document);
}

function withOne(holder: unknown, [name, ...deeper]: readonly string[], operation: PatchOperation): unknown {
  if (name === undefined) return operation.op === "remove" ? undefined : operation.value;
  const isLast = deeper.length === 0;
  if (Array.isArray(holder)) {
    const index = Number(name);
    const isNew = isLast && operation.op === "add";
    if (!(index >= 0 && index < holder.length + (isNew ? 1 : 0))) throw new TypeError(`nothing at ${operation.path}`);
    if (!isLast) return holder.with(index, withOne(holder[index], deeper, operation));
    return operation.op === "remove" ? holder.toSpliced(index, 1) : holder.toSpliced(index, isNew ? 0 : 1, operation.value);
  }
  if (!isRecord(holder) || (operation.op !== "add" && !Object.hasOwn(holder, name))) throw new TypeError(`nothing at ${operation.path}`);
  if (isLast && operation.op === "remove") return Object.fromEntries(Object.entries(holder).filter(([other]) => other !== name));
  const value = isLast && operation.op !== "remove" ? operation.value : withOne(holder[name], deeper, operation);
  // `__proto__` as well is a name like any other here.
  return Object.fromEntries([...Object.entries(holder).filter(([other]) => other !== name), [name, value]]);
}
