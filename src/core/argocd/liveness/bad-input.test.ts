import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idleMs } from "../../../../test/support/cpu-time.ts";
import { application, at, COMMIT, input, MERGED, merged, REPO, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import { absurdly, applicationSchema } from "../../../adapters/argocd/testing/crd.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import { decodeApplication } from "../decode/application.ts";
import { assess, healthIssuesOf } from "./liveness.ts";
import type { LivenessInput } from "./types.ts";

type Raw = Record<string, unknown>;
const NOW = Date.parse(at("10:30:00"));
const CHANGES: LivenessInput["change"][] = [
  { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED },
  { kind: "revision", revision: "main", mergedAt: MERGED },
  { kind: "generator", mergedAt: MERGED },
];

/** A clear state: a verdict, a sentence that fits on a screen, and evidence that the journal takes. */
function judged(raw: unknown, change = CHANGES[0] as LivenessInput["change"], more: Partial<LivenessInput> = {}) {
  const view = decodeApplication(raw, NOW);
  const assessment = assess(input({ application: view, now: NOW, change, ...more }));
  expect(sentenceOf(assessment.sentence)).toMatch(/^\S[^\n]{1,900}\.$/);
  expect(JSON.stringify(assessment.evidence).length).toBeLessThan(20_000);
  for (const value of Object.values(assessment.evidence.fields)) {
    expect(value === null || ["string", "number", "boolean"].includes(typeof value)).toBe(true);
  }
  healthIssuesOf(view);
  return assessment;
}

const schema = applicationSchema();
if (schema === undefined)
  console.error("skipped: absurd Applications of the real schema, which is not beside this checkout (../shared/data/argocd)");

describe("an Application nobody would write", () => {
  test.skipIf(schema === undefined)(
    "of the real schema, with anything missing or something else: a clear state, never a crash, never a pass",
    () => {
      const wild = absurdly(schema ?? {}, 15);
      fc.assert(
        fc.property(wild, fc.constantFrom(...CHANGES), (raw, change) => {
          const named = typeof raw === "object" && raw !== null && !Array.isArray(raw) ? { ...raw, metadata: { name: "x" } } : raw;
          expect(judged(named, change).verdict).not.toBe("live");
        }),
        { numRuns: 300 },
      );
    },
  );

  const paths = [
    ["status"],
    ["status", "sync"],
    ["status", "sync", "status"],
    ["status", "sync", "revision"],
    ["status", "sync", "comparedTo"],
    ["status", "sync", "comparedTo", "source"],
    ["status", "sync", "comparedTo", "destination"],
    ["status", "health"],
    ["status", "health", "status"],
    ["status", "reconciledAt"],
    ["spec"],
    ["spec", "source"],
    ["spec", "source", "repoURL"],
    ["spec", "destination"],
  ];
  const odd: unknown[] = [undefined, null, 7, true, "", "x", [], {}, [null], { a: 1 }, "x".repeat(100_000), Number.NaN];

  test.each(paths)("without its %s %s %s %s, or with something else there, one that was live is not", (...path) => {
    for (const value of odd) {
      const over = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Raw;
      const raw = put(rawApplication(), path, value);
      expect([over, judged(raw).verdict]).not.toEqual([over, "live"]);
    }
  });

  test("times out of this world make nothing live and nothing fail", () => {
    for (const time of ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2026-13-45T99:99:99Z", "tomorrow", 1e20, {}, "2026-11-21"]) {
      for (const status of [
        { reconciledAt: time },
        { health: { lastTransitionTime: time }, reconciledAt: time },
        { operationState: { finishedAt: time, phase: "Failed" }, reconciledAt: undefined },
      ]) {
        expect(["pending", "waiting"]).toContain(judged(rawApplication({ status })).verdict);
      }
    }
  });

  test("limits that last for ever are no crash", () => {
    for (const settleMs of [Number.MAX_SAFE_INTEGER, 1e300])
      expect(judged(rawApplication(), CHANGES[0], { settleMs }).verdict).toBe("pending");
    const degraded = rawApplication({ status: { health: { status: "Degraded" } } });
    expect(judged(degraded, CHANGES[0], { graceMs: 1e300 }).verdict).toBe("pending");
  });

  test("thousands of conditions: a bad one among them is seen, wherever it stands", () => {
    const noise = Array.from({ length: 20_000 }, (_, i) => ({ type: `Custom${i}`, message: "m".repeat(50) }));
    const raw = rawApplication({
      status: { conditions: [...noise, { type: "ComparisonError", message: "y", lastTransitionTime: at("10:00:05") }] },
    });
    expect(judged(raw)).toMatchObject({ verdict: "failing", clause: "conditions" });
    expect(judged(rawApplication({ status: { conditions: noise } })).verdict).toBe("live");
  });

  test("a status of 2 MB costs milliseconds, and what is kept of it is small", () => {
    const resources = Array.from({ length: 10_000 }, (_, i) => ({
      kind: "ConfigMap",
      name: `c${i}`,
      namespace: "x".repeat(180),
      status: "Synced",
    }));
    const raw = rawApplication({ status: { resources, conditions: [{ type: "SyncError", message: "z".repeat(2_000_000) }] } });
    expect(JSON.stringify(raw).length).toBeGreaterThan(4_000_000);
    let view: unknown;
    expect(idleMs(() => (view = decodeApplication(raw, NOW)))).toBeLessThan(1000);
    expect(JSON.stringify(view).length).toBeLessThan(10_000);
    expect(judged(raw).clause).toBe("conditions");
  });

  test("many sources, revisions without end, and names of a megabyte are cut or left out", () => {
    const sources = Array.from({ length: 5000 }, () => ({ repoURL: REPO, path: "p", targetRevision: "main" }));
    const raw = put(
      rawApplication({ status: { sync: { revision: undefined, revisions: Array.from({ length: 5000 }, () => COMMIT) } } }),
      ["spec", "sources"],
      sources,
    );
    expect(judged(raw).verdict).toBe("pending");
    expect(judged(rawApplication({ spec: { source: { targetRevision: "r".repeat(1_000_000) } } })).verdict).toBe("pending");
  });

  test("objects nested without end are no stack overflow", () => {
    let deep: unknown = "bottom";
    for (let i = 0; i < 50_000; i++) deep = { a: deep };
    const helm = { source: { helm: deep } };
    const raw = merged(rawApplication(), { spec: { source: {} }, status: { sync: { comparedTo: {} } } });
    (raw["spec"] as Raw)["source"] = { ...((raw["spec"] as Raw)["source"] as Raw), ...helm.source };
    expect(judged(raw).verdict).toBe("pending");
  });
});

test("an ApplicationSet that is going, or reports an error, is named", () => {
  const owner = { name: "payments", state: "deleting" } as const;
  expect(assess(input({ owner }))).toMatchObject({ verdict: "lost", clause: "exists" });
  const failing = { name: "payments", state: "failing", because: { code: "OWNER_SAYS", message: "generator 1: no such file" } } as const;
  const change = { kind: "revision", revision: "v2", mergedAt: MERGED } as const;
  expect(assess(input({ owner: failing, change, application: application() })).sentence).toMatchObject({
    code: "CHANGE_NOT_IN_SPEC",
    owner: { name: "payments", because: failing.because },
  });
});

function put(raw: Raw, path: readonly string[], value: unknown): Raw {
  const [first = "", ...rest] = path;
  if (rest.length > 0) return { ...raw, [first]: put(raw[first] as Raw, rest, value) };
  const { [first]: _, ...left } = raw;
  return value === undefined ? left : { ...left, [first]: value };
}
