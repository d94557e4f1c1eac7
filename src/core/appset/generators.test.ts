import { describe, expect, test } from "vitest";
import { render } from "./render.ts";
import type { AppSetCluster, ParamSet, RenderContext, RenderResult } from "./types.ts";

const TYPE = { "argocd.argoproj.io/secret-type": "cluster" };
const CLUSTERS: AppSetCluster[] = [
  { name: "EU_1", server: "https://eu-1", labels: { ...TYPE, area: "emea" }, annotations: { team: "pay" }, project: "p1" },
  { name: "us-1", server: "https://us-1", labels: { ...TYPE, area: "amer" }, annotations: {} },
];

function repoOf(files: Record<string, string>): RenderContext {
  return { clusters: CLUSTERS, repo: () => ({ paths: () => Object.keys(files), read: (path) => files[path] ?? null }) };
}

function evaluate(generator: unknown, options: { go?: boolean; context?: RenderContext; spec?: object } = {}): RenderResult {
  const template = { metadata: { name: "x" }, spec: { project: "default" } };
  return render(
    { metadata: { name: "set" }, spec: { goTemplate: options.go ?? false, generators: [generator], template, ...options.spec } },
    options.context ?? { clusters: CLUSTERS },
  );
}

function params(...args: Parameters<typeof evaluate>): ParamSet[] {
  const generator = evaluate(...args).generators[0];
  expect(generator?.problem).toBeUndefined();
  return generator?.params ?? [];
}

function problem(...args: Parameters<typeof evaluate>) {
  const result = evaluate(...args);
  expect(result.ok).toBe(false);
  expect(result.applications).toEqual([]);
  return result.problems[0];
}

describe("list", () => {
  test("elements are texts, and values get their prefix", () => {
    expect(params({ list: { elements: [{ a: "1", values: { b: "2" } }] } })).toEqual([{ a: "1", "values.b": "2" }]);
  });
  test("anything but text is an error in the default mode, and data with goTemplate", () => {
    expect(problem({ list: { elements: [{ a: 1 }] } })).toMatchObject({
      code: "PARAM_ERROR",
      where: "spec.generators[0].list.elements[0].a",
    });
    expect(params({ list: { elements: [{ a: 1, b: { c: [true] } }] } }, { go: true })).toEqual([{ a: 1, b: { c: [true] } }]);
  });
  test("elementsYaml comes behind the elements, unchecked", () => {
    expect(params({ list: { elements: [{ a: "1" }], elementsYaml: "- {a: 2}\n- a: on\n" } })).toEqual([{ a: "1" }, { a: 2 }, { a: true }]);
    expect(problem({ list: { elementsYaml: "a: 1" } })).toMatchObject({ kind: "NoListOfMaps" });
  });
});

describe("clusters", () => {
  test("without a selector Argo CD's own cluster comes last", () => {
    expect(params({ clusters: {} }).map((set) => set["name"])).toEqual(["EU_1", "us-1", "in-cluster"]);
    expect(params({ clusters: {} }, { go: true }).at(-1)).toEqual({
      name: "in-cluster",
      nameNormalized: "in-cluster",
      server: "https://kubernetes.default.svc",
      project: "",
    });
  });
  test("its Secret takes its place", () => {
    const own = { name: "hub", server: "https://kubernetes.default.svc/", labels: TYPE, annotations: {} };
    expect(params({ clusters: {} }, { context: { clusters: [own] } }).map((set) => set["name"])).toEqual(["hub"]);
  });
  test("flat keys in the default mode, values rendered with the cluster's own", () => {
    expect(
      params({
        clusters: { selector: { matchLabels: { area: "emea" } }, values: { v: "{{name}}-{{metadata.labels.area}}-{{values.w}}", w: "x" } },
      }),
    ).toEqual([
      {
        name: "EU_1",
        nameNormalized: "eu-1",
        server: "https://eu-1",
        project: "p1",
        "metadata.labels.area": "emea",
        "metadata.labels.argocd.argoproj.io/secret-type": "cluster",
        "metadata.annotations.team": "pay",
        "values.v": "EU_1-emea-{{values.w}}",
        "values.w": "x",
      },
    ]);
  });
  test("nested with goTemplate, where an empty map is left out", () => {
    const [eu, us] = params(
      { clusters: { selector: { matchExpressions: [{ key: "area", operator: "Exists" }] }, values: { v: "{{.name}}" } } },
      { go: true },
    );
    expect(eu).toMatchObject({ metadata: { labels: { area: "emea" }, annotations: { team: "pay" } }, values: { v: "EU_1" } });
    expect(us).not.toHaveProperty("metadata.annotations");
  });
  test.each([
    ["In", ["emea"], ["EU_1"]],
    ["NotIn", ["emea"], ["us-1"]],
    ["DoesNotExist", undefined, []],
  ])("operator %s", (operator, values, names) => {
    const selector = { matchExpressions: [{ key: "area", operator, ...(values === undefined ? {} : { values }) }] };
    expect(params({ clusters: { selector } }).map((set) => set["name"])).toEqual(names);
  });
  test("flatList is one set with all of them", () => {
    const [set, ...others] = params({ clusters: { flatList: true } }, { go: true });
    expect(others).toEqual([]);
    expect(set).toMatchObject({ clusters: [{ name: "EU_1" }, { name: "us-1" }, { name: "in-cluster" }] });
  });
  test("what Applications say of clusters is not taken for labels or annotations of their Secrets", () => {
    const context = { clusters: CLUSTERS.map((cluster) => ({ ...cluster, derived: "name" })) };
    expect(params({ clusters: {} }, { context }).map((set) => set["name"])).toEqual(["EU_1", "us-1", "in-cluster"]);
    expect(problem({ clusters: { selector: { matchLabels: { area: "emea" } } } }, { context })).toMatchObject({
      code: "CLUSTERS_UNSEEN",
      selects: true,
    });
    expect(problem({ clusters: { values: { r: "{{metadata.annotations.rev}}" } } }, { context })).toMatchObject({
      code: "CLUSTERS_UNSEEN",
      selects: false,
    });
  });
  test("an operator that does not exist, a value no label can have", () => {
    expect(problem({ clusters: { selector: { matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] } } })).toMatchObject({
      code: "INVALID",
    });
    expect(problem({ clusters: { selector: { matchLabels: { a: "https://x" } } } })).toMatchObject({
      kind: "LabelValue",
      given: "https://x",
    });
  });
});

