import fc from "fast-check";
import { expect, test } from "vitest";
import { matcher, type Selector } from "../base/selector.ts";
import type { Rollout } from "../spec/rollout.ts";
import { selectorTypos, stageStrangers, stageTypos } from "./selector-typos.ts";

const labels = (area: string, region: string) => ({ area, region, cluster: `${region}-a` });
const CLUSTERS = [
  { name: "eu-west-1-a", labels: labels("emea", "eu-west-1") },
  { name: "us-east-1-a", labels: labels("amer", "us-east-1") },
];
const matching = (matchLabels: Record<string, string>): Selector => ({ matchLabels, matchExpressions: [] });
const within = (key: string, ...values: string[]): Selector => ({ matchLabels: {}, matchExpressions: [{ key, operator: "In", values }] });

const CASES: [string, Selector, string[]][] = [
  ["a label as it is", matching({ area: "emea" }), []],
  ["a mistyped value", matching({ area: "emae" }), ["area=emae: emea"]],
  ["a mistyped key", matching({ regoin: "eu-west-1" }), ["regoin: region"]],
  ["a mistyped key with many values, once", within("regoin", "eu-west-1", "us-east-1"), ["regoin: region"]],
  ["a mistyped value among others", within("region", "eu-west-1", "us-esat-1"), ["region=us-esat-1: us-east-1"]],
  [
    "a mistyped key that has to be there",
    { matchLabels: {}, matchExpressions: [{ key: "aera", operator: "Exists", values: [] }] },
    ["aera: area"],
  ],
  ["the name, which is no label", matching({ name: "eu-wset-1-a" }), ["name=eu-wset-1-a: eu-west-1-a"]],
  ["a key cut short", matching({ reg: "eu-west-1" }), ["reg: region"]],
  ["what is like nothing", matching({ area: "apac", tier: "canary" }), []],
  ["the next of a row", within("region", "eu-west-2", "us-east-12"), []],
  ["the next letter of a row", matching({ cluster: "eu-west-1-b" }), []],
  ["a number that stands too near", matching({ region: "eu-west1" }), ["region=eu-west1: eu-west-1"]],
  ["another region with a like name", within("region", "us-west-1", "eu-east-1", "ap-east-1"), []],
  ["what must not be there", { matchLabels: {}, matchExpressions: [{ key: "aera", operator: "NotIn", values: ["emea"] }] }, []],
];

test.each(CASES)("%s", (_what, selector, told) => {
  const said = selectorTypos(selector, CLUSTERS).map(({ key, value, near }) => `${key}${value === undefined ? "" : `=${value}`}: ${near}`);
  expect(said).toEqual(told);
});

/** Keys and values as repos have them beside each other: each is a name of its own. */
const FAMILIES: [string, string[]][] = [
  ["a word more", ["enable_cache", "enable_aws_cache", "enable_aws_cache_ingress", "teams/web", "teams/web-preview"]],
  ["another word", ["platform.example.com/backup", "platform.example.com/build-service", "platform.example.com/mirror"]],
  ["a short word with another letter", ["plane-ocp-1", "plane-osp-1", "api", "app"]],
  ["camel case", ["enableCache", "enableAwsCache"]],
];

test.each(FAMILIES)("%s makes another name, of a key as of a value", (_what, names) => {
  for (const name of names) {
    const others = names.filter((one) => one !== name);
    const keys = others.map((key) => ({ name: "eu-1", labels: { [key]: "true" } }));
    const values = others.map((addon) => ({ name: "eu-1", labels: { addon } }));
    expect([...selectorTypos(matching({ [name]: "true" }), keys), ...selectorTypos(matching({ addon: name }), values)], name).toEqual([]);
  }
});

test("a key that is written out means one that is cut short, by a prefix of its own or not; a longer name and `name` mean none", () => {
  const near = (key: string, ...keys: string[]) =>
    selectorTypos(matching({ [key]: "x" }), [{ name: "a", labels: Object.fromEntries(keys.map((one) => [one, "x"])) }]).map(
      (one) => one.near,
    );
  expect(near("enviroment", "env", "team")).toEqual(["env"]);
  expect(near("acme.io/environment", "acme.io/env")).toEqual(["acme.io/env"]);
  expect([...near("namespace", "team"), ...near("web-preview", "web"), ...near("acme.io/environment", "env")]).toEqual([]);
});

test("where no cluster is known nothing is mistyped, and a name is not said to mean a name", () => {
  expect(selectorTypos(matching({ area: "emae" }), [])).toEqual([]);
  expect(selectorTypos(within("name", "eu-1", "eu-2"), [])).toEqual([]);
});

test("a value that another stage selects is that stage's, and is not meant again", () => {
  const stage = (name: string, region: string) => ({ name, selector: matching({ region }) });
  const rollout = { stages: [stage("here", "us-east-1"), stage("to come", "us-esat-1")] } as unknown as Parameters<typeof stageTypos>[0];
  expect(stageTypos(rollout, CLUSTERS)).toEqual([]);
  rollout.stages.shift();
  expect(stageTypos(rollout, CLUSTERS)).toMatchObject([
    { stage: "to come", near: "us-east-1", path: ["spec", "stages", 0, "clusters", "selector", "matchLabels", "region"] },
  ]);
});

