import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Question } from "../../../core/reasons/onboarding.ts";
import { printRollout } from "../../../core/report/onboarding/print.ts";
import type { Proposal } from "../../../core/report/onboarding/types.ts";
import { askAll } from "./ask.ts";

const VERSION: Question = { kind: "WhichVersion", versions: ["v1.4.0", "v1.4.1", "v1.3.9"], taken: "v1.4.1" };
const SYNC: Question = { kind: "WhoSyncs", stages: ["prod"] };
const ALONG: Question = { kind: "BringAlong", slot: "kustomize newTag redis", values: ["7.2"], pin: { file: "a.yaml", path: "redis.tag" } };

/** One rollout with these questions, as init prints it. */
function proposal(...questions: Question[]): Proposal {
  const stage = { maxUnavailable: 1, clusters: 1 };
  const stages = [
    { ...stage, name: "dev", selector: { matchLabels: { env: "dev" } } },
    { ...stage, name: "prod", selector: {}, sync: "Wait" as const },
  ];
  const source = { kind: "ApplicationSet" as const, name: "shop", namespace: "argocd" };
  const pins = [{ file: "a.yaml", path: "image.tag" }];
  const guesses = [{ kind: "OneEnvironment" as const }];
  const text = printRollout({
    name: "shop",
    source,
    targetBy: undefined,
    release: { version: "v1.4.1" },
    pins,
    stages,
    guesses,
    questions,
  });
  return { rollouts: [{ name: "shop", file: "rollouts/shop.yaml", text, stages, questions }] } as unknown as Proposal;
}

async function asked(typed: string, given: Proposal, verify = (_file: string, _text: string): string[] => []) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(typed);
  const { rollouts } = await askAll(given, verify, { input, output });
  const [rollout] = rollouts;
  if (rollout === undefined) throw new Error("no rollout");
  return { rollout, spec: parse(rollout.text).spec, said: String(output.read() ?? "") };
}

test("each answer is written into the rollout, and its question is gone from there; all else stays", async () => {
  const given = proposal(VERSION, SYNC, ALONG);
  const { rollout, spec, said } = await asked("3\n2\n2\n", given);
  expect(spec).toMatchObject({
    release: { version: "v1.3.9" },
    pins: [{ path: "image.tag" }, { file: "a.yaml", path: "redis.tag" }],
    stages: [{ name: "dev" }, { name: "prod", sync: "Request" }],
  });
  expect(spec.stages[0]).not.toHaveProperty("sync");
  expect([rollout.questions, rollout.text.includes("# Question")]).toEqual([[], false]);
  expect(rollout).toMatchObject({ version: "v1.3.9", pins: [{ path: "image.tag" }, { path: "redis.tag" }] });
  expect(rollout.text).toContain("# Check: nothing tells Applications of one environment");
  expect(rollout.text).toContain("  # A pull request that changes this version is a release.");
  expect(said).toMatch(/rollouts\/shop\.yaml: they are at 3 versions[\s\S]*3\. version: "v1\.3\.9"\nAnswer \[1\]: /);
});

test("what gets a value of its own makes the release one of several values, the version among them", async () => {
  const own = (name: string, value: string): Question => {
    const pin = { file: "a.yaml", path: `${name}.digest`, value: `{{ release.values.${name} }}` };
    return { kind: "BringAlong", slot: name, values: [value], pin, own: { name, value, beside: "v1.4.1" } };
  };
  const { spec, rollout } = await asked("3\n2\n2\n", proposal(VERSION, own("proxy", "sha256:1"), own("redis", "sha256:2")));
  expect(spec).toMatchObject({
    release: { values: { version: "v1.3.9", proxy: "sha256:1", redis: "sha256:2" } },
    pins: [{ path: "image.tag" }, { path: "proxy.digest", value: "{{ release.values.proxy }}" }, { path: "redis.digest" }],
  });
  expect(spec.release).not.toHaveProperty("version");
  expect(rollout.questions).toEqual([]);
});

test("nothing is the first answer, which stands there; what is no number of one is asked again", async () => {
  const { spec, said, rollout } = await asked("\n9\nyes\n1\n", proposal(VERSION, SYNC));
  expect(spec).toMatchObject({ release: { version: "v1.4.1" }, stages: [{}, { sync: "Wait" }] });
  expect([rollout.questions, said.split("Write a number from 1 to 3").length]).toEqual([[], 3]);
});

test("where the input ends, and for what people are to do themselves, the file stays as proposed with its question", async () => {
  const given = proposal(VERSION, SYNC);
  const { rollout } = await asked("", given);
  expect(rollout).toEqual(given.rollouts[0]);
  const byHand = await asked("2\n3\n", given);
  expect(byHand.rollout.questions).toEqual([SYNC]);
  expect(byHand.rollout.text).toMatch(/# Question: Applications of prod have no automated sync[\s\S]*version: v1\.4\.0[\s\S]*sync: Wait/);
});

test("an answer that would not pass lint is not taken, and said so", async () => {
  const given = proposal(ALONG);
  const { rollout, said } = await asked("2\n", given, (_file, text) =>
    text.includes("redis.tag\n") ? ["PIN_NOT_FOUND: it is not there"] : [],
  );
  expect(rollout.questions).toEqual([ALONG]);
  expect(said).toContain("rollouts/shop.yaml would not pass lint then, and stays as it was: PIN_NOT_FOUND: it is not there");
});
