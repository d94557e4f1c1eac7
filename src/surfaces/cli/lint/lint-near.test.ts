/** What is mistyped in a rollout and told with what was most likely meant, without a server and without an inventory. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./lint.ts";

const here = sampleRepo();

async function told(from: string, to: string, ...args: string[]): Promise<string[]> {
  const file = join(here.dir, "rollouts/my-app.yaml");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, before.replace(from, to));
  here.clear();
  await run(["--repo", here.dir, ...args, "-o", "json"]);
  writeFileSync(file, before);
  const { problems } = JSON.parse(here.out) as {
    problems: { line: number; column: number; code: string; hint: string; message: string }[];
  };
  return problems.map(({ line, column, code, hint }) => `${line}:${column} ${code} ${/did you mean (.*?)\?/.exec(hint)?.[1] ?? "-"}`);
}

const SOURCE = "    kind: ApplicationSet\n    name: my-app-set\n";
const PIN = "cluster={{ cluster.name }}]";

/** What is changed in the rollout, and where it is told with what was meant. */
const CASES: [string, string, string, string[]][] = [
  ["nothing", "", "", []],
  ["a value of a label", "area: emea", "area: emae", ["27:19 UNKNOWN_LABEL emea"]],
  ["a label's key", "area: emea", "aera: emea", ["27:13 UNKNOWN_LABEL area"]],
  ["a topologyKey", "topologyKey: region", "topologyKey: regoin", ["30:20 NOT_KEPT_APART region"]],
  ["the source's name", "name: my-app-set", "name: my-ap-set", ["9:11 SOURCE_NOT_FOUND ApplicationSet argocd/my-app-set"]],
  ["the source's kind", "kind: ApplicationSet", "kind: Application", ["8:11 SOURCE_NOT_FOUND ApplicationSet argocd/my-app-set"]],
  ["the source's namespace", SOURCE, `${SOURCE}    namespace: argo-cd\n`, ["10:16 SOURCE_NOT_FOUND ApplicationSet argocd/my-app-set"]],
  ["a parameter of a pin", PIN, "cluster={{ params.clsuter }}]", ["17:13 TEMPLATE_VALUE {{ params.cluster }}"]],
  ["a label in a pin", PIN, "cluster={{ cluster.labels.clsuter }}]", ["17:13 TEMPLATE_VALUE {{ cluster.labels.cluster }}"]],
  ["a pin's file", "file: appsets/my-app-set", "file: appsets/my-ap-set", ["16:13 PIN_FILE_MISSING appsets/my-app-set.yaml"]],
  ["the folder of a pin's file", "file: appsets/my", "file: sets/my", ["16:13 PIN_FILE_MISSING appsets/my-app-set.yaml"]],
  ["the release's file", "file: releases/", "file: release/", ["12:5 RELEASE_NOT_FOUND releases/my-app.yaml"]],
  ["release, which is not told as missing besides", "  release:", "  relese:", ['11:3 UNKNOWN_KEY "release"']],
  ["a label like no other", "area: emea", "tier: canary", []],
  ["a region to come", "region: eu-west-1", "region: eu-west-3", []],
];

test.each(CASES)("offline, mistyped: %s", async (_what, from, to, expected) => {
  expect(await told(from, to)).toEqual(expected);
});

test("a mistyped file of a rollout is told with the one beside it", async () => {
  const message = expect.stringMatching(/my-ap\.yaml is not there \(did you mean my-app\.yaml\?\)$/);
  await expect(run([join(here.dir, "rollouts", "my-ap.yaml")])).rejects.toMatchObject({ exitCode: 2, message });
});

test("a document after a stray marker is told to belong to the one before", async () => {
  writeFileSync(join(here.dir, "rollouts", "my-app.yaml"), "apiVersion: stagecoach.dev/v1alpha1\n---\nmode: Run\n");
  await run(["--repo", here.dir]);
  expect(here.out).toContain("remove the --- above it");
});

