import fc from "fast-check";
import { expect, test } from "vitest";
import { COMMIT, input, LATER, MERGED, OLDER, rawApplication } from "../../adapters/argocd/testing/application.ts";
import { decodeApplication } from "./decode/application.ts";
import { assess } from "./liveness/liveness.ts";
import type { LivenessInput } from "./liveness/types.ts";

const T = Date.parse(MERGED);
const time = (from: number, to: number) => fc.integer({ min: from, max: to }).map((s) => new Date(T + s * 1000).toISOString());
const revision = fc.constantFrom(COMMIT, LATER, OLDER, "main", "");
const conditionType = fc.constantFrom("ComparisonError", "SyncError", "UnknownError", "OrphanedResourceWarning", "InvalidSpecError");

function statusArbitrary(from: number, to: number): fc.Arbitrary<Record<string, unknown>> {
  return fc.record({
    sync: fc.record({ status: fc.constantFrom("Synced", "OutOfSync", "Unknown"), revision }),
    health: fc.record({
      status: fc.constantFrom("Healthy", "Degraded", "Progressing", "Suspended", "Missing", "Unknown"),
      lastTransitionTime: time(from, to),
    }),
    operationState: fc.option(
      fc.record({
        phase: fc.constantFrom("Succeeded", "Failed", "Error", "Running"),
        finishedAt: fc.option(time(from, to), { nil: undefined }),
        syncResult: fc.record({ revision }),
      }),
      { nil: undefined },
    ),
    conditions: fc.array(fc.record({ type: conditionType, message: fc.constant("x"), lastTransitionTime: time(from, to) }), {
      maxLength: 2,
    }),
    reconciledAt: time(from, to),
  });
}

const later = fc.integer({ min: 0, max: 100_000 }).map((s) => T + s * 1000);
const ancestry: NonNullable<LivenessInput["ancestry"]> = (seen) => (seen === LATER ? "contains" : seen === OLDER ? "missing" : "unknown");
const change = fc.constantFrom<LivenessInput["change"][]>(
  { kind: "commit", commit: COMMIT, repoURL: "https://github.com/acme/config", mergedAt: MERGED },
  { kind: "revision", revision: "main", mergedAt: MERGED },
  { kind: "generator", mergedAt: MERGED },
);
const live = (raw: Record<string, unknown>, now: number) => decodeApplication(rawApplication({ status: raw }), now);
const spec = { sources: [{ repoURL: "https://github.com/acme/config", path: "apps/payments", targetRevision: "main" }] };
const intended = { ...spec, destination: { server: "https://eu-1.example.com", namespace: "payments" } };

test("evidence older than the change makes neither live nor failing", () => {
  fc.assert(
    fc.property(statusArbitrary(-3600, -1), later, change, (status, now, given) => {
      const { verdict } = assess(input({ application: live(status, now), now, change: given, ancestry, intended }));
      expect(["live", "failing"]).not.toContain(verdict);
    }),
    { numRuns: 2000 },
  );
});

const STALENESS: ((status: Record<string, unknown>) => Record<string, unknown>)[] = [
  (status) => ({ ...status, reconciledAt: new Date(T - 1000).toISOString() }),
  (status) => ({ ...status, reconciledAt: undefined }),
  (status) => ({ ...status, sync: { ...(status["sync"] as object), comparedTo: { source: { path: "apps/old" } } } }),
  (status) => ({ ...status, sync: { ...(status["sync"] as object), comparedTo: undefined } }),
  (status) => ({ ...status, operationState: { phase: "Succeeded", finishedAt: status["reconciledAt"] } }),
];

test("no staleness turns a verdict to live", () => {
  fc.assert(
    fc.property(statusArbitrary(0, 600), later, change, fc.constantFrom(...STALENESS), (status, now, given, older) => {
      const { verdict } = assess(input({ application: live(older(status), now), now, change: given, ancestry, intended }));
      expect(verdict).not.toBe("live");
    }),
    { numRuns: 2000 },
  );
});

test("live is within reach of the same generator, so that the properties above say something", () => {
  const verdicts = new Set<string>();
  for (const [status, now] of fc.sample(fc.tuple(statusArbitrary(0, 60), later), { numRuns: 20_000, seed: 7 })) {
    verdicts.add(assess(input({ application: live(status, now), now, ancestry })).verdict);
  }
  expect([...verdicts].sort()).toEqual(["failing", "live", "pending", "waiting"]);
});

test("whatever an API server may send, there is a verdict and no crash", () => {
  const anything = fc.object({
    key: fc.constantFrom(
      "metadata",
      "spec",
      "status",
      "sync",
      "sources",
      "source",
      "conditions",
      "health",
      "name",
      "__proto__",
      "revisions",
    ),
    maxDepth: 5,
  });
  fc.assert(
    fc.property(anything, (raw) => {
      const application = decodeApplication({ ...raw, metadata: { name: "x" } }, T);
      expect(assess(input({ application, now: T + 600_000 })).verdict).not.toBe("live");
    }),
    { numRuns: 1000 },
  );
});

test("none is live while an Application that it makes is not", () => {
  const verdict = fc.constantFrom("live", "pending", "waiting", "failing", "lost");
  const because = { code: "SAID", text: "x" } as const;
  const children = fc.array(fc.record({ name: fc.constantFrom("a/b", "a/c"), verdict, because: fc.constant(because) }), { maxLength: 4 });
  const passed = new Set<number>();
  fc.assert(
    fc.property(statusArbitrary(0, 60), later, children, (status, now, made) => {
      const given = input({ application: live(status, now), now, ancestry });
      const isLive = assess(given).verdict === "live";
      const all = made.every((one) => one.verdict === "live");
      expect(assess({ ...given, children: made }).verdict === "live").toBe(isLive && all);
      if (isLive && all) passed.add(made.length);
    }),
    { numRuns: 20_000, seed: 7 },
  );
  expect(passed.has(1)).toBe(true);
});
