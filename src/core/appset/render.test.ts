import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareRenders, normaliseSpec } from "./compare.ts";
import { render } from "./render.ts";
import type { AppSetCluster, RenderResult } from "./types.ts";

const SPEC = {
  project: "default",
  source: { repoURL: "r", path: "apps/{{path}}", targetRevision: "{{rev}}" },
  destination: { name: "{{cluster}}", namespace: "n" },
};
const NONE = { clusters: [] };

function set(elements: object[], more: Record<string, unknown> = {}, metadata: object = {}): unknown {
  const template = { metadata: { name: "{{cluster}}-app", ...metadata }, spec: SPEC };
  return { metadata: { name: "set", namespace: "tools", uid: "u1" }, spec: { generators: [{ list: { elements } }], template, ...more } };
}

function one(...args: Parameters<typeof set>) {
  const result = render(set(...args), NONE);
  expect(result.problems).toEqual([]);
  return result.applications[0];
}

const A = { cluster: "a", path: "x", rev: "v1" };

describe("Applications", () => {
  test("are complete objects in the set's namespace, owned by it, with the finalizer that deletes workloads", () => {
    expect(one([A], {}, { namespace: "elsewhere", labels: { "{{cluster}}": "{{rev}}" } })).toEqual({
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: {
        name: "a-app",
        namespace: "tools",
        labels: { a: "v1" },
        finalizers: ["resources-finalizer.argocd.argoproj.io"],
        ownerReferences: [
          {
            apiVersion: "argoproj.io/v1alpha1",
            kind: "ApplicationSet",
            name: "set",
            uid: "u1",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        project: "default",
        source: { repoURL: "r", path: "apps/x", targetRevision: "v1" },
        destination: { name: "a", namespace: "n" },
      },
    });
  });
  test("get no such finalizer where resources are preserved, and keep their own", () => {
    expect(one([A], { syncPolicy: { preserveResourcesOnDeletion: true } })?.metadata).not.toHaveProperty("finalizers");
    expect(one([A], {}, { finalizers: ["mine/x"] })?.metadata.finalizers).toEqual(["mine/x"]);
  });
  test("a tag that names no parameter stays as written, braces over several lines too", () => {
    const source = { repoURL: "r", helm: { values: "a: {{ none }}\nb: {{cluster}}\nc: {{\n}}" } };
    const result = render(
      { spec: { generators: [{ list: { elements: [A] } }], template: { metadata: { name: "x" }, spec: { source } } } },
      NONE,
    );
    expect(result.applications[0]?.spec).toMatchObject({ source: { helm: { values: "a: {{ none }}\nb: a\nc: {{\n}}" } } });
  });
  test("without any parameter the template is used as it stands", () => {
    const result = render(
      { spec: { generators: [{ list: { elements: [{}] } }], template: { metadata: { name: "x" }, spec: { project: "{{p}}" } } } },
      NONE,
    );
    expect(result.applications[0]).toMatchObject({ metadata: { name: "x" }, spec: { project: "{{p}}" } });
    expect(result.applications[0]?.metadata).not.toHaveProperty("finalizers");
  });
  test("keys that hold null go", () => {
    const template = { metadata: { name: "{{cluster}}" }, spec: { source: { helm: { valuesObject: { a: null, b: [null], c: 1 } } } } };
    expect(one([A], { template })?.spec).toEqual({ source: { helm: { valuesObject: { b: [null], c: 1 } } } });
  });
  test("a generator's template fills from the set's, field by field", () => {
    const own = { metadata: { labels: { a: "1" } }, spec: { project: "", source: { path: "mine", helm: { valuesObject: { x: 1 } } } } };
    const base = {
      metadata: { name: "n", labels: { b: "2" } },
      spec: { project: "p", source: { repoURL: "r", path: "p", helm: { valuesObject: { y: 2 }, releaseName: "z" } } },
    };
    const result = render({ spec: { generators: [{ list: { elements: [A], template: own } }], template: base } }, NONE);
    expect(result.applications[0]).toMatchObject({
      metadata: { name: "n", labels: { a: "1", b: "2" } },
      spec: { project: "p", source: { repoURL: "r", path: "mine", helm: { releaseName: "z" } } },
    });
    expect(result.applications[0]?.spec).toHaveProperty("source.helm.valuesObject", { x: 1 });
  });
});

describe("templatePatch", () => {
  const GO = {
    goTemplate: true,
    template: {
      metadata: { name: "{{.cluster}}", finalizers: ["a"] },
      spec: { ...SPEC, syncPolicy: { syncOptions: ["X=1"], automated: {} } },
    },
  };
  test("merges maps, replaces lists, joins finalizers, removes what is null, leaves the project", () => {
    const templatePatch = [
      "metadata:",
      "  finalizers: [b, a]",
      "spec:",
      "  project: stolen",
      "  source: {targetRevision: '{{ .rev }}-patched'}",
      "  syncPolicy: {automated: null, syncOptions: [Y=2]}",
      "",
    ].join("\n");
    const app = one([A], {
      ...GO,
      template: {
        ...GO.template,
        spec: { ...GO.template.spec, source: { repoURL: "r", targetRevision: "old" }, destination: { name: "{{.cluster}}" } },
      },
      templatePatch,
    });
    expect(app?.metadata.finalizers).toEqual(["a", "b"]);
    expect(app?.spec).toEqual({
      project: "default",
      source: { repoURL: "r", targetRevision: "v1-patched" },
      destination: { name: "a" },
      syncPolicy: { syncOptions: ["Y=2"] },
    });
  });
  test("one that renders to nothing changes nothing; a broken one is an error", () => {
    const plain = { template: { metadata: { name: "{{cluster}}" }, spec: SPEC } };
    expect(one([A], { ...plain, templatePatch: "\n" })).toEqual(one([A], plain));
    expect(render(set([A], { templatePatch: "spec: [" }), NONE).problems[0]).toMatchObject({
      code: "TEMPLATE_ERROR",
      where: "spec.templatePatch",
    });
    expect(render(set([A], { templatePatch: "spec: {$retainKeys: [a]}" }), NONE).problems[0]?.code).toBe("UNSUPPORTED_PATCH");
  });
  test("merging into valuesObject, which versions of Argo CD refuse, is refused", () => {
    const template = { metadata: { name: "{{cluster}}" }, spec: { source: { helm: { valuesObject: { a: { x: 1 }, b: 1 } } } } };
    expect(
      render(set([A], { template, templatePatch: "spec: {source: {helm: {valuesObject: {a: {y: 2}}}}}" }), NONE).problems[0]?.code,
    ).toBe("UNSUPPORTED_PATCH");
    expect(one([A], { template, templatePatch: "spec: {source: {helm: {valuesObject: {b: 2}}}}" })?.spec).toHaveProperty(
      "source.helm.valuesObject.b",
      2,
    );
  });
});

test("an entry without a generator is passed over, as Argo CD does; a set of nothing else is told", () => {
  const plain = { template: { metadata: { name: "{{cluster}}" }, spec: SPEC } };
  const list = { list: { elements: [A] } };
  const applications = (...generators: unknown[]) => render({ spec: { ...plain, generators } }, NONE);
  expect(applications({}, list).applications).toEqual(applications(list).applications);
  expect(applications({}, list)).toMatchObject({ ok: true, problems: [] });
  expect(applications({}).problems).toMatchObject([{ code: "INVALID", kind: "NoGenerator", where: "spec.generators[0]" }]);
});

describe("what cannot be rendered", () => {
  test.each([
    ["no object", 7, "INVALID", "spec"],
    ["no template", { spec: { generators: [] } }, "INVALID", "spec.template"],
    ["generators no list", { spec: { generators: {}, template: {} } }, "INVALID", "spec.generators"],
    [
      "a number for a revision",
      set([A], { template: { metadata: { name: "x" }, spec: { source: { targetRevision: 1.1 } } } }),
      "INVALID",
      "spec.template.spec.source.targetRevision",
    ],
    ["an unquoted tag", set([A], { template: { metadata: { name: { "{ cluster }": null } } } }), "INVALID", "spec.template.metadata.name"],
    ["no name", set([A], { template: { spec: SPEC } }), "INVALID_NAME", "spec.template.metadata.name"],
    ["a name with capitals", set([{ ...A, cluster: "EU" }]), "INVALID_NAME", "spec.template.metadata.name"],
    ["two of one name", set([A, A]), "DUPLICATE_NAME", "spec.template.metadata.name"],
    ["an open tag", set([A], { template: { metadata: { name: "{{cluster}}-{{x" } } }), "TEMPLATE_ERROR", "spec.template.metadata.name"],
    ["an unknown option", set([A], { goTemplate: true, goTemplateOptions: ["missing=error"] }), "INVALID", "spec.goTemplateOptions[0]"],
    [
      "a function not supported",
      set([A], { goTemplate: true, template: { metadata: { name: "x", labels: { when: "{{ now }}" } } } }),
      "UNSUPPORTED_FUNCTION",
      "spec.template.metadata.labels.when",
    ],
    [
      "a missing key",
      set([A], { goTemplate: true, goTemplateOptions: ["missingkey=error"], template: { metadata: { name: "{{ .nme }}" } } }),
      "TEMPLATE_ERROR",
      "spec.template.metadata.name",
    ],
  ])("%s", (_, object, code, where) => {
    const result = render(object, NONE);
    expect(result).toMatchObject({ ok: false, applications: [] });
    expect(result.problems[0]).toMatchObject({ code, where });
  });
  test("a generator error leaves no Applications, but the others' parameters", () => {
    const result = render(set([A], { generators: [{ list: { elements: [A] } }, { plugin: {} }] }), NONE);
    expect(result.applications).toEqual([]);
    expect(result.generators[0]?.params).toEqual([A]);
  });
  test("data nested without end is a problem, not a crash", () => {
    let deep: unknown = "x";
    for (let i = 0; i < 20_000; i++) deep = { deep };
    expect(render(set([A], { template: { metadata: { name: "x" }, spec: { deep } } }), NONE).ok).toBe(false);
  });
  test("nothing makes it throw", () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 6 }), fc.boolean(), (junk, go) => {
        expect(render({ spec: { goTemplate: go, ...junk } }, NONE).ok).toBe(false);
        expect(
          typeof render(
            { spec: { goTemplate: go, generators: [junk, { list: junk }, { matrix: { generators: [junk, junk] } }], template: junk } },
            NONE,
          ).ok,
        ).toBe("boolean");
      }),
      { numRuns: 200 },
    );
  });
});

