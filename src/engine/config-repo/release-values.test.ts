import { describe, expect, test } from "vitest";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { releaseEdits } from "../round/start/start-rollback.ts";
import { readRelease } from "./release.ts";

const FILE = "rollouts/web.yaml";

function repo(release: string, releases = "app: { tag: v2 }\nsidecar: { tag: v1 }\nchart: { version: 7.0.0 }\n") {
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: web }
spec:
  sourceRef: { kind: ApplicationSet, name: web }
  release: ${release}
  stages: [{ name: all, clusters: { selector: {} } }]
`;
  const files: Record<string, string> = { [FILE]: text, "releases/web.yaml": releases };
  const [rollout] = parseRollouts(text, FILE).rollouts;
  if (rollout === undefined) throw new Error("the rollout has an error");
  return { rollout, read: (path: string) => files[path] ?? null };
}

const SET = "{ from: { file: releases/web.yaml, paths: { image: app.tag, sidecar: sidecar.tag, chart: chart.version } } }";

describe("values that are released together", () => {
  test("are read from one file, each by its path", () => {
    const { rollout, read } = repo(SET);
    expect(readRelease(rollout, read)).toEqual({
      ok: true,
      release: { values: { image: "v2", sidecar: "v1", chart: "7.0.0" }, attempt: 1 },
    });
  });

  test("a path that the file lacks is told with its line, column and the nearest key", () => {
    const { rollout, read } = repo(SET, "app: { tag: v2 }\nsidecars: { tag: v1 }\nchart: { version: 7.0.0 }\n");
    const found = readRelease(rollout, read);
    if (found.ok) throw new Error("it has no sidecar");
    expect([found.file, found.line, found.column]).toEqual(["releases/web.yaml", 1, 1]);
    const { message, hint } = sayProblem({
      code: "RELEASE_NOT_FOUND",
      severity: "error",
      ...found.why,
      file: found.file,
      line: 1,
      column: 1,
      path: [],
    });
    expect(`${message}; ${hint}`).toContain("sidecars");
  });

  test("a rollback puts back those that changed, where each stands", () => {
    const { rollout, read } = repo(SET);
    expect(releaseEdits(rollout, { image: "v1", sidecar: "v1", chart: "6.0.0" }, read)).toEqual([
      { file: "releases/web.yaml", path: "app.tag", kind: "value", from: "v2", to: "v1" },
      { file: "releases/web.yaml", path: "chart.version", kind: "value", from: "7.0.0", to: "6.0.0" },
    ]);
  });

  test("values that stand in the rollout itself are put back there, beside those of other files", () => {
    const { rollout, read } = repo("{ values: { image: v2, sidecar: v1, chart: { file: releases/web.yaml, path: chart.version } } }");
    expect(releaseEdits(rollout, { image: "v1", sidecar: "v1", chart: "6.0.0" }, read)).toEqual([
      { file: FILE, path: "spec.release.values.image", kind: "value", from: "v2", to: "v1" },
      { file: "releases/web.yaml", path: "chart.version", kind: "value", from: "7.0.0", to: "6.0.0" },
    ]);
  });
});
