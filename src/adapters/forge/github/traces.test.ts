import { expect, test } from "vitest";
import type { Pull } from "../port.ts";
import { tracesOf } from "./index.ts";

function forgeWith(...pulls: Partial<Pull>[]) {
  const open = pulls.map((pull, at) => ({ number: at + 1, headRepository: "acme/config", author: "stagecoach[bot]", ...pull }) as Pull);
  return { repository: "acme/config", identity: async () => ({ login: "stagecoach[bot]", id: 1 }), openPulls: async () => open };
}

test("an open PR of a run of ours shows that there has been a journal", async () => {
  const forge = forgeWith({ branch: "release" }, { branch: "stagecoach-run/payments/3/1-2-1" });
  expect(await tracesOf(forge)).toEqual({ pull: 2, rollout: "payments", run: 3 });
});

test.each<[string, Partial<Pull>]>([
  ["somebody else opened", { author: "eve" }],
  ["a fork brought", { headRepository: "eve/config" }],
  ["has a branch that is not one of a batch", { branch: "stagecoach-run/payments" }],
])("a PR that %s shows nothing", async (_name, change) => {
  expect(await tracesOf(forgeWith({ branch: "stagecoach-run/payments/3/1-2-1", ...change }))).toBeUndefined();
});
