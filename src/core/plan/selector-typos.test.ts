import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import type { Selector } from "../base/selector.ts";
import { selectorTypos, stageTypos } from "./selector-typos.ts";

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
  ["a mistyped value among others", within("region", "eu-west-1", "us-esat-1"), ["region=us-esat-1: us-east-1"]],
  [
    "a mistyped key that has to be there",
    { matchLabels: {}, matchExpressions: [{ key: "aera", operator: "Exists", values: [] }] },
    ["aera: area"],
  ],
  ["the name, which is no label", matching({ name: "eu-wset-1-a" }), ["name=eu-wset-1-a: eu-west-1-a"]],
  ["what is like nothing", matching({ area: "apac", tier: "canary" }), []],
  ["the next of a row", within("region", "eu-west-2", "us-east-12"), []],
  ["the next letter of a row", matching({ cluster: "eu-west-1-b" }), []],
  ["another region with a like name", within("region", "us-west-1", "eu-east-1", "ap-east-1"), []],
  ["what must not be there", { matchLabels: {}, matchExpressions: [{ key: "aera", operator: "NotIn", values: ["emea"] }] }, []],
];

test.each(CASES)("%s", (_what, selector, told) => {
  const said = selectorTypos(selector, CLUSTERS).map(({ key, value, near }) => `${key}${value === undefined ? "" : `=${value}`}: ${near}`);
  expect(said).toEqual(told);
});

test("where no cluster is known nothing is mistyped", () => {
  expect(selectorTypos(matching({ area: "emae" }), [])).toEqual([]);
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

test("thousands of names beside thousands of clusters are told of in part, and at once", () => {
  const named = (start: string, at: number) => `${start}-of-a-name-that-is-${at.toString(36)}-a-b-c-d-e-f-g`;
  const clusters = Array.from({ length: 2_000 }, (_, at) => ({ name: named("cluster", at), labels: {} }));
  const names = Array.from({ length: 5_000 }, (_, at) => named("clsuter", at));
  const stages = Array.from({ length: 20 }, (_, at) => ({ name: `stage-${at}`, selector: within("name", ...names) }));
  const rollout = { stages } as unknown as Parameters<typeof stageTypos>[0];
  const before = cpuMs();
  expect(stageTypos(rollout, clusters)).toHaveLength(20);
  const keys = names.map((key) => ({ key, operator: "Exists" as const, values: [] }));
  expect(selectorTypos({ matchLabels: {}, matchExpressions: keys }, clusters)).toEqual([]);
  expect(cpuMs() - before).toBeLessThan(2_000);
});
