import { describe, expect, test } from "vitest";
import { render } from "./render.ts";
import type { AppSetCluster, ParamSet, RenderContext } from "./types.ts";

const CLUSTERS: AppSetCluster[] = ["staging", "production"].map((env, index) => ({
  name: `c${index}`,
  server: `https://c${index}`,
  labels: { "argocd.argoproj.io/secret-type": "cluster", env },
  annotations: {},
}));
const FILES: Record<string, string> = { "staging/app.yaml": "tag: s", "production/app.yaml": "tag: p" };
const CONTEXT: RenderContext = {
  clusters: CLUSTERS,
  repo: () => ({ paths: () => Object.keys(FILES), read: (path) => FILES[path] ?? null }),
};
const SELECTED = { clusters: { selector: { matchExpressions: [{ key: "env", operator: "Exists" }] } } };

function evaluate(generator: unknown, spec: object = {}) {
  return render({ spec: { generators: [generator], template: { metadata: { name: "x" }, spec: {} }, ...spec } }, CONTEXT).generators[0];
}
function params(generator: unknown, spec: object = {}): ParamSet[] {
  const result = evaluate(generator, spec);
  expect(result?.problem).toBeUndefined();
  return result?.params ?? [];
}
const list = (...elements: object[]) => ({ list: { elements } });
const GO = { goTemplate: true };

describe("matrix", () => {
  test("every set of the first with every set of the second, the first's order leading", () => {
    const sets = params({ matrix: { generators: [list({ a: "1" }, { a: "2" }), list({ b: "x" }, { b: "y" })] } });
    expect(sets.map((set) => `${set["a"]}${set["b"]}`)).toEqual(["1x", "1y", "2x", "2y"]);
  });
  test("the second generator is rendered with the first's parameters", () => {
    const files = (path: string) => ({ git: { repoURL: "r", revision: "HEAD", files: [{ path }] } });
    expect(
      params({ matrix: { generators: [SELECTED, files("{{metadata.labels.env}}/app.yaml")] } }).map((set) => [set["name"], set["tag"]]),
    ).toEqual([
      ["c0", "s"],
      ["c1", "p"],
    ]);
    expect(params({ matrix: { generators: [SELECTED, files("{{ .metadata.labels.env }}/*.yaml")] } }, GO).map((set) => set["tag"])).toEqual(
      ["s", "p"],
    );
    const clusters = { clusters: { selector: { matchLabels: { env: "{{ .e }}" } } } };
    expect(params({ matrix: { generators: [list({ e: "production" }), clusters] } }, GO).map((set) => set["name"])).toEqual(["c1"]);
    const yaml = { list: { elementsYaml: "{{ .items | toJson }}" } };
    expect(params({ matrix: { generators: [list({ items: [{ n: 1 }, { n: 2 }] }), yaml] } }, GO).map((set) => set["n"])).toEqual([1, 2]);
  });
  describe("values of the second that name what the first gives, or what only the second does, are not rendered to nothing", () => {
    const STRICT = { ...GO, goTemplateOptions: ["missingkey=error"] };
    const file = (values: Record<string, string>) => ({ git: { repoURL: "r", files: [{ path: "staging/app.yaml" }], values } });
    test.each<[string, object, Record<string, string>, unknown]>([
      ["one of the first", GO, { v: "{{ .a }}" }, "1"],
      ["one of the second", GO, { v: "{{ .path.basename }}-{{ .tag }}" }, "staging-s"],
      ["one of the second, where a missing key is an error", STRICT, { v: "{{ .path.basename }}" }, "staging"],
      ["one of the first, where a missing key is an error", STRICT, { v: "{{ .a }}" }, "1"],
      ["a function of what the first lacks", GO, { v: '{{ default "d" .tag }}' }, "s"],
      ["one of each: the second knows its own only", GO, { v: "{{ .a }}{{ .tag }}" }, "<no value>s"],
      ["one of each, without goTemplate", {}, { v: "{{a}}{{tag}}" }, "1s"],
    ])("%s", (_, spec, values, result) => {
      const [set] = params({ matrix: { generators: [list({ a: "1" }), file(values)] } }, spec);
      expect((set?.["values"] as ParamSet | undefined)?.["v"] ?? set?.["values.v"]).toBe(result);
    });
    test("one of each is an error where a missing key is", () => {
      const generator = { matrix: { generators: [list({ a: "1" }), file({ v: "{{ .a }}{{ .tag }}" })] } };
      expect(evaluate(generator, STRICT)?.problem).toMatchObject({ code: "TEMPLATE_ERROR", because: { code: "GO_NO_KEY", key: "a" } });
    });
    test("clusters by a label that the first names, with a value of the first's", () => {
      const clusters = {
        clusters: { selector: { matchLabels: { env: "{{ .path.basename }}" } }, values: { env: "{{ .path.basename }}" } },
      };
      const files = { git: { repoURL: "r", directories: [{ path: "*" }] } };
      const sets = params({ matrix: { generators: [files, clusters] } }, STRICT);
      expect(sets.map(({ name, values }) => [name, values])).toEqual([
        ["c1", { env: "production" }],
        ["c0", { env: "staging" }],
      ]);
    });
    test("in a merge inside the matrix, too", () => {
      const merge = {
        merge: {
          mergeKeys: ["name"],
          generators: [
            { clusters: { selector: { matchLabels: { env: "staging" } }, values: { own: "{{ .name }}", outer: "{{ .a }}" } } },
            list({ name: "c0", x: "y" }),
          ],
        },
      };
      expect(params({ matrix: { generators: [list({ a: "1" }), merge] } }, GO)).toMatchObject([
        { name: "c0", x: "y", values: { own: "c0", outer: "1" } },
      ]);
    });
    test("what is no value is still an error", () => {
      const bad = { git: { repoURL: "r", files: [{ path: "{{ index .rmap .a }}" }], values: { v: "x" } } };
      expect(evaluate({ matrix: { generators: [list({ a: "1" }), bad] } }, GO)?.problem).toMatchObject({ code: "TEMPLATE_ERROR" });
    });
  });
  test("the same key twice: an error when values differ, with goTemplate the first's wins, deeply", () => {
    const generators = [list({ k: "1", same: "s" }), list({ k: "2", same: "s" })];
    expect(evaluate({ matrix: { generators } })?.problem).toMatchObject({ kind: "BothGive", key: "k", mine: "1", theirs: "2" });
    expect(params({ matrix: { generators } }, GO)).toEqual([{ k: "1", same: "s" }]);
    const nested = [list({ m: { a: "1", b: { x: 1 } } }), list({ m: { a: "2", b: { y: 2 }, c: 3 } })];
    expect(params({ matrix: { generators: nested } }, GO)).toEqual([{ m: { a: "1", b: { x: 1, y: 2 }, c: 3 } }]);
  });
  test("a matrix in a matrix, and no deeper", () => {
    const inner = { matrix: { generators: [list({ b: "1" }, { b: "2" }), list({ c: "x" })] } };
    expect(params({ matrix: { generators: [list({ a: "0" }), inner] } })).toEqual([
      { a: "0", b: "1", c: "x" },
      { a: "0", b: "2", c: "x" },
    ]);
    const deeper = { matrix: { generators: [list({ a: "0" }), { matrix: { generators: [inner, list({ d: "1" })] } }] } };
    expect(evaluate(deeper)?.problem).toMatchObject({ kind: "NestedTwice" });
  });
  test("selectors two levels down count only with applyNestedSelectors", () => {
    const inner = {
      matrix: { generators: [{ ...list({ b: "1" }, { b: "2" }), selector: { matchLabels: { b: "2" } } }, list({ c: "x" })] },
    };
    const generator = { matrix: { generators: [list({ a: "0" }), inner] } };
    expect(params(generator)).toHaveLength(2);
    expect(params(generator, { applyNestedSelectors: true })).toHaveLength(1);
    expect(
      params({ matrix: { generators: [{ ...list({ b: "1" }, { b: "2" }), selector: { matchLabels: { b: "2" } } }, list({ c: "x" })] } }),
    ).toHaveLength(1);
  });
  test.each([
    ["one generator", [list({ a: "1" })], { kind: "MatrixOf", generators: 1 }],
    ["three", [list({}), list({}), list({})], { kind: "MatrixOf", generators: 3 }],
    ["two in one entry", [{ ...list({}), clusters: {} }, list({})], { kind: "SeveralGenerators", generators: ["list", "clusters"] }],
    ["none in an entry", [{}, list({})], { kind: "NoGenerator" }],
  ])("%s is an error", (_, generators, why) => {
    expect(evaluate({ matrix: { generators } })?.problem).toMatchObject(why);
  });
});

