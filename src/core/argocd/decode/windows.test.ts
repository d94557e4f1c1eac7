import { describe, expect, test } from "vitest";
import { application } from "../../../adapters/argocd/testing/application.ts";
import { rawProject } from "../../../adapters/argocd/testing/rollout.ts";
import { assessWindows, decodeWindows, windowsOfProject } from "./windows.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const nightly = { kind: "allow", schedule: "0 22 * * *", duration: "1h", applications: ["*"] };

function assessed(...windows: Record<string, unknown>[]) {
  return assessWindows(decodeWindows(windowsOfProject(rawProject(windows), application())), NOON);
}

describe("sync windows", () => {
  test("none are open", () => {
    expect(assessed()).toEqual({ open: true, windows: [] });
  });

  test("an allow that is not on is closed until it begins, in its own time zone", () => {
    expect(assessed(nightly)).toMatchObject({ open: false, opensAt: "2026-11-21T22:00:00.000Z" });
    expect(assessed({ ...nightly, timeZone: "Asia/Tokyo" })).toMatchObject({ open: false, opensAt: "2026-11-21T13:00:00.000Z" });
  });

  test("a deny that is on is closed until it ends, whatever is allowed", () => {
    const freeze = { kind: "deny", schedule: "0 11 * * *", duration: "2h30m", clusters: ["https://eu-*"] };
    const always = { kind: "allow", schedule: "0 0 * * *", duration: "24h", namespaces: ["payments"] };
    expect(assessed(freeze, always)).toMatchObject({ open: false, opensAt: "2026-11-21T13:30:00.000Z" });
  });

  test.each([
    ["another application", { applications: ["ledger-*"] }, 0],
    ["this application", { applications: ["ledger-*", "payments-*"] }, 1],
    ["this namespace", { namespaces: ["pay?ents"] }, 1],
    ["nothing", {}, 0],
    ["the application or a namespace", { applications: ["payments-*"], namespaces: ["other"] }, 1],
    ["the application and a namespace", { applications: ["payments-*"], namespaces: ["other"], andOperator: true }, 0],
  ])("one for %s concerns it or not", (_name, lists, count) => {
    const { applications: _, ...window } = nightly;
    expect(assessed({ ...window, ...lists }).windows).toHaveLength(count);
  });

  test("one that cannot be read is closed, without a time", () => {
    for (const broken of [{ schedule: "sometimes" }, { duration: "long" }, { timeZone: "Nowhere/At all" }]) {
      const seen = assessed({ ...nightly, schedule: "0 11 * * *", duration: "8h", ...broken });
      expect(seen).toMatchObject({ open: false });
      expect(seen.opensAt).toBeUndefined();
    }
  });

  test("without time zones no time is told", () => {
    expect(assessWindows(decodeWindows([nightly]), NOON, { open: false, zonesKnown: false }).opensAt).toBeUndefined();
  });

  test("absurd windows are left out", () => {
    expect(decodeWindows([7, null, { kind: "maybe", schedule: "* * * * *" }, { kind: "allow" }])).toEqual([]);
    expect(windowsOfProject({ spec: { syncWindows: "x" } }, application())).toEqual([]);
  });
});
