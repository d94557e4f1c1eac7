import { describe, expect, test } from "vitest";
import { readYaml } from "../spec/parse/yaml.ts";
import { readManifests } from "./yaml-read.ts";

describe("readManifests", () => {
  test("reads as Argo CD does: YAML 1.1, with merge keys", () => {
    const text = "base: &base\n  a: yes\n  mode: 0644\nown:\n  <<: *base\n  b: 1e3\n";
    expect(readManifests(text)).toEqual([{ base: { a: true, mode: 420 }, own: { a: true, mode: 420, b: 1000 } }]);
  });

  test("passes over documents that are broken or no map", () => {
    const text = "kind: A\n---\n- x\n---\na: [\n---\n7\n---\nkind: B\n";
    expect(readManifests(text).map(({ kind }) => kind)).toEqual(["A", "B"]);
  });

  test("a rollout is read by another YAML, where yes is a text", () => {
    expect(readYaml("a: yes\n", "rollouts/a.yaml").sources.map(({ data }) => data)).toEqual([{ a: "yes" }]);
  });
});