test("with the clusters of an inventory a stage that is empty by a typo says which label was meant", async () => {
  const problems = await told("area: emea", "area: emae", "--inventory", join(here.dir, "inventory.yaml"));
  expect(problems).toContain("27:19 UNKNOWN_LABEL emea");
  expect(problems).toContain("23:7 EMPTY_STAGE -");
});

test("with the clusters of an inventory a label by which clusters would be put off is told at each stage that names it", async () => {
  const problems = await told("drained:", "draind:", "--inventory", join(here.dir, "inventory.yaml"));
  expect(problems).toEqual(["35:13", "46:7", "54:7", "62:7"].map((place) => `${place} UNKNOWN_LABEL drained`));
});

test("with the clusters of an inventory a topologyKey that none of a stage has is told, like another or not", async () => {
  const keyed = (key: string) => told("topologyKey: region", `topologyKey: ${key}`, "--inventory", join(here.dir, "inventory.yaml"));
  expect(await keyed("regoin")).toEqual(["30:20 NOT_KEPT_APART region"]);
  expect(await keyed("topology.kubernetes.io/zone")).toEqual(["30:20 NOT_KEPT_APART -"]);
});

test("a stage that selects nothing is told at its own line, though it is not the first", async () => {
  const problems = await told("region: us-east-1", "region: nowhere", "--inventory", join(here.dir, "inventory.yaml"));
  expect(problems.filter((one) => one.includes("EMPTY_STAGE"))).toEqual(["55:7 EMPTY_STAGE -"]);
});

test("a cluster that labels put into the environments of two stages is told at the later of both", async () => {
  here.edit("inventory.yaml", /^( +)area: emea$/m, "$1area: emea\n$1env: staging\n$1tier: prod");
  here.edit("rollouts/my-app.yaml", "region: us-east-1", "tier: prod");
  const problems = await told("area: emea", "env: staging", "--inventory", join(here.dir, "inventory.yaml"));
  expect(problems.filter((one) => one.includes("STAGES_IN_BOTH"))).toEqual(["55:7 STAGES_IN_BOTH -"]);
});

/** Whether the source is told as an error. */
async function severityOf(...more: string[]): Promise<string | undefined> {
  await told("name: my-app-set", "name: my-appset", ...more);
  const { problems } = JSON.parse(here.out) as { problems: { code: string; severity: string }[] };
  return problems.find(({ code }) => code === "SOURCE_NOT_FOUND")?.severity;
}

test("a mistyped source is an error where nothing else can be meant: what the pins write into, what else is here, what Argo CD has", async () => {
  expect(await severityOf()).toBe("error");
  here.edit("rollouts/my-app.yaml", "file: appsets/my-app-set.yaml", "file: clusters/{{ cluster.name }}.yaml");
  expect(await severityOf()).toBe("warning");
  expect(await severityOf("--inventory", join(here.dir, "inventory.yaml"))).toBe("warning");
  const set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: { name: web, namespace: argocd }\nspec: {}\n";
  writeFileSync(join(here.dir, "sets.yaml"), set);
  expect(await severityOf("--inventory", join(here.dir, "sets.yaml"))).toBe("error");
  const other = readFileSync(join(here.dir, "rollouts/my-app.yaml"), "utf8").replace("name: my-app\n", "name: web\n");
  const of = (name: string) => writeFileSync(join(here.dir, "rollouts/web.yaml"), other.replace("my-app-set", name));
  of("web");
  expect(await severityOf()).toBe("error");
  of("not-here");
  expect(await severityOf()).toBe("warning");
  of("my-app-set");
  expect(await severityOf()).toBe("warning");
});

