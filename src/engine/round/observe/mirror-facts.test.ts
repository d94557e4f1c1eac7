import { expect, test } from "vitest";
import { COMMIT, OLDER, REPO } from "../../../adapters/argocd/testing/application.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { Pins } from "../../resolve/pin-values.ts";
import { openFacts } from "./mirror-facts.ts";

const target = {
  key: "hub/argocd/web",
  edits: [{ kind: "value", file: "a.yaml", path: "tag", from: "v2", to: "v2" }],
} as unknown as BatchTarget;
const batch = { branch: "b", merged: { commit: COMMIT }, targets: [target] } as unknown as Batch;

/** What is known in the end of whether a pin is another at a revision, and how often its values were read for that. */
async function pinDiffers(values: Awaited<ReturnType<Pins["writtenAt"]>>, { seen = OLDER, of = target } = {}) {
  let reads = 0;
  const pins: Partial<Pins> = {
    async writtenAt() {
      reads++;
      return values;
    },
  };
  const commits = { lastTouchAfter: async () => undefined };
  const parts = [{ clock: { now: () => 0 }, repoURL: REPO }, commits, {}, pins] as unknown as Parameters<typeof openFacts>;
  const withFacts = openFacts(...parts);
  return { told: await withFacts((facts) => facts.pinDiffers(batch, of, seen)), reads };
}

test("a pin whose values cannot be read is not known to be the same", async () => {
  expect(await pinDiffers(new Map())).toEqual({ told: "unknown", reads: 1 });
  expect(await pinDiffers(new Map([[target.key, ["v2"]]]), { seen: "main" })).toEqual({ told: "unknown", reads: 0 });
  const byBranch = { ...target, edits: [{ kind: "branch" }] } as unknown as BatchTarget;
  expect((await pinDiffers(new Map([[target.key, [null]]]), { of: byBranch })).told).toBe("unknown");
});

test("one that can be read is the same, or another", async () => {
  expect((await pinDiffers(new Map([[target.key, ["v2"]]]))).told).toBeUndefined();
  expect((await pinDiffers(new Map([[target.key, ["v1"]]]))).told).toEqual({ commit: OLDER });
});
