import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { clustersOfApplications } from "../../core/argocd/cluster-views.ts";
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import { readInventory } from "../../core/argocd/inventory-file.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { SeenApplication } from "./draft.ts";
import { clustersOf } from "./fleet.ts";
import { withNear } from "./plan-over.ts";
import { resolveTargets } from "./targets.ts";

const FLEET = new URL("../../../fixtures/fleet/", import.meta.url);
const APPSET = readFileSync(new URL("appsets/my-app-set.yaml", FLEET), "utf8");
const inventory = readInventory(readFileSync(new URL("inventory.yaml", FLEET), "utf8"), "inventory.yaml");
const clusters: Cluster[] = inventory.clusters.map(({ name, server, labels, registered }) => ({
  key: `hub/${name}`,
  name,
  controlPlane: "hub",
  server,
  labels,
  registered,
}));
const applications: SeenApplication[] = inventory.applications.flatMap((raw) => {
  const view = decodeApplication(raw, 0);
  return view === undefined ? [] : [{ controlPlane: "hub", view }];
});
const RELEASE = { values: { version: "v1.5.0" }, attempt: 1 };

function rolloutWith(pins: string, source = "kind: ApplicationSet, name: my-app-set"): { rollout: Rollout; text: string } {
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { ${source} }
  release: { version: v1.5.0 }
  pins:
${pins}
  stages: [ { name: all, clusters: { selector: {} } } ]
`;
  const parsed = parseRollouts(text, "rollouts/my-app.yaml");
  if (parsed.rollouts[0] === undefined) throw new Error(JSON.stringify(parsed.problems));
  return { rollout: parsed.rollouts[0], text };
}

const ELEMENT =
  "    - { file: appsets/my-app-set.yaml, path: 'spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision' }";

const RESERVED = { baseBranch: "main", journalBranch: "stagecoach/journal" };
const BRANCH = "    - branch: 'env/{{ cluster.name }}'\n  delivery: { strategy: Commit }";

function resolve(pins: string, files: Record<string, string> = {}, over: Partial<Parameters<typeof resolveTargets>[0]> = {}) {
  const { rollout, text } = rolloutWith(pins);
  const all: Record<string, string> = { "appsets/my-app-set.yaml": APPSET, "rollouts/my-app.yaml": text, ...files };
  return resolveTargets({ rollout, release: RELEASE, applications, clusters, readFile: (path) => all[path] ?? null, ...over });
}

function told(result: ReturnType<typeof resolve>): string[] {
  return result.problems.map((p) => `${p.file}:${p.line}:${p.column} ${p.code}`);
}

describe("targets", () => {
  test("are the set's Applications on their clusters, with the pin filled in and read", () => {
    const { targets, problems } = resolve(ELEMENT);
    expect(problems).toEqual([]);
    expect(targets).toHaveLength(12);
    expect(targets[0]).toEqual({
      key: "hub/argocd/my-app-eu-west-1-a",
      application: "my-app-eu-west-1-a",
      namespace: "argocd",
      controlPlane: "hub",
      cluster: "hub/eu-west-1-a",
      edits: [
        {
          file: "appsets/my-app-set.yaml",
          path: "spec.generators[0].list.elements[cluster=eu-west-1-a].targetRevision",
          kind: "value",
          from: "v1.4.1",
          to: "v1.5.0",
        },
      ],
      status: { healthy: true, synced: true },
    });
  });

  test("of another set, another control plane or on their way out are none", () => {
    const view = applications[0]?.view;
    if (view === undefined) throw new Error("no Application");
    const others: SeenApplication[] = [
      { controlPlane: "hub", view: { ...view, owner: { kind: "ApplicationSet", name: "other", uid: "" } } },
      { controlPlane: "hub", view: { ...view, namespace: "elsewhere" } },
      { controlPlane: "hub", view: { ...view, deletionTimestamp: "2026-01-01T00:00:00.000Z" } },
    ];
    expect(resolve(ELEMENT, {}, { applications: others }).targets).toEqual([]);
    const { rollout } = rolloutWith(ELEMENT, "kind: ApplicationSet, name: my-app-set, controlPlane: other");
    expect(resolve(ELEMENT, {}, { rollout }).targets).toEqual([]);
  });

  test("of kind Application are picked by their labels", () => {
    const { rollout } = rolloutWith(ELEMENT, "kind: Application, selector: { matchLabels: { region: us-east-1 } }");
    expect(resolve(ELEMENT, {}, { rollout }).targets.map((t) => t.application)).toEqual(
      ["a", "b", "c", "d"].map((n) => `my-app-us-east-1-${n}`),
    );
  });

  test("a status computed for another spec is not synced", () => {
    const stale = applications.map((one) => ({
      ...one,
      view: { ...one.view, spec: { ...one.view.spec, sources: one.view.spec.sources.map((s) => ({ ...s, targetRevision: "v1.5.0" })) } },
    }));
    expect(resolve(ELEMENT, {}, { applications: stale }).targets[0]?.status).toEqual({ healthy: true, synced: false });
  });
});

describe("clusters", () => {
  const at = (destination: { name?: string; server?: string }) =>
    applications.slice(0, 1).map((one) => ({ ...one, view: { ...one.view, spec: { ...one.view.spec, destination } } }));
  const NONE = "    - { file: f.yaml, path: a }";
  const files = { "f.yaml": "a: v1\n" };

  test.each([
    ["by name", { name: "eu-west-1-b" }, "hub/eu-west-1-b"],
    ["by server", { server: "https://eu-west-1-b.k8s.example.com" }, "hub/eu-west-1-b"],
    ["whatever a trailing slash or the host's case", { server: "https://EU-west-1-b.k8s.example.com/" }, "hub/eu-west-1-b"],
    ["in-cluster, without a Secret", { server: "https://kubernetes.default.svc" }, "hub/in-cluster"],
  ])("%s", (_name, destination, expected) => {
    const result = resolve(NONE, files, { applications: at(destination) });
    expect(result.targets.map((t) => t.cluster)).toEqual([expected]);
    expect(result.clusters.some((c) => c.key === expected)).toBe(true);
  });

  test("a pin that does not fit a cluster known by its server alone says what to switch on, not only that no item has that name", () => {
    const server = "https://10.0.0.7:6443";
    const views = clustersOfApplications(at({ server }).map(({ view }) => view));
    const known = clustersOf(
      { planes: new Map([["hub", { name: "hub", state: () => ({ fresh: true }), clusters: () => views }]]) } as never,
      [],
    );
    expect(views).toMatchObject([{ name: "10.0.0.7:6443", derived: "server" }]);
    const { problems } = resolve(ELEMENT, {}, { applications: at({ server }), clusters: known.clusters });
    expect(problems).toMatchObject([{ code: "PIN_NOT_FOUND", value: "10.0.0.7:6443", byServer: server }]);
    expect(problems.map((problem) => sayProblem(problem).hint)).toEqual([expect.stringContaining("`clusterSecrets: true`")]);
    // And the configuration that ships names it where somebody would look.
    expect(readFileSync(new URL("../../../deploy/base/stagecoach.yaml", import.meta.url), "utf8")).toMatch(/^ +# clusterSecrets: true$/m);
    const named = clustersOfApplications(at({ name: "eu-1", server }).map(({ view }) => view));
    expect(named).toMatchObject([{ name: "eu-1", derived: "name" }]);
  });

  test("in-cluster without a Secret is marked as such", () => {
    const made = resolve(NONE, files, { applications: at({ name: "in-cluster" }) }).clusters.at(-1);
    expect(made).toEqual({
      key: "hub/in-cluster",
      name: "in-cluster",
      controlPlane: "hub",
      server: "https://kubernetes.default.svc",
      labels: {},
      registered: false,
    });
  });

  test("one that is not known is a problem", () => {
    expect(told(resolve(NONE, files, { applications: at({ name: "zzz" }) }))).toEqual(["rollouts/my-app.yaml:5:14 UNKNOWN_CLUSTER"]);
  });

  test("with no access to their Secrets they come from the Applications, with their labels", () => {
    const result = resolve(NONE, files, { clusters: [], applications: at({ name: "far" }) });
    expect(result.clusters).toMatchObject([{ key: "hub/far", labels: { region: "eu-west-1" }, registered: true }]);
  });
});

describe("pins that cannot be resolved are problems with their place, told once", () => {
  test("a file that is a directory, which Git has no text of", () => {
    const [problem] = resolve("    - { file: 'clusters/eu', path: a }").problems;
    const files = { read: () => null, paths: () => ["clusters/eu/values.yaml"] };
    expect(sayProblem(withNear(problem as Problem, files))).toMatchObject({
      message: expect.stringContaining("pin file clusters/eu is a directory"),
      hint: "name a file in it",
    });
  });

  test("a value that others have by an anchor, unless it may be said anew", () => {
    const pin = (more: string) => `    - { file: v.yaml, path: 'sites[name={{ cluster.name }}].tag'${more} }`;
    const sites = clusters.map(({ name }) => `  - { <<: *d, name: ${name} }\n`).join("");
    const files = { "v.yaml": `default: &d { tag: v1 }\nsites:\n${sites}` };
    const result = resolve(pin(""), files);
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:29 PIN_SHARED_ANCHOR"]);
    expect(result.problems[0]?.targets?.names).toHaveLength(12);
    expect(result.problems[0]).toMatchObject({ seenAt: "v.yaml:1:20", writable: true });
    expect(told(resolve(pin(", create: true"), files))).toEqual([]);
  });

  test("a file that is not there", () => {
    const result = resolve("    - { file: 'clusters/none.yaml', path: a }");
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:15 PIN_FILE_MISSING"]);
    expect(result.problems[0]?.targets?.names).toHaveLength(12);
    expect(result.targets).toEqual([]);
  });

  test("a file that must not be read", () => {
    const result = resolve(
      ELEMENT,
      {},
      {
        readFile: (path) => {
          if (path.startsWith("appsets/")) throw new Error("it is a symbolic link");
          return rolloutWith(ELEMENT).text;
        },
      },
    );
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:15 PIN_FILE_UNREADABLE"]);
  });

  test("a file name that leaves the repo once it is filled in", () => {
    const outside = applications.map((one) => ({ ...one, view: { ...one.view, name: ".." } }));
    expect(told(resolve("    - { file: 'apps/{{ application.name }}/a.yaml', path: a }", {}, { applications: outside }))).toEqual([
      "rollouts/my-app.yaml:8:15 FILE_OUTSIDE_REPO",
    ]);
  });

  test.each([
    [".github/stagecoach.yaml", "mode"],
    [".github/workflows/ci.yaml", "on.push"],
    ["CODEOWNERS", "a"],
    ["docs/CODEOWNERS", "a"],
    ["rollouts/other.yaml", "spec.stages[0].bake"],
    ["rollouts/other.yaml", "spec.releases.version"],
    ["rollouts/deep/other.yaml", "#2/spec.mode"],
  ])("%s at %s, which says how batches run, by its name as by a label", (file, path) => {
    const [first = "", ...rest] = file.split("/");
    expect(() => rolloutWith(`    - { file: ${file}, path: '${path}' }`)).toThrow(/FILE_OUTSIDE_REPO.*RulesFile.*"line":8,"column":15/);
    const labelled = clusters.map((cluster) => ({ ...cluster, labels: { ...cluster.labels, at: first } }));
    const pin = `    - { file: '${["{{ cluster.labels.at }}", ...rest].join("/")}', path: '${path}' }`;
    const filled = resolve(pin, { [file]: "mode: Run\n" }, { clusters: labelled });
    expect(filled.problems).toMatchObject([{ code: "FILE_OUTSIDE_REPO", fault: "RulesFile" }]);
    expect(filled.targets).toEqual([]);
  });

  test("but what another rollout releases is a value as any other", () => {
    const other = { "rollouts/other.yaml": "a: 1\n---\nspec:\n  release: { version: v1 }\n" };
    expect(resolve("    - { file: rollouts/other.yaml, path: '#2/spec.release.version' }", other).targets).toHaveLength(12);
  });

  test("a path that matches nothing", () => {
    const without = APPSET.replace("cluster: eu-west-1-b", "cluster: eu-west-1-x");
    const result = resolve(ELEMENT, { "appsets/my-app-set.yaml": without });
    expect(result.problems).toMatchObject([{ code: "PIN_NOT_FOUND", severity: "error" }]);
    expect(result.problems.map(sayProblem)[0]?.message).toMatch(/^in appsets\/my-app-set\.yaml:\d+:\d+: .*\(my-app-eu-west-1-b\)$/);
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:46 PIN_NOT_FOUND"]);
    expect(result.targets).toHaveLength(11);
  });

  test("one mistake in a path is one problem for all clusters, at the pin, with the first as the example", () => {
    const result = resolve(ELEMENT.replace("].targetRevision", "].targetRevison"));
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:46 PIN_NOT_FOUND"]);
    expect(result.problems.map(sayProblem)[0]?.message).toBe(
      'in appsets/my-app-set.yaml:11:13: spec.generators[0].list.elements[cluster=eu-west-1-a].targetRevison: there is no key "targetRevison" in spec.generators[0].list.elements[cluster=eu-west-1-a] (my-app-eu-west-1-a; the same for 11 more)',
    );
    expect(result.targets).toEqual([]);
  });

  test("one mistake in a file's name is one problem for all clusters", () => {
    const result = resolve("    - { file: 'clusters/{{ cluster.name }}.yml', path: a }");
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:15 PIN_FILE_MISSING"]);
    expect(result.problems).toMatchObject([{ pinFile: "clusters/eu-west-1-a.yml", targets: { example: true } }]);
    expect(result.problems[0]?.targets?.names).toHaveLength(12);
  });

  test("a path that matches two places", () => {
    const twice = APPSET.replace("cluster: eu-west-1-b", "cluster: eu-west-1-a");
    expect(
      resolve(ELEMENT, { "appsets/my-app-set.yaml": twice })
        .problems.map((p) => p.code)
        .toSorted(),
    ).toEqual(["PIN_AMBIGUOUS", "PIN_NOT_FOUND"]);
  });

  test("a label that a cluster lacks", () => {
    const result = resolve("    - { file: 'clusters/{{ cluster.labels.drained }}.yaml', path: a }", { "clusters/true.yaml": "a: v1\n" });
    expect(told(result)).toEqual(["rollouts/my-app.yaml:8:15 TEMPLATE_VALUE"]);
    expect(result.targets.map((t) => t.cluster)).toEqual(["hub/eu-west-1-c"]);
  });
});

describe("templates", () => {
  test("every variable", () => {
    const params = applications.map((one) => ({ ...one, params: { team: "blue" } }));
    const pins =
      "    - { file: '{{ application.namespace }}/{{ application.name }}/{{ cluster.labels.region }}/{{ params.team }}.yaml', path: a, value: 'x-{{ release.version }}' }";
    const file = "argocd/my-app-eu-west-1-a/eu-west-1/blue.yaml";
    const result = resolve(pins, { [file]: "a: x-v1\n" }, { applications: params.slice(0, 1) });
    expect(result.targets[0]?.edits).toEqual([{ file, path: "a", kind: "value", from: "x-v1", to: "x-v1.5.0" }]);
  });

  test("the tag and the digest of one image that is released, each at its place", () => {
    const digest = `sha256:${"ab".repeat(32)}`;
    const file = "images: [{ name: web, newTag: v1, digest: sha256:old }]\nimage: ghcr.io/acme/web:v1\n";
    const pins = `    - { file: k.yaml, path: "images[name=web].newTag", value: "{{ release.version.tag }}" }
    - { file: k.yaml, path: "images[name=web].digest", value: "{{ release.version.digest }}" }
    - { file: k.yaml, path: image, part: tag+digest, value: "{{ release.version.tag }}@{{ release.version.digest }}" }`;
    const one = applications.slice(0, 1);
    const { rollout } = rolloutWith(pins);
    for (const version of [`ghcr.io:443/acme/web:v2@${digest}`, `v2@${digest}`]) {
      const release = { values: { version }, attempt: 1 };
      const input = { rollout, release, applications: one, clusters, readFile: (path: string) => (path === "k.yaml" ? file : null) };
      const { targets, problems } = resolveTargets(input);
      expect(problems).toEqual([]);
      expect(targets[0]?.edits.map(({ from, to }) => [from, to])).toEqual([
        ["v1", "v2"],
        ["sha256:old", digest],
        ["v1", `v2@${digest}`],
      ]);
    }
    expect(told(resolve(pins.split("\n").slice(1, 2).join(), { "k.yaml": file }, { applications: one }))).toEqual([
      expect.stringMatching(/^rollouts\/my-app\.yaml:8:\d+ TEMPLATE_VALUE$/),
    ]);
  });

  test("the folder that an Application is made of is a place to write to, and none where it leads out of the repo", () => {
    const [one] = applications;
    if (one === undefined) throw new Error("no Application");
    const at = (path: string) => ({ ...one, view: { ...one.view, spec: { ...one.view.spec, sources: [{ repoURL: "x", path }] } } });
    const pins = "    - { file: '{{ application.path }}/kustomization.yaml', path: a }";
    const file = "apps/dev/kustomization.yaml";
    const inside = resolve(pins, { [file]: "a: v1\n" }, { applications: [at("./apps/dev/")] });
    expect(inside.targets[0]?.edits).toMatchObject([{ file, path: "a", from: "v1" }]);
    const out = resolve(pins, {}, { applications: [at("apps/../../etc")] });
    expect([told(out), out.targets]).toEqual([["rollouts/my-app.yaml:8:15 FILE_OUTSIDE_REPO"], []]);
  });

  test("a cluster name with special characters is quoted in a pin path", () => {
    const odd = clusters.map((c, i) => (i === 0 ? { ...c, name: "a.b/c" } : c));
    const text = "items:\n  - { cluster: a.b/c, version: v1 }\nby:\n  a.b/c: v2\n";
    const pins =
      "    - { file: f.yaml, path: 'items[cluster={{ cluster.name }}].version' }\n    - { file: f.yaml, path: 'by.{{ cluster.name }}' }";
    const result = resolve(pins, { "f.yaml": text }, { clusters: odd, applications: applications.slice(0, 1) });
    expect(result.targets[0]?.edits.map(({ path, from }) => [path, from])).toEqual([
      ['items[cluster="a.b/c"].version', "v1"],
      ['by["a.b/c"]', "v2"],
    ]);
  });
});

describe("the other kinds of pins", () => {
  const GENERATORS = `kind: ApplicationSet
spec:
  generators:
    - clusters: { values: { revision: v1.4.1 } }
      selector: { matchExpressions: [ { key: name, operator: NotIn, values: [eu-west-1-a] } ] }
    - clusters: { values: { revision: v1.5.0 } }
      selector: { matchExpressions: [ { key: name, operator: In, values: [eu-west-1-a] } ] }
`;
  const MOVE = "    - { clusterGenerator: { file: g.yaml, path: values.revision } }";

  test("clusterGenerator: each cluster has the version of the entry it is with", () => {
    const { targets, problems } = resolve(MOVE, { "g.yaml": GENERATORS });
    expect(problems).toEqual([]);
    expect(targets.map((t) => t.edits[0]?.from)).toEqual(["v1.5.0", ...Array(11).fill("v1.4.1")]);
    expect(targets[1]?.edits).toEqual([
      {
        file: "g.yaml",
        path: "spec.generators[0]",
        kind: "clusterGenerator",
        entry: "spec.generators[1]",
        cluster: "eu-west-1-b",
        at: "values.revision",
        from: "v1.4.1",
        to: "v1.5.0",
      },
    ]);
  });

  test("clusterGenerator: lists that are not the same are refused", () => {
    const result = resolve(MOVE, { "g.yaml": GENERATORS.replace("In, values: [eu-west-1-a]", "In, values: [eu-west-1-b]") });
    expect(result.problems.map((p) => p.code)).toEqual(["PIN_AMBIGUOUS"]);
  });

  test("branch: the branch of the cluster, whose place is not read from files", () => {
    const text = rolloutWith(ELEMENT).text.replace(ELEMENT, "    - branch: 'env/{{ cluster.name }}'\n  delivery: { strategy: Commit }");
    const rollout = parseRollouts(text, "r.yaml").rollouts[0] as Rollout;
    expect(resolve(ELEMENT, {}, { rollout }).targets[0]?.edits).toEqual([
      { file: "", path: "env/eu-west-1-a", kind: "branch", from: null, to: "v1.5.0" },
    ]);
  });

  test("tag: the same, and fastForward: false goes with what it moves", () => {
    const tag = "    - { tag: 'env/{{ cluster.name }}', fastForward: false }\n  delivery: { strategy: Commit }";
    const rollout = parseRollouts(rolloutWith(ELEMENT).text.replace(ELEMENT, tag), "r.yaml").rollouts[0] as Rollout;
    expect(resolve(ELEMENT, {}, { rollout }).targets[0]?.edits).toEqual([
      { file: "", path: "refs/tags/env/eu-west-1-a", kind: "branch", forced: true, from: null, to: "v1.5.0" },
    ]);
    expect(() => rolloutWith("    - { file: a.yaml, path: a, fastForward: false }")).toThrow(/PIN_KIND.*FastForward/);
    expect(() => rolloutWith("    - { tag: a, branch: a }")).toThrow(/PIN_KIND.*TwoKinds/);
    expect(() => rolloutWith("    - { tag: a }")).toThrow(/BRANCH_NEEDS_COMMIT/);
  });

  test("branch: from its head to the release commit, where the remote could be asked", () => {
    const text = rolloutWith(ELEMENT).text.replace(ELEMENT, BRANCH);
    const rollout = parseRollouts(text, "rollouts/my-app.yaml").rollouts[0] as Rollout;
    const [head, commit] = ["a".repeat(40), "b".repeat(40)];
    const heads = new Map(clusters.slice(1).map(({ name }) => [`env/${name}`, head]));
    const result = resolve(
      ELEMENT,
      { "rollouts/my-app.yaml": text },
      { rollout, branches: { release: commit, heads, reserved: RESERVED } },
    );
    expect(result.targets).toHaveLength(clusters.length - 1);
    expect(result.targets[0]?.edits).toMatchObject([{ kind: "branch", from: head, to: commit }]);
    expect(result.problems).toMatchObject([{ code: "BRANCH_MISSING", branch: `env/${clusters[0]?.name}` }]);
  });

  test.each(["main", "stagecoach/journal", "stagecoach-run/my-app/1/1-1-1", "gh-readonly-queue/main/pr-1-abc"])(
    "branch: %s is moved by no pin, not by a label either",
    (name) => {
      const commit = "b".repeat(40);
      const labelled = clusters.map((cluster) => ({ ...cluster, labels: { ...cluster.labels, at: name } }));
      const branches = { release: commit, heads: new Map([[name, "a".repeat(40)]]), reserved: RESERVED };
      const text = rolloutWith(ELEMENT).text.replace(ELEMENT, BRANCH.replace("env/{{ cluster.name }}", "{{ cluster.labels.at }}"));
      const rollout = parseRollouts(text, "rollouts/my-app.yaml").rollouts[0] as Rollout;
      const result = resolve(ELEMENT, { "rollouts/my-app.yaml": text }, { rollout, clusters: labelled, branches });
      expect(result.targets).toEqual([]);
      expect(result.problems).toMatchObject([{ code: "BRANCH_NAME", branch: name, ours: true }]);
      const offline = resolve(ELEMENT, { "rollouts/my-app.yaml": text }, { rollout, clusters: labelled });
      // Which branch is the default one is not in the checkout.
      expect(offline.problems).toMatchObject(name === "main" ? [] : [{ code: "BRANCH_NAME", branch: name, ours: true }]);
    },
  );

  test("branch: a version that is no commit of the repo is a problem, told once", () => {
    const text = rolloutWith(ELEMENT).text.replace(ELEMENT, BRANCH);
    const rollout = parseRollouts(text, "rollouts/my-app.yaml").rollouts[0] as Rollout;
    const result = resolve(
      ELEMENT,
      { "rollouts/my-app.yaml": text },
      { rollout, branches: { release: undefined, heads: new Map(), reserved: RESERVED } },
    );
    expect(result.targets).toEqual([]);
    expect(told(result)).toEqual(["rollouts/my-app.yaml:6:12 RELEASE_COMMIT"]);
  });
});