test("Applications that are selected by a mistyped label are told of the label that they have", async () => {
  const application = [
    "apiVersion: argoproj.io/v1alpha1",
    "kind: Application",
    "metadata: { name: pay, namespace: argocd, labels: { team: payments } }",
  ];
  writeFileSync(join(here.dir, "pay.yaml"), `${application.join("\n")}\nspec: { destination: { name: eu-1 } }\n`);
  const source = "    kind: Application\n    selector: { matchLabels: { team: paymnets } }\n";
  expect(await told(SOURCE, source)).toContain("9:15 SOURCE_NOT_FOUND team=payments");
});

test("an Application that names no namespace is never said to be meant where it was looked for", async () => {
  const application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: pay }\n";
  writeFileSync(join(here.dir, "pay.yaml"), `${application}spec: { destination: { name: eu-1 } }\n`);
  const asked = "    kind: Application\n    name: pay\n    namespace: argo-cd\n";
  expect(await told(SOURCE, asked)).toContain("10:16 SOURCE_NOT_FOUND Application argocd/pay");
});

/** The sample's set with destinations by name; \`more\`: another generator. */
function byName(more = ""): void {
  here.edit("appsets/my-app-set.yaml", 'server: "{{server}}"', 'name: "{{cluster}}"');
  if (more !== "") here.edit("appsets/my-app-set.yaml", "  template:\n", `${more}  template:\n`);
}

/** The first stage asks for clusters by name. */
const asking = (...names: string[]) =>
  [
    "          matchLabels:\n            area: emea",
    `          matchExpressions: [{ key: name, operator: In, values: [${names.join(", ")}] }]`,
  ] as const;

test("a cluster's name that none has is told offline where Git knows all clusters, next of a row or not, each at its place", async () => {
  byName();
  expect(await told(...asking("us-east-1-z", "hub"))).toEqual(["26:66 UNKNOWN_NAME us-east-1-a", "26:79 UNKNOWN_NAME -"]);
  expect(await told("area: emea", "name: us-east-1-z")).toEqual(["27:19 UNKNOWN_NAME us-east-1-a"]);
  expect(await told("area: emea", "name: us-east-1-a")).toEqual([]);
});

test("a mistyped name is told once, as the label that it is", async () => {
  byName();
  expect(await told(...asking("eu-wset-1-a"))).toEqual(["26:66 UNKNOWN_LABEL eu-west-1-a"]);
});

test("names that are guessed from a server or a parameter are held against nobody who names others", async () => {
  expect(await told(...asking("hub", "us-east-1-z"))).toEqual([]);
  expect(await told(...asking("eu-west-1-a", "hub"))).toEqual(["26:79 UNKNOWN_NAME -"]);
  expect(here.out).toContain("clusters that only Argo CD knows may be");
});

test("beside a cluster generator a name is only hinted at, and only where Git names a cluster that the stages ask for", async () => {
  byName("    - clusters: { selector: { matchLabels: { env: prod } } }\n");
  expect(await told(...asking("hub"))).toEqual([]);
  expect(await told(...asking("in-cluster", "hub"))).toEqual([]);
  expect(await told(...asking("eu-west-1-a", "hub"))).toEqual(["26:79 UNKNOWN_NAME -"]);
  expect(here.out).toContain("clusters that only Argo CD knows may be");
});

test("a cluster generator's set is hinted at by the Secrets and Applications of the repo", async () => {
  here.edit("appsets/my-app-set.yaml", /generators:[\s\S]*template:/, "generators: [{ clusters: {} }]\n  template:");
  const names = asking("eu-1", "eu-2", "hub");
  expect((await told(...names)).filter((one) => one.includes("UNKNOWN_NAME"))).toEqual([]);
  const secret =
    'kind: Secret\nmetadata: { name: x, labels: { argocd.argoproj.io/secret-type: cluster } }\nstringData: { name: eu-1, server: "https://e" }\n';
  writeFileSync(join(here.dir, "secret.yaml"), `apiVersion: v1\n${secret}`);
  const application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: pay }\n";
  writeFileSync(join(here.dir, "pay.yaml"), `${application}spec: { destination: { name: eu-2 } }\n`);
  expect((await told(...names)).filter((one) => one.includes("UNKNOWN_NAME"))).toEqual(["26:78 UNKNOWN_NAME -"]);
});

