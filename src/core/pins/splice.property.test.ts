import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMap, isSeq, parseAllDocuments } from "yaml";
import { type Scalar, scalarsOf } from "../../../test/corpus/scalars.ts";
import { scanYaml } from "../base/yaml-scan/scan.ts";
import { composeYaml } from "./compose.ts";
import { encodePlain, plainType, readsBack } from "./encode.ts";
import { findPin } from "./find.ts";
import { type PinStep, parsePinPath, printPinPath } from "./path.ts";
import { splice } from "./splice.ts";
import { brokenText, yamlText } from "./testing/arbitrary-yaml.ts";
import type { SpliceEdit } from "./types.ts";

const RUNS = Number(process.env["PINS_RUNS"] ?? 400);

const nasty = fc.oneof(
  fc.constantFrom(
    "v1.5.0",
    "3.10",
    "0044289",
    "12e4567",
    "on",
    "y",
    "~",
    "null",
    "1_000",
    "1:30",
    "2024-01-02",
    ".inf",
    "0x1F",
    "=",
    "<<",
    "",
    " x",
    "x ",
    "a: b",
    "a #b",
    "-",
    "- a",
    "---",
    "it's",
    'say "hi"',
    "a\nb",
    "é",
    "\t",
    "{{ x }}",
    "[a",
    "a, b",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "\u2028",
    "\ufeff",
    "\x07",
    "true",
    "7",
    "1.5",
  ),
  fc.string({ unit: "grapheme", maxLength: 10 }),
  fc.string({ unit: fc.constantFrom(..."0123456789eExob._-+:,afTZ"), maxLength: 8 }),
);

function scan(text: string): ReturnType<typeof scanYaml> {
  try {
    return scanYaml(text);
  } catch {
    return undefined;
  }
}

/** The end of a document is told roughly, and keys with anchors have a node only in one of the two. */
function normal(documents: NonNullable<ReturnType<typeof scanYaml>>): string {
  return JSON.stringify(documents, (key, value: unknown) =>
    key === "keyNode" ? undefined : key === "end" && value === undefined ? null : value,
  ).replaceAll(/"end":\d+\}(?=,\{"number"|\]$)/g, "}");
}

describe("the line scanner", () => {
  for (const [name, arbitrary] of [
    ["YAML", yamlText],
    ["damaged YAML", brokenText],
  ] as const) {
    test(`reads ${name} as the yaml package does, or leaves it to it`, () => {
      let read = 0;
      fc.assert(
        fc.property(arbitrary, (text) => {
          const fast = scan(text);
          if (fast === undefined) return;
          read++;
          const slow = composeYaml(text);
          if (!Array.isArray(slow)) throw new Error(`the yaml package refuses it: ${slow.message}`);
          expect(normal(fast)).toEqual(normal(slow));
        }),
        { numRuns: RUNS },
      );
      expect(read).toBeGreaterThan(RUNS / 10);
    });
  }
});

