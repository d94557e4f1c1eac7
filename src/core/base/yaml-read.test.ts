import { describe, expect, test } from "vitest";
import { readYaml } from "../spec/parse/yaml.ts";
import { readManifests, readYamlDocuments } from "./yaml-read.ts";

describe("readManifests", () => {
  test("reads as Argo CD does: YAML 1.1, with merge keys", () => {
    const text = "base: &base\n  a: yes\n  mode: 0644\nown:\n  <<: *base\n  b: 1e3\n";
    expect(readManifests(text)).toEqual([{ base: { a: true, mode: 420 }, own: { a: true, mode: 420, b: 1000 } }]);
  });

  test("what is nested without end is a problem with its place, in words of YAML and not of the parser's stack", () => {
    const block = Array.from({ length: 3000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n");
    for (const text of [`kind: A\nb: ${"[".repeat(20_000)}`, `kind: A\nb: ${"{a: ".repeat(20_000)}`, block]) {
      const [document] = readYamlDocuments(text);
      expect(document).toMatchObject({ problem: "it is nested too deeply", line: expect.any(Number) });
      expect(readManifests(text)).toEqual([]);
    }
  });

  test("passes over documents that are broken or no map", () => {
    const text = "kind: A\n---\n- x\n---\na: [\n---\n7\n---\nkind: B\n";
    expect(readManifests(text).map(({ kind }) => kind)).toEqual(["A", "B"]);
  });

  test("a rollout is read by another YAML, where yes is a text", () => {
    expect(readYaml("a: yes\n", "rollouts/a.yaml").sources.map(({ data }) => data)).toEqual([{ a: "yes" }]);
  });
});