test("what a git generator reads of another branch or another repo may name clusters that nobody knows here", async () => {
  const generator = (url: string, revision: string) =>
    `generators: [{ git: { repoURL: "${url}", revision: ${revision}, files: [{ path: clusters.yaml }] } }]\n  template:`;
  const names = async (url: string, revision: string) => {
    here.edit("appsets/my-app-set.yaml", /generators:[\s\S]*?\n {2}template:/, generator(url, revision));
    return (await told(...asking("hub"))).filter((one) => one.includes("UNKNOWN_NAME"));
  };
  byName();
  writeFileSync(join(here.dir, "clusters.yaml"), '[{ cluster: eu-1, region: a, targetRevision: "1" }]\n');
  mkdirSync(join(here.dir, ".git"));
  writeFileSync(join(here.dir, ".git/config"), '[remote "origin"]\n\turl = https://github.com/example/fleet.git\n');
  expect(await names("https://github.com/example/fleet", "HEAD")).toEqual([expect.stringContaining("UNKNOWN_NAME")]);
  expect(await names("https://github.com/example/fleet", "next")).toEqual([]);
  expect(await names("https://github.com/example/other", "HEAD")).toEqual([]);
});

test("without any cluster's labels a mistyped key is told by what Git knows: generators, Secrets, pins, other stages", async () => {
  const generator = (labels: string) => `{ clusters: { selector: { matchLabels: { ${labels} } } } }`;
  const set = (labels: string) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: shop, namespace: argocd }
spec:
  generators: [{ matrix: { generators: [${generator(labels)}, { list: { elements: [{ a: b }] } }] } }]
  template:
    metadata: { name: "shop-{{name}}" }
    spec:
      project: default
      source: { repoURL: https://github.com/acme/config, targetRevision: main, path: "apps/shop" }
      destination: { name: "{{name}}", namespace: shop }
      syncPolicy: { automated: {} }
`;
  const shop = (first: string, rest: string, pin = "{{ cluster.name }}") => `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: shop }
spec:
  sourceRef: { apiGroup: argoproj.io, kind: ApplicationSet, name: shop }
  release: { version: v1 }
  pins: [{ file: "apps/${pin}.yaml", path: tag }]
  stages:
    - { name: one, clusters: { selector: { matchLabels: { ${first}: a } } } }
    - { name: two, clusters: { selector: { matchLabels: { ${rest}: b } } } }
    - { name: three, clusters: { selector: { matchLabels: { ${rest}: c } } } }
`;
  const say = async (rollout: string, labels = "fleet: shop") => {
    writeFileSync(join(here.dir, "appsets/shop.yaml"), set(labels));
    writeFileSync(join(here.dir, "rollouts/shop.yaml"), rollout);
    here.clear();
    await run([join(here.dir, "rollouts/shop.yaml"), "--repo", here.dir, "-o", "json"]);
    const { problems } = JSON.parse(here.out) as { problems: { line: number; code: string; hint: string }[] };
    return problems.flatMap(({ line, code, hint }) => (code === "UNKNOWN_LABEL" ? [`${line}: ${hint}`] : []));
  };
  // Of other stages, of a generator, of a pin.
  expect(await say(shop("regoin", "region"))).toEqual(["9: did you mean region?"]);
  expect(await say(shop("regoin", "zone"), "region: eu")).toEqual(["9: did you mean region?"]);
  expect(await say(shop("regoin", "zone", "{{ cluster.labels.region }}"))).toEqual(["9: did you mean region?"]);
  // What nothing is like, what two stages go by, and another word are meant.
  for (const rollout of [shop("region", "region"), shop("region", "tier"), shop("zone", "regoin"), shop("env", "environment")])
    expect(await say(rollout, "region: eu, environment: prod")).toEqual([]);
});
