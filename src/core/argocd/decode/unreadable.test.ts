import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, COMMIT, input, merged, OLDER, REPO, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import { BASES, harmless, LEAVES, laidOut, odd, type Path, put, type Raw } from "../../../adapters/argocd/testing/mutations.ts";
import { assess } from "../liveness/liveness.ts";
import type { LivenessInput } from "../liveness/types.ts";
import { decodeApplication } from "./application.ts";

const verdict = (raw: unknown, over: Partial<LivenessInput> = {}) => {
  const view = decodeApplication(raw, Date.parse(at("10:01:00")));
  return assess(input({ application: view, ...over }));
};

describe("an Application that is live, of which something is then not what Argo CD writes", () => {
  test.each(Object.entries(BASES))("is live to begin with, and everything in it can be read: %s", (_, base) => {
    expect(verdict(base()).verdict).toBe("live");
    expect(decodeApplication(base(), 0)).not.toHaveProperty("unreadable");
  });

  test.each(Object.entries(BASES))("one leaf at a time, each with everything odd: %s", (name, base) => {
    const passed = (LEAVES[name] ?? []).flatMap((path) =>
      laidOut(base(), path)
        .filter((value) => verdict(put(base(), path, value)).verdict === "live")
        .map((value) => ({ path, value })),
    );
    // Else the list of what does no harm would prove nothing.
    expect(passed.length).toBeGreaterThan(20);
    expect(unexplained(passed, base())).toEqual([]);
  });

  test("several leaves at random, thousands of times", () => {
    const cases = Object.entries(BASES).map(([name, base]) => {
      const leaf = fc.record({ path: fc.constantFrom(...(LEAVES[name] ?? [])), value: odd });
      return fc.record({
        base: fc.constant(base),
        leaves: fc.uniqueArray(leaf, { minLength: 1, maxLength: 4, selector: ({ path }) => path.join() }),
      });
    });
    let live = 0;
    fc.assert(
      fc.property(fc.oneof(...cases), ({ base, leaves }) => {
        const outer = leaves.filter(({ path }) => !leaves.some((other) => isWithin(path, other.path)));
        const raw = outer.reduce((one, { path, value }) => put(one, path, value), base());
        // Two that are changed in the same way are the same: what was meant tells them from what was there.
        const intended = decodeApplication(base(), 0)?.spec;
        if (verdict(raw, intended === undefined ? {} : { intended }).verdict !== "live") return;
        live += 1;
        expect(unexplained(outer, base())).toEqual([]);
      }),
      { numRuns: 6000, seed: 20261121 },
    );
    expect(live).toBeGreaterThan(100);
  });
});

function unexplained(leaves: readonly { path: Path; value: unknown }[], base: Raw): string[] {
  const bare = leaves.filter(({ path, value }) => harmless(path, value, base) === undefined);
  return bare.map(({ path, value }) => `${path.join(".")}: ${JSON.stringify(value)?.slice(0, 60)}`);
}

function isWithin(path: readonly string[], other: readonly string[]): boolean {
  return other.length < path.length && other.every((key, i) => path[i] === key);
}