test("what a stage puts off is told as its own selector is, and each key is looked up once for all stages", () => {
  let looks = 0;
  const getOwnPropertyDescriptor = (of: Record<string, string>, key: PropertyKey) => {
    looks++;
    return Reflect.getOwnPropertyDescriptor(of, key);
  };
  const own = new Proxy({ ...labels("emea", "eu-west-1"), drained: "false" }, { getOwnPropertyDescriptor });
  const fleet = [{ name: "eu-west-1-b", labels: own }];
  const stage = (key: string) => ({ name: key, selector: matching({}), requeue: { selector: matching({ [key]: "true" }) } });
  const stages = [stage("drained"), stage("draind"), stage("drained"), stage("maintenance")];
  expect(stageTypos({ stages } as unknown as Rollout, fleet)).toEqual([
    {
      ...{ setting: "spec.stages[1].requeue", key: "draind", near: "drained", atKey: true },
      path: ["spec", "stages", 1, "requeue", "selector", "matchLabels", "draind"],
    },
  ]);
  looks = 0;
  stageTypos({ stages: Array.from({ length: 20 }, () => stage("drained")) } as unknown as Rollout, fleet);
  expect(looks).toBe(1);
});

test("of thousands of names beside thousands of clusters the first are looked at, and no more", () => {
  const clusters = Array.from({ length: 2_000 }, (_, at) => ({ name: `cluster-${at}-of-many`, labels: {} }));
  const strange = (many: number) => Array.from({ length: many }, (_, at) => `${at}-is-like-none`);
  const told = (...names: string[]) => selectorTypos(within("name", ...names), clusters).map(({ value }) => value);
  expect(told(...strange(50), "clsuter-7-of-many")).toEqual(["clsuter-7-of-many"]);
  expect(told(...strange(5_000), "clsuter-7-of-many")).toEqual([]);
});

test("nobody mends more than twenty at once", () => {
  const stages = Array.from({ length: 30 }, (_, at) => ({ name: `stage-${at}`, selector: within("area", "emae") }));
  const rollout = { stages } as unknown as Parameters<typeof stageTypos>[0];
  expect(stageTypos(rollout, CLUSTERS)).toHaveLength(20);
});

test("a name that no cluster has is told where it stands, unless it is told as a typo or is everybody's", () => {
  const stages = [{ name: "all", selector: within("name", "us-east-1-z", "in-cluster", "eu-wset-1-a", "us-east-1-a") }];
  const rollout = { stages } as unknown as Parameters<typeof stageStrangers>[0];
  const path = ["spec", "stages", 0, "clusters", "selector", "matchExpressions", 0, "values", 0];
  expect(stageStrangers(rollout, CLUSTERS)).toEqual([{ stage: "all", name: "us-east-1-z", near: "us-east-1-a", path }]);
  expect(stageStrangers(rollout, [])).toEqual([]);
});

test("names that are all unknown are held against no fleet that may be another", () => {
  const asking = (...names: string[]) =>
    ({ stages: [{ name: "all", selector: within("name", ...names) }] }) as unknown as Parameters<typeof stageStrangers>[0];
  expect(stageStrangers(asking("hub", "in-cluster"), [...CLUSTERS, { name: "in-cluster", labels: {} }], { some: true })).toEqual([]);
  expect(stageStrangers(asking("hub", "eu-west-1-a"), CLUSTERS, { some: true })).toMatchObject([{ name: "hub" }]);
});

test("a label by the key name is as good as the name itself", () => {
  const rollout = { stages: [{ name: "all", selector: within("name", "a", "b") }] } as unknown as Parameters<typeof stageStrangers>[0];
  expect(stageStrangers(rollout, [{ name: "a", labels: { name: "b" } }])).toEqual([]);
});

test("of a stage that selects a cluster only what is one of several can be mistyped: nothing else is looked for", () => {
  const value = fc.constantFrom("emea", "emae", "amer");
  const key = fc.constantFrom("area", "aera", "region", "name");
  const expression = fc.oneof(
    fc.record({ key, operator: fc.constant("In" as const), values: fc.uniqueArray(value, { minLength: 1 }) }),
    fc.record({ key, operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const), values: fc.constant<string[]>([]) }),
    fc.record({ key, operator: fc.constant("NotIn" as const), values: fc.uniqueArray(value, { minLength: 1 }) }),
  );
  const selector = fc.record({
    matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
    matchExpressions: fc.array(expression, { maxLength: 2 }),
  });
  const cluster = fc.record({ name: value, labels: fc.dictionary(key, value, { maxKeys: 3 }) });
  fc.assert(
    fc.property(
      fc.array(selector, { minLength: 1, maxLength: 3 }),
      fc.array(cluster, { minLength: 1, maxLength: 4 }),
      (selectors, clusters) => {
        const rollout = { stages: selectors.map((one, at) => ({ name: `s${at}`, selector: one })) } as unknown as Rollout;
        const reached = selectors.flatMap((one, at) => (clusters.some(matcher(one)) ? [`s${at}`] : []));
        expect(stageTypos(rollout, clusters, new Set(reached))).toEqual(stageTypos(rollout, clusters));
      },
    ),
  );
});
