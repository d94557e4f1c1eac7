import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../core/base/is-record.ts";
import { ApiError, badRequest } from "./api-error.ts";

/** RFC 7386. Parts that the patch does not touch are shared with the target. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

interface JsonOperation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

function invalid(message: string): ApiError {
  return new ApiError(422, "Invalid", `the server rejected our request due to an error in our request: ${message}`);
}

function tokens(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw invalid(`"${pointer}" is no JSON pointer`);
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(root: unknown, path: readonly string[]): unknown {
  let at: unknown = root;
  for (const token of path) {
    if (Array.isArray(at)) at = at[Number(token)];
    else if (isRecord(at) && Object.hasOwn(at, token)) at = at[token];
    else throw invalid(`nothing at /${path.join("/")}`);
  }
  return at;
}

function index(list: readonly unknown[], token: string, room: number): number {
  const at = token === "-" ? list.length : Number(token);
  if (!Number.isInteger(at) || at < 0 || at >= list.length + room) throw invalid(`no index ${token} in a list of ${list.length}`);
  return at;
}

type Edit = { kind: "add" | "replace"; value: unknown } | { kind: "remove" };

function editList(list: readonly unknown[], token: string, edit: Edit): unknown[] {
  const copy = [...list];
  const at = index(copy, token, edit.kind === "add" ? 1 : 0);
  if (edit.kind === "remove") copy.splice(at, 1);
  else copy.splice(at, edit.kind === "add" ? 0 : 1, edit.value);
  return copy;
}

/** Returns a copy in which the value at the path is added, replaced or removed. */
function edited(root: unknown, path: readonly string[], edit: Edit): unknown {
  const [token, ...rest] = path;
  if (token === undefined) return edit.kind === "remove" ? null : edit.value;
  if (Array.isArray(root)) {
    if (rest.length === 0) return editList(root, token, edit);
    const copy: unknown[] = [...root];
    const at = index(copy, token, 0);
    copy[at] = edited(copy[at], rest, edit);
    return copy;
  }
  if (!isRecord(root)) throw invalid(`nothing at ${token}`);
  const missing = !Object.hasOwn(root, token);
  if (missing && (rest.length > 0 || edit.kind !== "add")) throw invalid(`nothing at ${token}`);
  if (rest.length > 0) return { ...root, [token]: edited(root[token], rest, edit) };
  if (edit.kind !== "remove") return { ...root, [token]: edit.value };
  const { [token]: _, ...others } = root;
  return others;
}

function apply(root: unknown, operation: JsonOperation): unknown {
  const path = tokens(operation.path);
  switch (operation.op) {
    case "add":
    case "replace":
      return edited(root, path, { kind: operation.op, value: operation.value });
    case "remove":
      return edited(root, path, { kind: "remove" });
    case "move":
    case "copy": {
      const from = tokens(operation.from ?? "");
      const value = read(root, from);
      const base = operation.op === "move" ? edited(root, from, { kind: "remove" }) : root;
      return edited(base, path, { kind: "add", value });
    }
    case "test":
      if (!isDeepStrictEqual(read(root, path), operation.value)) throw invalid(`testing ${operation.path}: the value is another one`);
      return root;
    default:
      throw invalid(`unknown operation "${operation.op}"`);
  }
}

/** RFC 6902. Nothing is changed in place; throws ApiError 422 where an operation cannot be done. */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  return patch.reduce<unknown>((root, operation: JsonOperation) => apply(root, operation), target);
}
