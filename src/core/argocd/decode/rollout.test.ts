import { describe, expect, test } from "vitest";
import { merged } from "../../../adapters/argocd/testing/application.ts";
import { ROLLOUT_VIEW, rawRollout } from "../../../adapters/argocd/testing/rollout.ts";
import { decodeRollout } from "./rollout.ts";

const around = { images: new Map([["old", ["registry.example.com/api:v1"]]]) };
const rollout = (status: Record<string, unknown>, over: Record<string, unknown> = {}) =>
  decodeRollout(merged(rawRollout("a"), { status, ...over }), around);

describe("a Rollout", () => {
  test("that is paused at a step shows what kubectl's plugin does", () => {
    expect(rollout({})).toEqual(ROLLOUT_VIEW);
  });

  test.each([
    ["at the end is at full weight", { currentStepIndex: 4 }, { step: 4, setWeight: 100, actualWeight: 100 }],
    ["that was aborted is set to no weight", { abort: true, updatedReplicas: 0 }, { setWeight: 0, actualWeight: 0 }],
    ["at a later pause keeps the weight before it", { currentStepIndex: 3 }, { setWeight: 60 }],
    ["with a mesh shows the mesh's weight", { canary: { weights: { canary: { weight: 17 } } } }, { actualWeight: 17 }],
    ["without pods that are ready has no weight", { availableReplicas: 0 }, { actualWeight: 0 }],
    ["whose pause somebody has ended is progressing", { pauseConditions: undefined }, { phase: "Progressing", paused: false }],
    ["that is promoted has one set of images", { currentPodHash: "old" }, { canaryImages: [], setWeight: 100 }],
    ["never seen by its controller is unknown", { phase: undefined }, { phase: "Unknown" }],
  ])("%s", (_name, status, seen) => {
    expect(rollout(status)).toMatchObject(seen);
  });

  test("whose controller has not seen its newest spec is progressing, whatever its status says", () => {
    const seen = rollout({ observedGeneration: "3" }, { metadata: { generation: 4 } });
    expect(seen).toMatchObject({ phase: "Progressing", message: "waiting for rollout spec update to be observed" });
  });

  test("counts the canary's pods where they are known", () => {
    const available = new Map([["new", 0]]);
    expect(decodeRollout(rawRollout("a"), { ...around, available })).toMatchObject({ actualWeight: 0, setWeight: 20 });
  });

  test.each([undefined, null, 7, "x", [], {}, { metadata: [] }])("of nonsense is none: %j", (raw) => {
    expect(decodeRollout(raw)).toBeUndefined();
  });

  test("of nonsense with a name throws nothing", () => {
    const raw = {
      metadata: { name: "x" },
      spec: { strategy: { canary: { steps: [7, null] } }, template: 1 },
      status: { currentStepIndex: "1" },
    };
    expect(decodeRollout(raw)).toMatchObject({ name: "x", phase: "Unknown", steps: 2, replicas: { desired: 1, updated: 0 } });
  });
});