describe("what was live although it could not be read", () => {
  const source = { repoURL: REPO, path: "apps/payments", targetRevision: "main" };
  const status = (over: Raw) => rawApplication({ status: over });
  const both = (key: string, ours: unknown, compared: unknown) =>
    rawApplication({ spec: { source: { [key]: ours } }, status: { sync: { comparedTo: { source: { [key]: compared } } } } });

  test.each<[string, Raw, string]>([
    ["an operation state that is a text", status({ operationState: "Running" }), "status.operationState"],
    ["one in a list", status({ operationState: ["Running"] }), "status.operationState"],
    ["a phase in a list", status({ operationState: { phase: ["Running"] } }), "status.operationState.phase"],
    ["no phase", status({ operationState: { phase: undefined } }), "status.operationState.phase"],
    ["conditions that are a map", status({ conditions: { ComparisonError: "x" } }), "status.conditions"],
    ["conditions that are texts", status({ conditions: ["ComparisonError: x"] }), "status.conditions[0]"],
    ["a condition without a type", status({ conditions: [{ type: "Odd" }, { message: "x" }] }), "status.conditions[1].type"],
    ["an operation that is a text", rawApplication({ operation: "sync" }), "operation"],
    ["both kinds of revision", status({ sync: { revision: OLDER, revisions: [COMMIT] } }), "status.sync.revision beside revisions"],
    ["a malformed end", status({ operationState: { finishedAt: "2026-11-21 10:00:50" } }), "status.operationState.finishedAt"],
    ["a malformed transition", status({ health: { lastTransitionTime: "10:00:59" } }), "status.health.lastTransitionTime"],
    ["revisions that are numbers", both("targetRevision", 1.2, 1.3), "spec.source.targetRevision"],
    ["paths that are too long and differ", both("path", "a".repeat(5000), "b".repeat(5000)), "spec.source.path"],
    ["a path that is too long, where none was compared", both("path", "a".repeat(5000), undefined), "spec.source.path"],
  ])("%s", (_, raw, named) => {
    expect(verdict(raw)).toMatchObject({
      verdict: "pending",
      clause: "readable",
      sentence: expect.toHaveCode("FIELDS_UNREADABLE", { fields: expect.arrayContaining([named]) }),
    });
  });

  test("namespaces that are lists", () => {
    const raw = rawApplication({
      spec: { destination: { namespace: ["a"] } },
      status: { sync: { comparedTo: { destination: { namespace: ["b"] } } } },
    });
    expect(verdict(raw).sentence).toMatchObject({
      code: "APPLICATION_UNREADABLE",
      because: { fields: ["spec.destination.namespace", "status.sync.comparedTo.destination.namespace"] },
    });
  });

  test("an operation that ended in an error at a time that cannot be read", () => {
    const operationState = { phase: "Error", startedAt: at("09:00:00"), finishedAt: "just now" };
    expect(verdict(status({ operationState }))).toMatchObject({ verdict: "pending", clause: "readable" });
  });

  test("a source beyond what is looked at, which is still at the commit before", () => {
    const sources = Array.from({ length: 150 }, () => source);
    const raw = merged(rawApplication(), {
      spec: { source: undefined, sources },
      status: {
        operationState: undefined,
        sync: {
          revision: undefined,
          revisions: sources.map((_, i) => (i === 120 ? OLDER : COMMIT)),
          comparedTo: { source: undefined, sources },
        },
      },
    });
    expect(verdict(raw, { ancestry: () => "missing" })).toMatchObject({ verdict: "pending", clause: "readable" });
    expect(decodeApplication(raw, 0)?.unreadable).toMatchObject({
      fields: ["spec.sources", "status.sync.revisions", "status.sync.comparedTo.sources"],
    });
  });

  test("what is intended and too long is not the same as nothing", () => {
    const { spec, ...rest } = rawApplication();
    const long = { ...source, path: "a".repeat(5000) };
    const without = merged(
      { spec, ...rest },
      { spec: { source: { path: undefined } }, status: { sync: { comparedTo: { source: { path: undefined } } } } },
    );
    const destination = { server: "https://eu-1.example.com", namespace: "payments" };
    const intended = decodeApplication({ ...rest, spec: { source: long, destination } }, 0)?.spec;
    expect(verdict(without).verdict).toBe("live");
    expect(verdict(without, intended === undefined ? {} : { intended })).toMatchObject({ verdict: "pending", clause: "spec" });
  });
});

test("of many that cannot be read a few are named", () => {
  const conditions = Array.from({ length: 10_000 }, () => 7);
  expect(decodeApplication(rawApplication({ spec: 7, operation: 7, status: { conditions } }), 0)?.unreadable?.["fields"]).toHaveLength(5);
});