/** What is left of a text without its pins. */
function around(text: string, edits: readonly SpliceEdit[]): string[] {
  const spans = edits.flatMap(({ path }) => {
    const result = findPin(text, { path });
    return result.ok ? [result.found] : [];
  });
  spans.sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    pieces.push(text.slice(at, start));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

const wanted = fc.array(fc.tuple(fc.nat(), nasty), { minLength: 1, maxLength: 4 });

function editsFor(scalars: readonly Scalar[], rolls: readonly (readonly [number, string])[]): Map<Scalar, SpliceEdit> {
  const edits = new Map<Scalar, SpliceEdit>();
  for (const [roll, value] of rolls) {
    const scalar = scalars[roll % scalars.length];
    if (scalar !== undefined) edits.set(scalar, { path: scalar.byIndex, value });
  }
  return edits;
}

test("random values at random places: every byte around stays, and the yaml package reads exactly these values", () => {
  let done = 0;
  fc.assert(
    fc.property(yamlText, wanted, (text, rolls) => {
      const before = scalarsOf(text);
      // One line each: what a block scalar can hold is the tests' in splice.test.ts.
      const usable = before.scalars.filter((one) => !one.style.startsWith("BLOCK") && findPin(text, { path: one.byIndex }).ok);
      if (usable.length === 0) return;
      const edits = editsFor(usable, rolls);
      const result = splice(text, [...edits.values()]);
      if (!result.ok) {
        expect(["PIN_SHARED_ANCHOR"]).toContain(result.error.code);
        return;
      }
      done++;
      const after = scalarsOf(result.text);
      expect(after.error).toBeUndefined();
      const expected = before.scalars.map((one) => edits.get(one)?.value ?? one.value);
      expect(after.scalars.map((one) => one.value)).toEqual(expected);
      expect(after.scalars.map((one) => one.byIndex)).toEqual(before.scalars.map((one) => one.byIndex));
      const plain = [...edits.values()].filter(({ value }) => !value.includes("{{") && !/^(?:~|null|Null|NULL|)$/.test(value));
      if (plain.length === edits.size) expect(around(result.text, plain)).toEqual(around(text, plain));
    }),
    { numRuns: RUNS },
  );
  expect(done).toBeGreaterThan(RUNS / 10);
});

test("a key written where it is absent is the only difference", () => {
  let done = 0;
  fc.assert(
    fc.property(
      yamlText,
      fc.nat(),
      nasty,
      fc.array(fc.constantFrom("new", "on", "odd.key", "7"), { minLength: 1, maxLength: 3 }),
      (text, roll, value, keys) => {
        const maps = mapsOf(text);
        const at = maps[roll % Math.max(maps.length, 1)];
        if (at === undefined) return;
        const path = printPinPath({
          document: at.document,
          steps: [...at.steps, { kind: "key", key: "fresh" }, ...keys.map((key): PinStep => ({ kind: "key", key }))],
        });
        const result = splice(text, [{ path, value, create: true }]);
        if (!result.ok) {
          const { code } = result.error;
          const why = JSON.stringify(result.error);
          // After a `|+` block, blanks at the very end of the file are part of it or not, as more follows or not.
          if (why.includes('"Alias"') || (code === "PIN_VERIFY" && /\n[ \t]+$/.test(text))) return;
          expect(["PIN_SHARED_ANCHOR", "PIN_DUPLICATE_KEY", "PIN_ALIAS_BOMB", "PIN_IS_TEMPLATE"], `${path}: ${why}`).toContain(code);
          return;
        }
        done++;
        const model = valuesOf(text);
        const after = valuesOf(result.text);
        const tree = keys.reduceRight<unknown>((below, key) => ({ [key]: below }), value);
        expect(after).toEqual(withFresh(model, at.document - 1, at.steps, tree));
        expect(strip(result.text, result.found[0]?.start ?? 0, text)).toBe(true);
      },
    ),
    { numRuns: RUNS },
  );
  expect(done).toBeGreaterThan(RUNS / 10);
});

test("an item appended to a list is the only difference, and is found again", () => {
  let done = 0;
  fc.assert(
    fc.property(yamlText, fc.nat(), nasty, nasty, (text, roll, name, value) => {
      const lists = placesOf(text, isSeq);
      const at = lists[roll % Math.max(lists.length, 1)];
      if (at === undefined) return;
      const path = printPinPath({
        document: at.document,
        steps: [...at.steps, { kind: "match", key: "fresh name", value: name }, { kind: "key", key: "v" }],
      });
      const result = splice(text, [{ path, value, create: true }]);
      if (!result.ok) {
        const why = JSON.stringify(result.error);
        // After a `|+` block, blanks at the very end of the file are part of it or not, as more follows or not.
        if (why.includes('"Alias"') || (result.error.code === "PIN_VERIFY" && /\n[ \t]+$/.test(text))) return;
        const codes = ["PIN_NOT_FOUND", "PIN_SHARED_ANCHOR", "PIN_DUPLICATE_KEY", "PIN_ALIAS_BOMB", "PIN_IS_TEMPLATE", "PIN_PATH_SYNTAX"];
        expect(codes, `${path}: ${why}`).toContain(result.error.code);
        return;
      }
      done++;
      const list = valueAt(valuesOf(text)[at.document - 1], at.steps) as unknown[];
      expect(valueAt(valuesOf(result.text)[at.document - 1], at.steps)).toEqual([...list, { "fresh name": name, v: value }]);
      expect(strip(result.text, 0, text)).toBe(true);
      const [again] = [splice(result.text, [{ path, value }])];
      expect(again.ok ? again.text : again.error).toEqual(value.includes("{{") ? expect.anything() : result.text);
    }),
    { numRuns: RUNS },
  );
  expect(done).toBeGreaterThan(0);
});

test("a value of its own in the place of an alias is the only difference: what others share stays", () => {
  let done = 0;
  fc.assert(
    fc.property(yamlText, fc.nat(), fc.nat(), nasty, (text, first, second, value) => {
      const spots = scalarsOf(text).scalars.flatMap(({ byIndex: path, style }) => {
        const found = style.startsWith("BLOCK") ? undefined : findPin(text, { path });
        return found?.ok === true && found.found.end > found.found.start ? [{ path, ...found.found }] : [];
      });
      const anchored = spots[first % Math.max(spots.length - 1, 1)];
      const alias = spots.slice(anchored === undefined ? 0 : spots.indexOf(anchored) + 1)[second % 3];
      if (anchored === undefined || alias === undefined) return;
      const before = `${text.slice(0, anchored.start)}&zz ${text.slice(anchored.start, alias.start)}`;
      const shared = `${before}*zz${text.slice(alias.end)}`;
      const read = findPin(shared, { path: alias.path });
      if (!read.ok) return;
      const plain = splice(shared, [{ path: alias.path, value }]);
      expect(read.found.isShared === true).toBe(!plain.ok && plain.error.code === "PIN_SHARED_ANCHOR");
      if (read.found.value === value || plain.ok) return;
      const result = splice(shared, [{ path: alias.path, value, create: true }]);
      if (!result.ok) return;
      done++;
      expect(result.text.startsWith(before) && result.text.endsWith(text.slice(alias.end))).toBe(true);
      const again = findPin(result.text, { path: alias.path });
      if (!value.includes("{{") && !/^(?:~|null|Null|NULL|)$/.test(value)) expect(again).toMatchObject({ ok: true, found: { value } });
      const kept = findPin(shared, { path: anchored.path });
      expect(kept).toMatchObject({ ok: true, found: { isShared: true } });
      // Nobody has it by that anchor any more, unless the alias is read somewhere else, too.
      const { isShared: _, ...found } = kept.ok ? kept.found : { isShared: true };
      expect(findPin(result.text, { path: anchored.path })).toMatchObject({ ok: true, found });
    }),
    { numRuns: RUNS },
  );
  expect(done).toBeGreaterThan(RUNS / 10);
});

function valueAt(value: unknown, steps: readonly PinStep[]): unknown {
  return steps.reduce((node, step) => (node as Record<string, unknown>)[step.kind === "key" ? step.key : ""], value);
}

/** The old text is what stands before and after what was put in. */
function strip(after: string, near: number, before: string): boolean {
  let prefix = 0;
  while (prefix < before.length && before[prefix] === after[prefix]) prefix++;
  return near >= 0 && after.endsWith(before.slice(prefix)) && after.length > before.length;
}

interface Place {
  document: number;
  steps: PinStep[];
}

function documentsOf(text: string) {
  const documents = parseAllDocuments(text, { schema: "failsafe", logLevel: "silent", prettyErrors: false });
  return Array.isArray(documents) && documents.every((one) => one.errors.length === 0) ? documents : [];
}

function mapsOf(text: string): Place[] {
  return placesOf(text, isMap);
}

/** Below mappings alone. */
function placesOf(text: string, wanted: (node: unknown) => boolean): Place[] {
  const places: Place[] = [];
  const walk = (node: unknown, place: Place): void => {
    if (wanted(node)) places.push(place);
    if (!isMap(node)) return;
    for (const pair of node.items) walk(pair.value, { ...place, steps: [...place.steps, { kind: "key", key: String(pair.key) }] });
  };
  for (const [index, document] of documentsOf(text).entries()) walk(document.contents, { document: index + 1, steps: [] });
  return places.filter(({ steps }) => parsePinPath(printPinPath({ document: 1, steps: [...steps, { kind: "key", key: "x" }] })).ok);
}

function valuesOf(text: string): unknown[] {
  return documentsOf(text).map((document) => document.toJS({ maxAliasCount: 1000 }) as unknown);
}

function withFresh(model: readonly unknown[], document: number, steps: readonly PinStep[], tree: unknown): unknown[] {
  const copy = structuredClone(model) as unknown[];
  let node = copy[document] as Record<string, unknown>;
  for (const step of steps) node = node[step.kind === "key" ? step.key : ""] as Record<string, unknown>;
  node["fresh"] = tree;
  return copy;
}

test("any text written plain or quoted is read back as that text, by YAML 1.1 and 1.2", () => {
  fc.assert(
    fc.property(nasty, fc.boolean(), fc.constantFrom('"' as const, "'" as const), (value, flow, quote) => {
      const source = encodePlain(value, { json: false, flow, quote }, undefined);
      expect(readsBack(source, value, flow), source).toBe(true);
      if (source === value) expect(plainType(value)).toBe("string");
    }),
    { numRuns: RUNS * 5 },
  );
});

const step: fc.Arbitrary<PinStep> = fc.oneof(
  fc.oneof(fc.constantFrom("a", "odd.key", "x y", "#2", "a=b"), fc.string()).map((key): PinStep => ({ kind: "key", key })),
  fc.nat({ max: 99999 }).map((index): PinStep => ({ kind: "index", index })),
  fc.tuple(fc.string({ minLength: 1 }), fc.string()).map(([key, value]): PinStep => ({ kind: "match", key, value })),
);

test("a pin path printed is read as the same path", () => {
  const segment = fc.array(step, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 3 }),
      fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
      (segments, document) => {
        const steps = segments.flatMap((one, at): PinStep[] => (at === 0 ? one : [{ kind: "into" }, ...one]));
        const path = { document, steps };
        expect(parsePinPath(printPinPath(path))).toEqual({ ok: true, value: path });
      },
    ),
    { numRuns: RUNS },
  );
});
