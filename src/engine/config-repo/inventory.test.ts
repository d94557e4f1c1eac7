import { describe, expect, test } from "vitest";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import type { ApplicationView, ClusterView } from "../../core/argocd/views.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import { clustersOf } from "../resolve/fleet.ts";
import { resolveTargets } from "../resolve/targets.ts";
import { declaredIn, readClusters } from "./inventory.ts";

const FILE = "clusters.yaml";
const b64 = (text: string) => Buffer.from(text).toString("base64");

/** A cluster Secret as an item of a List. */
function item(name: string, lines: string[] = [], labels = "region: eu"): string {
  const data = `  data:\n    name: ${b64(name)}\n    server: ${b64(`https://${name}.example`)}\n`;
  const metadata = `    name: cluster-${name}\n    labels:\n      argocd.argoproj.io/secret-type: cluster\n      ${labels}\n`;
  return `- apiVersion: v1\n  kind: Secret\n  metadata:\n${metadata}${data}${lines.map((line) => `${line}\n`).join("")}`;
}

const list = (...items: string[]) => `apiVersion: v1\nkind: List\nitems:\n${items.join("")}`;

function told(text: string): string[] {
  const read = readClusters(text, FILE);
  return read.ok
    ? []
    : read.problems
        .map((one) => ({ ...one, ...sayProblem(one) }))
        .map(({ code, line, column, message, hint }) => `${line}:${column} ${code} ${message}; ${hint}`);
}

/** The first problem as data. */
function first(text: string) {
  const read = readClusters(text, FILE);
  return read.ok ? undefined : read.problems[0];
}

describe("the clusters of spec.inventory", () => {
  test("are the cluster Secrets of a List, of several documents, or of JSON; what else kubectl printed is passed over", () => {
    const names = (text: string) => {
      const read = readClusters(text, FILE);
      return read.ok ? read.clusters.map(({ name, server, labels }) => [name, server, labels]) : read.problems;
    };
    const expected = [["eu-1", "https://eu-1.example", { region: "eu" }]];
    expect(names(list(item("eu-1"), "- {apiVersion: v1, kind: ConfigMap}\n"))).toEqual(expected);
    const labels = { "argocd.argoproj.io/secret-type": "cluster", region: "eu" };
    const plain = { kind: "Secret", metadata: { name: "eu-1", labels }, stringData: { server: "https://eu-1.example/" } };
    expect(names(JSON.stringify({ kind: "SecretList", items: [plain] }))).toEqual([
      ["https://eu-1.example", "https://eu-1.example", { region: "eu" }],
    ]);
    const named = { ...plain, stringData: { ...plain.stringData, name: "eu-1" } };
    expect(names(JSON.stringify({ kind: "SecretList", items: [named] }))).toEqual(expected);
    expect(names(`---\n${JSON.stringify({ ...plain, stringData: undefined })}\n---\nkind: Secret\nmetadata: {name: other}\n`)).toEqual([
      ["eu-1", "", { region: "eu" }],
    ]);
  });

  test("with a credential are refused as a whole, and nothing of it is repeated", () => {
    const hush = b64('{"bearerToken":"hush"}');
    const bad = list(item("eu-1"), item("eu-2", [`    config: ${hush}`]));
    expect(first(bad)).toMatchObject({ line: 14, column: 3, code: "INVENTORY_CREDENTIALS", secret: "cluster-eu-2", holds: "data.config" });
    expect(told(bad)).toHaveLength(1);
    const applied = `kubectl.kubernetes.io/last-applied-configuration: '{"data":{"config":"${hush}"}}'`;
    const annotated = list(item("eu-1").replace("    labels:", `    annotations:\n      ${applied}\n    labels:`));
    expect(told(annotated)[0]).toMatch(/INVENTORY_CREDENTIALS .*cluster-eu-1.*kubectl\.kubernetes\.io\/last-applied/);
    // A Secret of another kind has no place there either.
    expect(told(`kind: Secret\nmetadata: {name: db}\nstringData: {password: hush}\n`)[0]).toContain("stringData.password");
    expect(told(`${bad}- kind: Secret\n  data: {config: ${hush}\n`).join()).not.toContain(hush);
    for (const text of [bad, annotated]) expect(told(text).join()).not.toMatch(/hush|YmVhcm/);
  });

  test("each mistake is told with its line and column", () => {
    expect(first(list(item("eu-1"), item("eu-1")))).toMatchObject({
      line: 14,
      column: 3,
      code: "INVENTORY_INVALID",
      kind: "Twice",
      cluster: "eu-1",
    });
    const same = item("eu-2").replace(b64("https://eu-2.example"), b64("https://eu-1.example/"));
    expect(first(list(item("eu-1"), same))).toMatchObject({ code: "INVENTORY_INVALID", kind: "SameServer", first: "eu-1", second: "eu-2" });
    const label = { kind: "LabelType", label: "drained", secret: "cluster-eu-1" };
    expect(first(list(item("eu-1", [], "drained: true")))).toMatchObject({ line: 10, column: 16, code: "INVENTORY_INVALID", ...label });
    expect(first("kind: List\nitems:\n- 7\n")).toMatchObject({ line: 3, column: 3, code: "INVENTORY_INVALID", kind: "NoObject" });
    expect(first("name: eu-1\n")).toMatchObject({ line: 1, column: 1, code: "INVENTORY_INVALID", kind: "NoKind" });
    expect(first("kind: List\nitems: [\n")).toMatchObject({
      code: "INVENTORY_INVALID",
      kind: "NotYaml",
      name: FILE,
      line: expect.any(Number),
    });
    expect(first("kind: ConfigMap\n")).toMatchObject({ code: "INVENTORY_INVALID", kind: "NoCluster" });
    expect(first("")).toMatchObject({ code: "INVENTORY_INVALID", kind: "NoCluster" });
    expect(first(`# ${"x".repeat(8 * 1024 * 1024)}`)).toMatchObject({ code: "INVENTORY_INVALID", kind: "TooLarge", mebibytes: 9, most: 8 });
    const tenfold = (name: string, of: string) => `${name}: &${name} [${Array(30).fill(of).join(",")}]\n`;
    const bomb = `${tenfold("a", "x")}${tenfold("b", "*a")}${tenfold("c", "*b")}${tenfold("d", "*c")}kind: *d\n`;
    expect(first(bomb)).toMatchObject({ code: "INVENTORY_INVALID", kind: "Aliases" });
  });

  test("a file that is not there, or must not be read, is told at the field, with the nearest name", () => {
    const rollout = sampleRollout({ inventory: { file: "cluster.yaml" } });
    const paths = () => ["README.md", "clusters.yaml"];
    expect(declaredIn({ read: () => null, paths }, rollout)).toMatchObject({
      problems: [{ code: "INVENTORY_NOT_FOUND", file: rollout.file, path: ["spec", "inventory", "file"], near: "clusters.yaml" }],
    });
    const link = () => {
      throw new Error("it is a symbolic link");
    };
    expect(declaredIn({ read: link, paths }, rollout)).toMatchObject({
      problems: [{ code: "INVENTORY_INVALID", kind: "Unreadable", said: "it is a symbolic link" }],
    });
    expect(declaredIn({ read: () => null, paths }, sampleRollout())).toBeUndefined();
  });
});

