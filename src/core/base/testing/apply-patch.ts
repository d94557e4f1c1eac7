import type { PatchOperation } from "../json-patch.ts";

/** The document after a patch, as RFC 6902 applies it; only what `jsonPatch` writes is known. */
export function applied(document: unknown, operations: readonly PatchOperation[]): unknown {
  const root = { value: structuredClone(document) };
  for (const operation of operations) {
    const names = ["value", ...operation.path.split("/").slice(1)].map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = names.pop() ?? "";
    let holder = root as unknown as Record<string, unknown>;
    for (const name of names) holder = holder[name] as Record<string, unknown>;
    if (Array.isArray(holder)) {
      if (operation.op === "remove") holder.splice(Number(last), 1);
      else holder.splice(Number(last), operation.op === "add" ? 0 : 1, structuredClone(operation.value));
    } else if (operation.op === "remove") delete holder[last];
    else
      Object.defineProperty(holder, last, {
        value: structuredClone(operation.value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return root.value;
}
