import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { afterRollback } from "./start-rollback.ts";

const ENTRY: IndexEntry = { lastRun: 2, lastRelease: { version: "v1.4.2" }, attempt: 1, cursor: "before" };

function rolledBack(change: Partial<Run> = {}): Run {
  const [batch] = sampleRun().batches;
  if (batch === undefined) throw new Error("no batch");
  const batches = ["first", "last"].map((commit, index) => ({
    ...batch,
    number: index + 1,
    merged: { ...batch.merged, commit, at: "2026-11-21T12:00:00.000Z" },
  }));
  const release = { values: { version: "v1.4.1" }, attempt: 1 };
  const restore = [{ kind: "value" as const, file: "releases/my-app.yaml", path: "version", from: "v1.4.2", to: "v1.4.1" }];
  return sampleRun({ kind: "Rollback", phase: "RolledBack", release, batches: batches as Run["batches"], restore, ...change });
}

test("what is merged after a rollback's last commit is still looked at: the version taken back may be released again at once", () => {
  expect(afterRollback(ENTRY, rolledBack(), "released-again")).toEqual({ ...ENTRY, lastRelease: { version: "v1.4.1" }, cursor: "last" });
});

test("a rollback that restored no release value, failed, or has been noted already changes nothing", () => {
  expect(afterRollback(ENTRY, rolledBack({ restore: [] }), "base")).toBeUndefined();
  expect(afterRollback(ENTRY, rolledBack({ phase: "Failed" }), "base")).toBeUndefined();
  expect(afterRollback({ ...ENTRY, lastRelease: { version: "v1.4.1" } }, rolledBack(), "base")).toBeUndefined();
});
