import { expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { AT, batch, bench, bring, guard, MINUTE, round, SECOND, wants } from "../testing/bench.ts";

/** AT is a Monday, nine o'clock UTC. */
const OFFICE = { schedule: "0 14 * * 1-5", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };

test("a freeze that never opens is named, also while the rollout's own window is closed, and what changes next is looked at", () => {
  const self = bench(1, [{}], (rollout) => {
    rollout.windows = [OFFICE];
  });
  self.world = {
    ...self.world,
    freezes: [{ ...OFFICE, schedule: "0 0 * * *", durationMs: 24 * 60 * MINUTE, kind: "deny", where: ".github/stagecoach.yaml" }],
  };
  bring(self, 1, "merging");
  const never = {
    why: expect.toHaveCode("WINDOWS_NEVER_OPEN", { where: [".github/stagecoach.yaml"] }),
    next: { what: { code: "NEXT_WINDOWS_CHANGED" } },
  };
  expect(batch(self.run, 1)).toMatchObject(never);
  expect(self.last.wakeAt).toBe(iso(AT + 5 * 60 * MINUTE));
  self.now = AT + 5 * 60 * MINUTE;
  round(self);
  expect(batch(self.run, 1)).toMatchObject(never);
});

test("where windows change too often to be looked through, the next change is waited for, and nothing is said to be never", () => {
  const half = { schedule: "0 * * * *", durationMs: 30 * MINUTE, timeZone: "UTC", kind: "allow" as const };
  const self = bench(1, [{}], (rollout) => {
    rollout.windows = [half];
  });
  self.world = { ...self.world, freezes: [{ ...half, schedule: "0 * * 1-11 *", kind: "deny", where: ".github/stagecoach.yaml" }] };
  bring(self, 1, "merging");
  expect(batch(self.run, 1)).toMatchObject({
    why: expect.toHaveCode("WINDOW_SHUT", { where: ".github/stagecoach.yaml", window: expect.objectContaining({ kind: "deny" }) }),
    next: { what: { code: "NEXT_WINDOW" }, eta: iso(AT + 30 * MINUTE) },
  });
  expect(self.last.wakeAt).toBe(iso(AT + 30 * MINUTE));
});

test.each([
  [
    "a freeze",
    { freezes: [{ ...OFFICE, schedule: "0 0 * * *", durationMs: 24 * 60 * MINUTE, kind: "deny" as const, where: "the server" }] },
  ],
  ["settings that cannot be read", { settingsBroken: said("limits is no mapping") }],
])("%s that comes between an intention and its next try is not passed by that", (_what, shut) => {
  const self = bench(1);
  bring(self, 1, "merging");
  expect(wants(round(self))).toContain("Merge 1");
  self.world = { ...self.world, ...shut };
  self.now += SECOND;
  guard(self, 1);
  expect(wants(round(self))).not.toContain("Merge 1");
  expect(batch(self.run, 1)).toMatchObject({ phase: "Merging", why: { code: "MERGE_NOT_TRIED" } });
  self.now += 30 * SECOND;
  guard(self, 1);
  expect(wants(round(self))).not.toContain("Merge 1");
  expect(batch(self.run, 1)).toMatchObject({ phase: "Open", why: { code: "PULL_WAITS" } });
});
