import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decodeApplication } from "../../src/core/argocd/decode/application.ts";
import { assess } from "../../src/core/argocd/liveness/liveness.ts";
import type { LivenessInput } from "../../src/core/argocd/liveness/types.ts";

const RECORDED = new URL("../../../shared/data/argocd/recorded/watch-3.5.1.jsonl", import.meta.url);
const here = existsSync(RECORDED);
if (!here) console.log("skipped: lab-paths as a real Argo CD told of it, since ../shared/data/argocd/recorded is not there");

const REPO = "http://127.0.0.1:7777/acme/fleet.git";
/** A minute after each event: whatever has to settle has. */
const LATER_MS = 60_000;

interface Event {
  at: string;
  kind: string;
  type: string;
  object?: { metadata: { name: string } };
}

/** Verdicts on `name` after the push of lab v2, event by event. */
function verdicts(name: string, without?: "revision/rendered") {
  const events = readFileSync(RECORDED, "utf8")
    .trim()
    .split("\n")
    .map((line): Event => JSON.parse(line));
  const pushed = events.findIndex(({ type }) => type.startsWith("pushed lab v2"));
  const { at: mergedAt = "", type = "" } = events[pushed] ?? {};
  const commit = type.split(" ").at(-1) ?? "";
  const own = events.slice(pushed).filter(({ object }) => object?.metadata.name === name);
  return own.map(({ at, object }) => {
    const now = Date.parse(at) + LATER_MS;
    const input: LivenessInput = {
      application: decodeApplication(object, now),
      change: { kind: "commit", commit, repoURL: REPO, mergedAt },
      edited: { files: ["lab/base/deployment.yaml"], repoURL: REPO },
      now,
      settleMs: 10_000,
      graceMs: 60_000,
      // All that came after it are commits of the same branch.
      ancestry: (seen) => (seen.startsWith("7ff0b0ca") ? "missing" : "contains"),
    };
    return assess(input, without === undefined ? {} : { without }).verdict;
  });
}

describe.skipIf(!here)("lab-paths: Synced, Healthy, the new revision, compared after the push, and the old version runs", () => {
  test("is never judged live, in any of its events", () => {
    expect(verdicts("lab-paths").length).toBeGreaterThan(5);
    expect(verdicts("lab-paths")).not.toContain("live");
  });

  test("would be, were the annotation not looked at; lab-ok, which has none, truly becomes live", () => {
    expect(verdicts("lab-paths", "revision/rendered")).toContain("live");
    expect(verdicts("lab-ok")).toContain("live");
  });
});
