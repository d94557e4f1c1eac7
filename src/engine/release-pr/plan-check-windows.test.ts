import { expect, test } from "vitest";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import type { Window } from "../../core/spec/windows.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { windowWarning } from "./plan-check-windows.ts";

const OFFICE: Window = { schedule: "0 9 * * 1-5", durationMs: 8 * 3_600_000, timeZone: "UTC", kind: "allow" };

function warned(at: string, windows: Window[], settings: string | null = null, freezes: Window[] = []) {
  const clock = { now: () => Date.parse(at), after: () => () => undefined };
  const snapshot = { read: async () => settings } as unknown as Snapshot;
  return windowWarning({ clock, freezes }, sampleRollout({ windows }), snapshot);
}

test("a release in its window, or without one, is not warned about", async () => {
  expect(await warned("2026-11-23T10:00:00Z", [OFFICE])).toEqual([]);
  expect(await warned("2026-11-22T10:00:00Z", [])).toEqual([]);
});

test("outside of it the warning says until when", async () => {
  expect(await warned("2026-11-22T10:00:00Z", [OFFICE])).toEqual([
    {
      code: "WINDOW_CLOSED",
      rule: { kind: "allow", schedule: "0 9 * * 1-5", timeZone: "UTC" },
      until: "2026-11-23T09:00:00.000Z",
    },
  ]);
});

test("windows and freezes that are never open together are warned about, also while the window is open", async () => {
  const settings = "freezes:\n  - { schedule: '0 0 * * 1-5', duration: 24h, kind: deny }\n";
  expect(await warned("2026-11-22T10:00:00Z", [OFFICE], settings)).toEqual([
    {
      code: "WINDOW_NEVER_OPENS",
      ...{ kind: "Apart", whose: ["the rollout", ".github/stagecoach.yaml"] },
    },
  ]);
});

test("what is said is when all of them are open", async () => {
  const settings = "freezes:\n  - { schedule: '0 0 * * 1', duration: 24h, kind: deny }\n";
  expect((await warned("2026-11-22T10:00:00Z", [OFFICE], settings))[0]).toMatchObject({ until: "2026-11-24T09:00:00.000Z" });
});

test("freezes of the repo and of the server count, too", async () => {
  const settings = "freezes:\n  - { schedule: '0 0 20 12 *', duration: 240h, timeZone: UTC, kind: deny }\n";
  expect((await warned("2026-12-21T10:00:00Z", [], settings))[0]).toMatchObject({
    rule: { schedule: "0 0 20 12 *", kind: "deny" },
    until: "2026-12-30T00:00:00.000Z",
  });
  const freeze: Window = { ...OFFICE, kind: "deny" };
  expect(await warned("2026-11-23T10:00:00Z", [], null, [freeze])).toHaveLength(1);
});

test("a freeze that never opens is named, not the window that is closed only now", async () => {
  const settings = "freezes:\n  - { schedule: '0 0 * * *', duration: 24h, kind: deny }\n";
  expect(await warned("2026-11-22T10:00:00Z", [OFFICE], settings)).toEqual([
    {
      code: "WINDOW_NEVER_OPENS",
      ...{ kind: "Shut", whose: [".github/stagecoach.yaml"] },
    },
  ]);
});

test("windows that change too often to be looked through are held until the next change", async () => {
  const half: Window = { schedule: "0 * * * *", durationMs: 1_800_000, timeZone: "UTC", kind: "allow" };
  const freeze: Window = { ...half, schedule: "0 * * 1-11 *", kind: "deny" };
  expect(await warned("2026-01-05T09:10:00Z", [half], null, [freeze])).toEqual([
    {
      code: "WINDOW_CLOSED",
      rule: { kind: "deny", schedule: "0 * * 1-11 *", timeZone: "UTC" },
      until: "2026-01-05T09:30:00.000Z",
    },
  ]);
});