describe("git directories", () => {
  const context = repoOf({
    "apps/a/x.yaml": "",
    "apps/a-b/x": "",
    "apps/b/sub/x": "",
    "apps/.hidden/x": "",
    ".github/x": "",
    "README.md": "",
  });
  const git = (directories: object[], more = {}) => ({ git: { repoURL: "https://g/r", revision: "main", directories, ...more } });

  test("a star stops at the slash, dot directories are skipped, an exclusion wins wherever it stands", () => {
    const found = (patterns: object[]) => params(git(patterns), { context }).map((set) => set["path"]);
    expect(found([{ path: "apps/*" }])).toEqual(["apps/a", "apps/a-b", "apps/b"]);
    expect(found([{ path: "apps/b", exclude: true }, { path: "apps/*" }])).toEqual(["apps/a", "apps/a-b"]);
    expect(found([{ path: "*" }])).toEqual(["apps"]);
    expect(found([{ path: "apps/*/*" }])).toEqual(["apps/b/sub"]);
    expect(found([{ path: "apps/**" }])).toEqual(["apps/a", "apps/a-b", "apps/b"]);
    expect(found([{ path: "apps/[" }, { path: "apps/b" }])).toEqual(["apps/b"]);
  });
  test("parameters of both modes, and a prefix", () => {
    expect(params(git([{ path: "apps/b/*" }]), { context })).toEqual([
      { path: "apps/b/sub", "path[0]": "apps", "path[1]": "b", "path[2]": "sub", "path.basename": "sub", "path.basenameNormalized": "sub" },
    ]);
    expect(
      params(git([{ path: "apps/a" }], { pathParamPrefix: "p", values: { v: "{{ .p.path.basename }}" } }), { context, go: true }),
    ).toEqual([{ p: { path: { path: "apps/a", basename: "a", basenameNormalized: "a", segments: ["apps", "a"] } }, values: { v: "a" } }]);
    expect(params(git([{ path: "apps/a" }], { pathParamPrefix: "p" }), { context })[0]).toHaveProperty(["p.path.basename"], "a");
  });
  test("a repository that is not at hand is said so", () => {
    expect(problem(git([{ path: "*" }]))).toMatchObject({ code: "NO_REPO", where: "spec.generators[0].git" });
  });
});

