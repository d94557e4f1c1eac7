import fc from "fast-check";
import { expect, test } from "vitest";
import { brokenText, yamlText } from "../../pins/testing/arbitrary-yaml.ts";
import { parsedDocuments, scannedDocuments } from "../yaml-read.ts";

const RUNS = Number(process.env["PINS_RUNS"] ?? 400);

/** What the scanner reads, the package reads as the same; and that is not seldom. */
function holds(texts: fc.Arbitrary<string>): void {
  let scanned = 0;
  fc.assert(
    fc.property(texts, (text) => {
      const found = scannedDocuments(text);
      if (found === undefined) return;
      scanned++;
      expect(found).toStrictEqual(parsedDocuments(text));
    }),
    { numRuns: RUNS * 3 },
  );
  expect(scanned).toBeGreaterThan(RUNS / 10);
}

const NUMBERS = fc.string({ unit: fc.constantFrom(..."0123456789eExXob._-+:afTZ"), maxLength: 8 });
const WORDS = fc.constantFrom(
  "yes",
  "No",
  "on",
  "OFF",
  "y",
  "n",
  "~",
  "null",
  "NULL",
  "Null",
  "true",
  "=",
  "2024-01-02",
  "1:30",
  ".inf",
  "",
);
const QUOTED = fc.string({ unit: "grapheme", maxLength: 10 }).map((text) => JSON.stringify(text));
const ESCAPED = fc
  .string({ unit: fc.constantFrom(..."\\\"/bfnrt0xu 9aé\t'"), maxLength: 8 })
  .chain((text) => fc.constantFrom(`"${text}"`, `'${text}'`));
const scalar = fc.oneof(NUMBERS, WORDS, QUOTED, ESCAPED, fc.string({ maxLength: 8 }));

test.each([
  ["as people write it", yamlText.map((text) => text.replaceAll(/<<|\bon\b|(?<=[&*])\w+/g, "n1"))],
  ["damaged", brokenText],
  ["of one scalar", fc.tuple(scalar, scalar).map(([one, other]) => `a: ${one}\nb:\n  - ${other}\n  - [ ${one}, x ]\n`)],
  ["of one key", fc.tuple(scalar, scalar).map(([key, value]) => `${key}: 1\nx: { ${key}: ${value} }\n`)],
])("YAML %s is read as the yaml package reads it", (_, texts) => {
  holds(texts);
});

test("what stands for something else, or for too much, is left to the package", () => {
  for (const text of [
    "a: &x 1\n",
    "a: &x 1\nb: *x\n",
    "<<: { a: 1 }\n",
    "__proto__: { a: 1 }\n",
    "a: !!str 1\n",
    "yes: 1\n",
    "a: .inf\n",
    "a: 1",
  ])
    expect(scannedDocuments(text)).toBeUndefined();
  expect(scannedDocuments(`a: ${"[".repeat(300)}${"]".repeat(300)}\n`)).toBeUndefined();
});

test("JSON, pretty or not, is read by no YAML parser, and comes out the same", () => {
  const indents = fc.constantFrom(undefined, 2, "\t");
  const roots = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
  holds(fc.tuple(roots, indents).map(([value, indent]) => JSON.stringify(value, null, indent)));
  for (const text of ['{"a":1,"a":2}', '\n {"__proto__":{"a":"\\ud83d\\ude00\\/"},"<<":{"b":"yes"}}', '[{"n":-0,"m":1e-7}]'])
    expect([scannedDocuments(text)]).toStrictEqual([parsedDocuments(text)]);
});

test("JSON with what its own parser takes otherwise is left to the package", () => {
  for (const text of ['{"n":1e400}', `${'{"a":'.repeat(300)}1${"}".repeat(300)}`, '{"a":1}{"b":2}', '{"a":"x'])
    expect(scannedDocuments(text)).toBeUndefined();
});
