/** Parents that make sets: by a kustomization, by a chart, and what the embedded Argo CD does not render. */
import { afterEach, describe, expect, it } from "vitest";
import { type TestWorld, testWorld } from "../testing/world.ts";

let world: TestWorld;
afterEach(() => world.close());

const SET = (version: string) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: shop }
spec:
  generators: [{ list: { elements: [{ cluster: eu-1, version: ${version} }] } }]
  template:
    metadata: { name: "shop-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: __URL__, targetRevision: main, path: app }
      destination: { name: "{{cluster}}", namespace: app }
`;

async function parent(files: Record<string, string>, source: Record<string, unknown> = {}): Promise<void> {
  world = await testWorld({ "app/deployment.yaml": "image: app:v1\n" }, { clusters: [{ name: "eu-1" }] });
  await world.repo.commit(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text.replaceAll("__URL__", world.repo.url)])),
  );
  world.kubernetes.store.create({
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name: "fleet", namespace: "argocd" },
    spec: {
      project: "default",
      source: { repoURL: world.repo.url, targetRevision: "main", path: "fleet", ...source },
      destination: { server: "https://kubernetes.default.svc", namespace: "argocd" },
      syncPolicy: { automated: {} },
    },
  });
}

const setNamed = (name: string) => world.kubernetes.store.get("applicationsets", "argocd", name);
const elements = (name: string) => JSON.stringify((setNamed(name)?.["spec"] as { generators?: unknown } | undefined)?.generators ?? null);

async function manifestsAt(revision: string): Promise<{ status: number; body: { manifests?: string[]; message?: string } }> {
  const url = `${world.argo.url}/api/v1/applications/fleet/manifests?revision=${revision}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${world.argo.api.token}` } });
  return { status: answer.status, body: (await answer.json()) as { manifests?: string[] } };
}

const CHART = {
  "fleet/Chart.yaml": "name: fleet\nversion: 1.0.0\n",
  "fleet/values.yaml": "version: v1\nelsewhere: { eu-1: v0 }\n",
  "fleet/templates/_name.tpl": '{{- define "name" }}{{ .Release.Name }}-shop{{ end -}}\n',
  "fleet/templates/set.yaml": SET("{{ .Values.version }}")
    .replace("name: shop ", 'name: {{ template "name" . }} ')
    .replace(/"([^"]*)\{\{cluster\}\}"/g, "'$1{{ \"{{cluster}}\" }}'"),
  "fleet/templates/other.yaml":
    "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other }\ndata: { to: {{ .Values.elsewhere }} }\n".replace(
      ".Values.elsewhere",
      'index .Values.elsewhere "eu-1"',
    ),
};

describe("a parent of the embedded Argo CD", () => {
  it("that is a plain folder gives what stands in it, and nothing that stands beside it", async () => {
    const files = { "fleet/deep/set.yaml": SET("v1"), "beside/set.yaml": SET("v1").replace("name: shop", "name: beside") };
    await parent({ ...files, "beside/templates/broken.yaml": "kind: ApplicationSet\n{{ x }}\n" }, { directory: { recurse: true } });
    await world.until("the set is there", () => setNamed("shop") !== undefined);
    await world.pass(10_000);
    expect(setNamed("beside")).toBeUndefined();
  });

  it("that is a kustomization gives its sets patched, renamed and labelled", async () => {
    await parent({
      "fleet/kustomization.yaml":
        "resources: [../base]\nnamePrefix: eu-\ncommonLabels: { area: eu }\nlabels: [{ pairs: { tier: one } }]\npatches:\n  - path: p.yaml\n    target: { kind: ApplicationSet }\n",
      "fleet/p.yaml": "- { op: add, path: /spec/generators/0/list/elements/-, value: { cluster: eu-9, version: v9 } }\n",
      "base/kustomization.yaml": "resources: [set.yaml]\n",
      "base/set.yaml": SET("v1"),
    });
    await world.until("the set is there", () => setNamed("eu-shop") !== undefined);
    expect(setNamed("eu-shop")?.metadata.labels).toEqual({ area: "eu", tier: "one" });
    expect(elements("eu-shop")).toContain("eu-9");
  });

  it("that is a chart gives its sets by values, helpers and parameters", async () => {
    await parent(CHART, { helm: { parameters: [{ name: "version", value: "v2" }] } });
    await world.until("the set is there", () => setNamed("fleet-shop") !== undefined);
    expect(elements("fleet-shop")).toContain('"version":"v2"');
  });

  it("shows what any commit renders to, without the name of the revision, as the real one", async () => {
    await parent(CHART);
    await world.until("the set is there", () => setNamed("fleet-shop") !== undefined);
    await world.repo.git("branch", "other", "main");
    const later = await world.repo.commit({ "fleet/values.yaml": "version: v7\nelsewhere: { eu-1: v0 }\n" }, "other");
    const { status, body } = await manifestsAt(later);
    expect([status, Object.keys(body)]).toEqual([200, ["manifests"]]);
    const objects = (body.manifests ?? []).map((text) => JSON.parse(text) as { kind: string; metadata: { annotations: object } });
    expect(objects.map(({ kind }) => kind)).toEqual(["ConfigMap", "ApplicationSet"]);
    expect(body.manifests?.[1]).toContain('"version":"v7"');
    expect(objects[1]?.metadata.annotations).toEqual({
      "argocd.argoproj.io/tracking-id": "fleet:argoproj.io/ApplicationSet:argocd/fleet-shop",
    });
    expect(elements("fleet-shop")).toContain('"version":"v1"');
  });

  it.each([
    ["a chart with dependencies", { "fleet/Chart.yaml": "name: f\nversion: 1.0.0\ndependencies: [{ name: x }]\n" }, "with dependencies"],
    ["a component", { "fleet/kustomization.yaml": "components: [../x]\n" }, "does not render components"],
    ["a remote base", { "fleet/kustomization.yaml": "resources: [https://x.example/y]\n" }, "does not read"],
    ["a base outside of the repo", { "fleet/kustomization.yaml": "resources: [../../x]\n" }, "does not read"],
  ])("says what it does not render: %s", async (_, files: Record<string, string>, said) => {
    await parent({ "fleet/x.yaml": SET("v1"), ...files });
    await world.pass(30_000);
    const { status, body } = await manifestsAt("main");
    expect([status, body.message]).toEqual([500, expect.stringContaining(said)]);
    expect(world.app("fleet").status?.operationState?.message).toContain(said);
  });
});