describe("a fleet with spec.inventory", () => {
  const view = (name: string): ClusterView => ({ name, server: `https://${name}.example`, labels: { seen: "argo" }, registered: true });
  const hub = (name: string, clusters: ClusterView[], fresh = true): ControlPlane =>
    ({
      name,
      state: () => ({ fresh, since: "2026-11-21T12:00:00Z" }),
      clusters: () => clusters,
    }) as Partial<ControlPlane> as ControlPlane;
  const declared = readClusters(list(item("eu-1"), item("eu-2")), FILE);
  const fleet = (planes: ControlPlane[]) => clustersOf({ planes: new Map(planes.map((plane) => [plane.name, plane])) }, [], { declared });

  test("has the file's names and labels, whatever Argo CD says", () => {
    expect(fleet([hub("hub", [view("us-1")])]).clusters.map(({ key, labels }) => [key, labels])).toEqual([
      ["hub/eu-1", { region: "eu" }],
      ["hub/eu-2", { region: "eu" }],
    ]);
  });

  test("of several control planes gives each the clusters that it knows, by name or by server", () => {
    const other = { ...view("another"), server: "https://eu-2.example/" };
    expect(fleet([hub("a", [view("eu-1")]), hub("b", [other])]).clusters.map(({ key }) => key)).toEqual(["a/eu-1", "b/eu-2"]);
  });

  test("whose file cannot be read is not known at all: no cluster has left because of it", () => {
    const planes = new Map([
      ["a", hub("a", [view("eu-1")])],
      ["b", hub("b", [], false)],
    ] as const);
    expect(clustersOf({ planes }, [], { declared: readClusters("kind: List\n", FILE) })).toEqual({
      clusters: [],
      known: false,
      why: [{ code: "INVENTORY_UNREADABLE", problem: expect.objectContaining({ code: "INVENTORY_INVALID", kind: "NoCluster" }) }],
      lost: new Map(),
    });
  });

  test("an Application on a cluster that the file does not have is an error at the field, with the nearest name", () => {
    const raw = {
      metadata: {
        name: "payments",
        namespace: "argocd",
        uid: "1",
        ownerReferences: [{ kind: "ApplicationSet", name: "payments", uid: "s" }],
      },
      spec: { project: "default", source: { repoURL: "r" }, destination: { name: "eu-11" } },
    };
    const view = decodeApplication(raw, 0) as ApplicationView;
    const rollout = sampleRollout({ inventory: { file: FILE } });
    const clusters = fleet([hub("hub", [])]).clusters;
    const { problems } = resolveTargets({
      rollout,
      release: { values: { version: "v2" }, attempt: 1 },
      applications: [{ controlPlane: "hub", view }],
      clusters,
      readFile: () => null,
    });
    expect(problems).toMatchObject([
      {
        code: "UNKNOWN_CLUSTER",
        path: ["spec", "inventory", "file"],
        ...{ kind: "Undeclared", destination: "eu-11", inventory: "clusters.yaml", near: "eu-1" },
        targets: { names: ["payments"] },
      },
    ]);
  });
});
