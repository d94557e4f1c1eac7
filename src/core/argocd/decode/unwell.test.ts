import { describe, expect, test } from "vitest";
import { fields } from "./lenient.ts";
import { decodeDegraded, decodeFailed } from "./unwell.ts";

const failed = (name: string, over: object = {}) => ({
  ...{ kind: "Deployment", namespace: "web", name, status: "SyncFailed", message: "admission webhook denied it\nmore" },
  ...over,
});

function unwell(resources: unknown, phase = "Failed"): string[] | undefined {
  return decodeFailed(fields({ phase, syncResult: { resources } }));
}

describe("what is wrong with single resources", () => {
  test("is what could not be applied, and each hook that failed, with what is said of it in one line", () => {
    const hook = { kind: "Job", namespace: "web", name: "migrate", status: "Synced", hookPhase: "Error", message: "exit code 1" };
    const well = failed("well", { status: "Synced", hookPhase: "Running", message: "configured" });
    expect(unwell([well, failed("api"), hook])).toEqual([
      "Deployment web/api: SyncFailed: admission webhook denied it",
      "Job web/migrate: Error: exit code 1",
    ]);
  });

  test("is the health of those that are Degraded, where the status has it", () => {
    const health = [
      { kind: "Deployment", namespace: "web", name: "api", health: { status: "Degraded", message: "0 of 3 pods are ready" } },
      { kind: "Service", name: "api", health: { status: "Healthy" } },
    ];
    expect(decodeDegraded(fields({ resources: health }))).toEqual(["Deployment web/api: Degraded: 0 of 3 pods are ready"]);
  });

  test("of a sync that ended well nothing is told, nor where nothing is wrong", () => {
    expect(unwell([failed("api")], "Succeeded")).toBeUndefined();
    expect(unwell([])).toBeUndefined();
  });

  test("neither many nor long nor misshapen ones grow what is kept", () => {
    const many = Array.from({ length: 5000 }, (_, index) => failed(`a${index}`, { message: "x".repeat(100_000) }));
    const ill = many.map((one) => ({ ...one, health: { status: "Degraded", message: one.message } }));
    for (const found of [unwell(many), decodeDegraded(fields({ resources: ill }))]) {
      expect(found).toHaveLength(3);
      expect(Math.max(...(found ?? []).map((line) => line.length))).toBeLessThanOrEqual(300);
    }
    expect(unwell([null, "x", 7, [failed("b")], { status: "SyncFailed" }])).toEqual(["resource : SyncFailed"]);
    for (const one of [null, "x", { length: 9 }]) expect(unwell(one)).toBeUndefined();
  });
});
