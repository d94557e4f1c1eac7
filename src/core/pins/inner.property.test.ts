import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { scalarsOf } from "../../../test/corpus/scalars.ts";
import { anyText } from "../../../test/support/any-text.ts";
import { findPin } from "./find.ts";
import { printPinPath } from "./path.ts";
import { splice } from "./splice.ts";
import { yamlText } from "./testing/arbitrary-yaml.ts";

const RUNS = Number(process.env["PINS_RUNS"] ?? 400);

/** The text as a block scalar in the middle of a file; undefined where a block scalar cannot hold it as it is. */
function wrap(inner: string, indent: number, eol: string): string | undefined {
  const body = inner.split("\n").map((line) => (line === "" ? "" : " ".repeat(indent) + line));
  const text = ["a: 1", "v: |", ...body, "z: end", ""].join("\n");
  const held: unknown = inner === "" || /^[ \n]|\n$/.test(inner) ? undefined : (parse(text) as { v: unknown }).v;
  return held === `${inner}\n` ? text.replaceAll("\n", eol) : undefined;
}

test("an edit inside a block scalar is the edit of what it holds, and nothing else", () => {
  let done = 0;
  const plain = yamlText.filter((text) => /^[^\r\ufeff]*$/.test(text) && !/^[ \n]|\n[ \t]*$/.test(text));
  fc.assert(
    fc.property(
      plain,
      fc.nat(),
      fc.constantFrom("v2.0", "3.10", "it's", "a: b"),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      (inner, roll, value, indent, eol, create) => {
        const text = wrap(inner, indent, eol);
        const scalars = scalarsOf(inner).scalars.filter((one) => !one.byIndex.startsWith("#"));
        const scalar = scalars[roll % Math.max(scalars.length, 1)];
        if (text === undefined || scalar === undefined) return;
        const path = create ? `${scalar.byIndex.replace(/\.[^.[\]]*$/, "")}.fresh.key` : scalar.byIndex;
        const alone = splice(inner, [{ path, value, create }]);
        const held = splice(text, [{ path: `v!${path}`, value, create }]);
        expect(held.ok).toBe(alone.ok);
        if (!held.ok || !alone.ok) return;
        done++;
        const read = parse(held.text) as { a: number; v: string; z: string };
        expect(read.v.trimEnd()).toBe(alone.text.trimEnd());
        expect([read.a, read.z]).toEqual([1, "end"]);
        expect(eol === "\n" || !/(?<!\r)\n/.test(held.text)).toBe(true);
      },
    ),
    { numRuns: RUNS },
  );
  expect(done).toBeGreaterThan(RUNS / 20);
});

interface Leaf {
  path: string;
  value: unknown;
}

function leaves(node: unknown, steps: Parameters<typeof printPinPath>[0]["steps"]): Leaf[] {
  if (Array.isArray(node)) return node.flatMap((item: unknown, index) => leaves(item, [...steps, { kind: "index", index }]));
  if (typeof node === "object" && node !== null)
    return Object.entries(node).flatMap(([key, value]) => leaves(value, [...steps, { kind: "key", key }]));
  return steps.length === 0 ? [] : [{ path: printPinPath({ document: undefined, steps }), value: node }];
}

test("in JSON every value is found, and set to any text; the rest stays byte for byte", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 2, "\t"), fc.nat(), anyText(10), (json, indent, roll, value) => {
      const text = JSON.stringify(json, null, indent);
      const all = leaves(json, []);
      const leaf = all[roll % Math.max(all.length, 1)];
      if (leaf === undefined || typeof json !== "object") return;
      const found = findPin(text, { path: leaf.path }, { format: "json" });
      const template = typeof leaf.value === "string" && leaf.value.includes("{{") && leaf.value.includes("}}");
      if (leaf.value === null || template) {
        expect(found.ok).toBe(false);
        return;
      }
      expect(found).toMatchObject({
        ok: true,
        found: { value: typeof leaf.value === "string" ? leaf.value : JSON.stringify(leaf.value) },
      });
      const done = splice(text, [{ path: leaf.path, value }], { format: "json" });
      if (!done.ok || !found.ok) throw new Error(done.ok ? "" : done.error.code);
      const after = leaves(JSON.parse(done.text), []);
      expect(after.map((one) => one.path)).toEqual(all.map((one) => one.path));
      expect(after.map((one) => String(one.value))).toEqual(all.map((one) => (one === leaf ? value : String(one.value))));
      expect(done.text.startsWith(text.slice(0, found.found.start))).toBe(true);
      expect(done.text.endsWith(text.slice(found.found.end))).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