describe("compareRenders", () => {
  const base = render(set([A, { ...A, cluster: "b" }]), NONE);
  const against = (elements: object[], more = {}) => compareRenders(base, render(set(elements, more), NONE));
  test("a changed revision is named by its path, and nobody else changes", () => {
    expect(against([A, { ...A, cluster: "b", rev: "v2" }])).toEqual({
      removed: [],
      added: [],
      renamed: [],
      changed: [{ name: "b-app", paths: ["spec.source.targetRevision"] }],
      relabelled: [],
      same: 1,
    });
  });
  test("a dropped element removes an Application", () => {
    expect(against([A])).toMatchObject({ removed: ["b-app"], added: [], same: 1 });
  });
  test("a renamed one is removed and added, and paired", () => {
    const template = { metadata: { name: "new-{{cluster}}" }, spec: SPEC };
    expect(against([A], { template })).toEqual({
      removed: ["a-app", "b-app"],
      added: ["new-a"],
      renamed: [{ from: "a-app", to: "new-a" }],
      changed: [],
      relabelled: [],
      same: 0,
    });
  });
  test("a new destination and project are told apart from other changes", () => {
    const template = { metadata: { name: "{{cluster}}-app" }, spec: { ...SPEC, project: "q", destination: { server: "s" } } };
    expect(against([A], { template }).changed[0]?.paths).toEqual([
      "spec.destination.name",
      "spec.destination.namespace",
      "spec.destination.server",
      "spec.project",
    ]);
  });
});

