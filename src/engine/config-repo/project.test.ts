import { expect, test } from "vitest";
import type { Mirror } from "../../adapters/git/port.ts";
import { readProject } from "./project.ts";
import { openSnapshot } from "./snapshot.ts";

const ROLLOUTS = 40;
const LINES = 10;

function rollout(n: number): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: r-${n} }
spec:
  sourceRef: { kind: ApplicationSet, name: s-${n} }
  delivery: { base: elsewhere }
  release: { version: v2 }
  pins: [{ file: a.yaml, path: "x[cluster={{ cluster.name }}].v" }]
  stages: [{ name: all, clusters: { selector: { matchLabels: { area: emea } } } }]
`;
}

function mirrorWith(files: Readonly<Record<string, string>>): Mirror {
  return {
    readFiles: async (_: string, paths: string[]) => new Map(paths.map((path) => [path, files[path] ?? null])),
    listFiles: async (_: string, __: string, kind?: string) => (kind === "link" ? [] : Object.keys(files)),
  } as unknown as Mirror;
}

test("of many problems of a file the first twenty are given their lines", async () => {
  const text = Array.from({ length: ROLLOUTS }, (_, n) => rollout(n)).join("---\n");
  const snapshot = openSnapshot(mirrorWith({ "rollouts/a.yaml": text, "rollouts/b.yaml": rollout(ROLLOUTS) }), "c");
  const { problems } = await readProject(snapshot, "main");
  expect(problems.map(({ code }) => code)).toEqual(Array(ROLLOUTS + 1).fill("BASE_NOT_DEFAULT"));
  const lines = problems.map(({ line }) => line);
  expect(lines.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, n) => n * LINES + 6));
  expect([...new Set(lines.slice(20, ROLLOUTS)), lines.at(-1)]).toEqual([1, 6]);
});

test("what lies among the rollouts as JSON is told, and takes no rollout out", async () => {
  const good = rollout(1).replace("  delivery: { base: elsewhere }\n", "");
  const snapshot = openSnapshot(mirrorWith({ "rollouts/a.yaml": good, "rollouts/b.json": "{}", "docs/c.json": "{}" }), "c");
  const { rollouts, problems } = await readProject(snapshot, "main");
  expect(problems).toMatchObject([{ code: "NOT_A_ROLLOUT", kind: "Json", file: "rollouts/b.json", severity: "warning" }]);
  expect(rollouts.map(({ name }) => name)).toEqual(["r-1"]);
});