describe("git files", () => {
  const files = {
    "c/b/config.yaml": "name: b\ndata: {big: 1000000, flag: yes, l: [1, x]}\nnone: ~\nn: false key\n",
    "c/a/config.json": '{"name": "a"}',
    "c/a/deep/config.yaml": "- name: d1\n- name: d2\n",
    "root.yaml": "",
    "c/x.md": "",
  };
  const git = (patterns: object[], more = {}) => ({ git: { repoURL: "r", revision: "HEAD", files: patterns, ...more } });

  test("each file once, sorted by path; by default a star crosses slashes", () => {
    const names = (patterns: object[], context: RenderContext = repoOf(files)) =>
      params(git(patterns), { context }).map((set) => set["name"]);
    expect(names([{ path: "c/*" }, { path: "c/**/config.yaml" }, { path: "c/x.md", exclude: true }])).toEqual(["a", "d1", "d2", "b"]);
    expect(names([{ path: "c/*/config.*" }], { ...repoOf(files), newGitFileGlobbing: true })).toEqual(["a", "b"]);
    expect(
      names([{ path: "**/config.{json,yaml}" }, { path: "c/b/**", exclude: true }], { ...repoOf(files), newGitFileGlobbing: true }),
    ).toEqual(["a", "d1", "d2"]);
    expect(names([{ path: "c/a" }])).toEqual(["a", "d1", "d2"]);
  });
  test("the default mode flattens and makes text of everything, as Go prints it", () => {
    expect(params(git([{ path: "c/b/config.yaml" }]), { context: repoOf(files) })).toEqual([
      {
        name: "b",
        "data.big": "1e+06",
        "data.flag": "true",
        "data.l.0": "1",
        "data.l.1": "x",
        none: "<nil>",
        // The key n, unquoted, is a boolean to YAML 1.1.
        false: "false key",
        path: "c/b",
        "path[0]": "c",
        "path[1]": "b",
        "path.basename": "b",
        "path.basenameNormalized": "b",
        "path.filename": "config.yaml",
        "path.filenameNormalized": "config.yaml",
      },
    ]);
  });
  test("goTemplate keeps data, with path beside it; an empty file at the root", () => {
    expect(params(git([{ path: "root.yaml" }]), { context: repoOf(files), go: true })).toEqual([
      {
        path: { path: ".", basename: ".", basenameNormalized: "", segments: ["."], filename: "root.yaml", filenameNormalized: "root.yaml" },
      },
    ]);
  });
  test.each([
    ["text", "just text", { kind: "FileNoMap" }],
    ["broken YAML", "a: [", { kind: "FileNotYaml" }],
    ["a template", "name: {{ x }}", { kind: "FileNotYaml", said: expect.stringContaining("needs quotes") }],
  ])("a file of %s stops the set and is named", (_, content, why) => {
    const found = problem(git([{ path: "*" }]), { context: repoOf({ "bad.yaml": content, "good.yaml": "a: b" }) });
    expect(found).toMatchObject({ ...why, name: "bad.yaml" });
  });
  test("every file is asked for before any is judged", () => {
    const asked: string[] = [];
    const read = (path: string) => {
      asked.push(path);
      return null;
    };
    evaluate(git([{ path: "*" }]), { context: { clusters: [], repo: () => ({ paths: () => ["a", "b", "c"], read }) } });
    expect(asked).toEqual(["a", "b", "c"]);
  });
});

describe("post-selectors", () => {
  test("compare flattened parameters with any text", () => {
    const elements = [{ url: "https://a", values: { env: "x" } }, { url: "https://b" }];
    expect(params({ list: { elements }, selector: { matchLabels: { url: "https://b" } } })).toEqual([{ url: "https://b" }]);
    expect(
      params({ list: { elements: [{ a: { b: 1 } }, { a: { b: 2 } }] }, selector: { matchLabels: { "a.b": "2" } } }, { go: true }),
    ).toEqual([{ a: { b: 2 } }]);
    expect(problem({ list: { elements }, selector: { matchLabels: { ".url": "x" } } })).toMatchObject({ kind: "LabelKey", given: ".url" });
  });
});

describe("what needs Argo CD, and what is no generator", () => {
  test.each(["scmProvider", "pullRequest", "plugin", "clusterDecisionResource"])("%s is named, not skipped", (kind) => {
    const result = evaluate({ [kind]: {} }, { spec: { generators: [{ list: { elements: [{ a: "b" }] } }, { [kind]: {} }] } });
    expect(result.ok).toBe(false);
    expect(result.generators.map((generator) => generator.params.length)).toEqual([1, 0]);
    expect(result.generators[1]?.problem).toMatchObject({ code: "UNSUPPORTED_GENERATOR", where: `spec.generators[1].${kind}` });
  });
  test("a misspelt one gets a suggestion", () => {
    expect(problem({ cluster: {} })).toMatchObject({ kind: "UnknownGenerator", near: "clusters" });
  });
  test("how often Argo CD looks again", () => {
    const of = (generator: unknown) => evaluate(generator).generators[0]?.requeueAfterSeconds;
    expect(of({ list: {} })).toBeUndefined();
    expect(of({ git: {} })).toBe(180);
    expect(of({ matrix: { generators: [{ git: { requeueAfterSeconds: 60 } }, { pullRequest: {} }] } })).toBe(60);
  });
});
