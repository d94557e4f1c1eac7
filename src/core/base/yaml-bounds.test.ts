import { describe, expect, test } from "vitest";
import { readYaml } from "../spec/parse/yaml.ts";
import { readYamlDocuments } from "./yaml-read.ts";

const SIZE = 64 * 1024;
const repeat = (piece: (index: number) => string, head = "", tail = ""): string => {
  let text = head;
  for (let index = 0; text.length < SIZE - tail.length; index++) text += piece(index);
  return text + tail;
};

/** Each took the square of its length, in the package or around it. */
const CRUEL: Record<string, string> = {
  "keys that are all different": repeat((i) => `k${i}: 1\n`),
  "the same within brackets": repeat((i) => `k${i}: 1, `, "{", "}"),
  "aliases of one anchor": repeat(() => "- *a\n", "- &a 1\n"),
  "an anchor for each alias": repeat((i) => `- &a${i} 1\n- *a${i}\n`),
  "a large map merged again and again": repeat((i) => (i < SIZE / 32 ? `k${i}: 1\n  ` : "<<: *a\n  "), "a: &a\n  "),
  "aliases that multiply": repeat((i) => `- &a${i} [*a${i - 1}, *a${i - 1}]\n`, "- &a-1 [x]\n"),
  "blank lines of a block": repeat(() => "\n", "k: |\n"),
  "carriage returns": repeat(() => "\r"),
  "one mistake a character": repeat(() => ",", "[", "]"),
  "one document a line": repeat(() => "---\na: 1\n"),
};

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("no YAML takes the square of its length", () => {
  // The worst of them took 20 s before.
  test.each(Object.entries(CRUEL))("%s", (_name, text) => {
    expect(cpuOf(() => readYaml(text, "rollouts/a.yaml"))).toBeLessThan(3000);
    expect(cpuOf(() => readYamlDocuments(text))).toBeLessThan(3000);
  });
});

describe("aliases", () => {
  test("as people write them are read: a block that a hundred maps merge", () => {
    const text = `base: &base {a: 1, b: 2}\n${Array.from({ length: 100 }, (_, i) => `m${i}: {<<: *base, c: ${i}}`).join("\n")}\n`;
    expect(readYaml(text, "a.yaml").sources[0]?.data).toMatchObject({ m99: { a: 1, b: 2, c: 99 } });
    expect(readYamlDocuments(text)[0]?.value).toMatchObject({ m99: { a: 1, b: 2, c: 99 } });
  });

  test("of what they stand in have no end, and are refused", () => {
    expect(readYaml("a: &a [*a]\n", "a.yaml").problems).toMatchObject([{ code: "ALIAS_BOMB" }]);
    expect(readYamlDocuments("a: &a [*a]\n")[0]).toMatchObject({ problem: expect.any(String) });
  });
});

test("a key that stands twice is told where it stands, wherever in the file", () => {
  const { problems } = readYaml("a:\n  - b: 1\n    b: 2\nc: 1\nc: 2\n", "a.yaml");
  expect(problems).toMatchObject([
    { code: "DUPLICATE_KEY", line: 3 },
    { code: "DUPLICATE_KEY", line: 5 },
  ]);
});