describe("merge", () => {
  const base = list({ name: "a", x: "1" }, { name: "b", x: "1" });
  test("later sets override the base where the keys match; others are dropped", () => {
    const generators = [base, list({ name: "b", x: "2", y: "3" }, { name: "zz", x: "9" })];
    expect(params({ merge: { mergeKeys: ["name"], generators } })).toEqual([
      { name: "a", x: "1" },
      { name: "b", x: "2", y: "3" },
    ]);
  });
  test("an override may hold an empty text", () => {
    expect(params({ merge: { mergeKeys: ["name"], generators: [base, list({ name: "a", x: "" })] } }, GO)[0]).toEqual({ name: "a", x: "" });
  });
  test("the later of two overrides wins, and maps merge with goTemplate", () => {
    const generators = [list({ n: "a", m: { x: 1, y: 1 } }), list({ n: "a", m: { y: 2 } }), list({ n: "a", m: { y: 3 } })];
    expect(params({ merge: { mergeKeys: ["n"], generators } }, GO)).toEqual([{ n: "a", m: { x: 1, y: 3 } }]);
  });
  test("a key that is missing counts as null, so it may be missing once", () => {
    expect(params({ merge: { mergeKeys: ["name"], generators: [list({ x: "1" }), list({ y: "2" })] } })).toEqual([{ x: "1", y: "2" }]);
  });
  test.each([
    ["two sets of one key", { mergeKeys: ["x"], generators: [base, base] }, { kind: "KeysTwice", dotted: false }],
    ["no merge keys", { generators: [base, base] }, { kind: "NoMergeKeys" }],
    ["one generator", { mergeKeys: ["name"], generators: [base] }, { kind: "MergeOfOne" }],
  ])("%s is an error", (_, merge, why) => {
    expect(evaluate({ merge })?.problem).toMatchObject(why);
  });
  test("dotted merge keys do not work with goTemplate, and the problem says so", () => {
    expect(params({ merge: { mergeKeys: ["metadata.labels.env"], generators: [SELECTED, list()] } })).toHaveLength(2);
    expect(evaluate({ merge: { mergeKeys: ["metadata.labels.env"], generators: [SELECTED, list()] } }, GO)?.problem).toMatchObject({
      kind: "KeysMissing",
      dotted: true,
    });
  });
});