test("specs are compared without what Argo CD leaves out or fills in", () => {
  const live = {
    project: "default",
    source: { targetRevision: "v1", repoURL: "r", helm: { valueFiles: [], passCredentials: false, valuesObject: { a: "" } } },
    destination: { server: "https://x/", namespace: "n" },
    syncPolicy: {},
  };
  const rendered = {
    sources: [],
    source: { repoURL: "r", targetRevision: "v1", helm: { valuesObject: { a: "" } }, directory: { recurse: false } },
    destination: { namespace: "n", server: "https://x", name: "" },
  };
  expect(normaliseSpec(live)).toEqual(normaliseSpec(rendered));
  expect(normaliseSpec({ source: { path: "a" }, sources: [{ path: "b" }] }).sources).toEqual([{ path: "b" }]);
});

describe("properties", () => {
  const cluster = fc.record({ name: fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/), area: fc.constantFrom("emea", "amer") });
  const fleet = fc.uniqueArray(cluster, { selector: (each) => each.name, minLength: 1, maxLength: 12 });
  const toClusters = (list: readonly { name: string; area: string }[]): AppSetCluster[] =>
    list.map(({ name, area }) => ({
      name,
      server: `https://${name}`,
      labels: { "argocd.argoproj.io/secret-type": "cluster", area },
      annotations: {},
    }));
  const byName = (result: RenderResult) => new Map(result.applications.map((application) => [application.metadata.name, application]));
  const appset = {
    spec: {
      goTemplate: true,
      generators: [
        {
          matrix: {
            generators: [{ clusters: { selector: { matchLabels: { area: "emea" } } } }, { list: { elements: [{ s: "x" }, { s: "y" }] } }],
          },
        },
      ],
      template: { metadata: { name: "{{ .s }}-{{ .name | trunc 40 }}" }, spec: { destination: { name: "{{ .name }}" } } },
    },
  };

  test("the order of clusters is only the order of Applications; rendering twice gives the same", () => {
    fc.assert(
      fc.property(fleet, fc.nat(), (list, by) => {
        const rotated = [...list.slice(by % list.length), ...list.slice(0, by % list.length)];
        const first = render(appset, { clusters: toClusters(list) });
        const second = render(appset, { clusters: toClusters(rotated) });
        expect(first.ok && second.ok).toBe(true);
        expect(byName(second)).toEqual(byName(first));
        expect(first.applications).toHaveLength(2 * list.filter((each) => each.area === "emea").length);
        expect(render(appset, { clusters: toClusters(list) })).toEqual(first);
      }),
      { numRuns: 100 },
    );
  });
  test("rendering leaves its input as it was", () => {
    const input = structuredClone(appset);
    render(input, { clusters: toClusters([{ name: "a", area: "emea" }]) });
    expect(input).toEqual(appset);
  });
});
