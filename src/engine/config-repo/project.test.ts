import { expect, test } from "vitest";
import type { Mirror } from "../../adapters/git/port.ts";
import type { SourcesRead } from "../../core/spec/parse/locate.ts";
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

/** Notes which files were read for the places of problems, as often as they were. */
function noted(): { sources: SourcesRead; files: string[] } {
  const files: string[] = [];
  const sources: SourcesRead = new Map();
  const set = sources.set.bind(sources);
  sources.set = (file, read) => {
    files.push(file);
    return set(file, read);
  };
  return { sources, files };
}

test("a file is read once for the places of all its problems, and the first twenty are given theirs", async () => {
  const text = Array.from({ length: ROLLOUTS }, (_, n) => rollout(n)).join("---\n");
  const { sources, files } = noted();
  const snapshot = openSnapshot(mirrorWith({ "rollouts/a.yaml": text, "rollouts/b.yaml": rollout(ROLLOUTS) }), "c");
  const { problems } = await readProject(snapshot, "main", sources);
  expect(files).toEqual(["rollouts/a.yaml", "rollouts/b.yaml"]);
  expect(problems.map(({ code }) => code)).toEqual(Array(ROLLOUTS + 1).fill("BASE_NOT_DEFAULT"));
  const lines = problems.map(({ line }) => line);
  expect(lines.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, n) => n * LINES + 6));
  expect([...new Set(lines.slice(20, ROLLOUTS)), lines.at(-1)]).toEqual([1, 6]);
});
