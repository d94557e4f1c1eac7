import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { batch, bench, bring, guard, judge, MINUTE, phases, pull, round, SECOND, wants } from "../../src/core/run/testing/bench.ts";
import { TRAPS } from "./all.ts";

/** Traps that are not of one Application: they are about which comes when. */
const RUN_TRAPS = ["argo-cd#16881", "argo-cd#23685", "argo-cd#19771", "argo-cd#22976"];

describe("traps of a whole run", () => {
  test("argo-cd#16881, argo-cd#23685: no more than maxUnavailable are under way, whatever shows how late", () => {
    const run = bench(6, [{ maxUnavailable: 2 }]);
    bring(run, 1, "merged");
    judge(run, "c1", "live", "all");
    judge(run, "c2", "pending", "revision");
    for (let i = 0; i < 5; i++) {
      round(run, MINUTE);
      expect(wants(run.last)).not.toContain("Propose 2");
    }
    expect(run.run.batches).toHaveLength(1);
    judge(run, "c2", "live", "all");
    round(run);
    expect(run.run.batches).toHaveLength(2);
    expect(batch(run.run, 2).targets).toHaveLength(2);
  });

  test("argo-cd#19771: one that can never be Synced fails at its deadline and does not block for ever", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "pending", "synced", "It is OutOfSync.");
    round(run);
    judge(run, "c1", "pending", "synced", "It is OutOfSync.");
    round(run, 15 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Failed"]);
    expect(run.run).toMatchObject({
      phase: "Paused",
      paused: { kind: "Failure", reason: expect.toHaveCode("SAID", { text: "It is OutOfSync." }) },
    });
  });

  test("argo-cd#22976: a batch that is waited for always says what for and until when at the latest", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "pending", "synced", "It is OutOfSync.");
    round(run);
    expect(run.run.why).toHaveCode("SAID", { text: "It is OutOfSync." });
    expect(run.run.next?.eta ?? run.run.next?.deadline).toBeDefined();
    expect(run.last.wakeAt).toBeDefined();
  });

  test("argo-cd#22558: the batch after is neither proposed nor merged while one before is only green by an old status", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "pending", "reconciled", "Stale.");
    pull(run, 2);
    guard(run, 2);
    for (let i = 0; i < 5; i++) {
      round(run, SECOND);
      expect(wants(run.last).filter((effect) => effect !== "Refresh")).toEqual([]);
    }
    expect(run.run.batches).toHaveLength(1);
  });
});

/** Of those that the facts name: why they have no scenario of reads here. */
const ELSEWHERE: Record<string, string> = {
  183: "a request to wake on events instead of a timer: rounds are woken by watches",
  13331: "entries of Applications that are gone: the run's own plan says who belongs to it",
  14463: "a wish for the page",
  22693: "a wish for the page",
  27879: "a wish for the page",
  23187: "the fix of argo-cd#22639",
  24757: "a proposal about argo-cd#12325",
  26939: "a fix of argo-cd#26899",
  27467: "the fix of argo-cd#22558",
  27577: "a loop of the ApplicationSet controller, which is not used",
  29044: "the fix of argo-cd#27577",
  29042: "deletion of an ApplicationSet, which is never done",
  29145: "a fix of argo-cd#29142",
  29439: "a fix of argo-cd#29240",
};

const FACTS = new URL("../../../shared/design/facts/argocd.md", import.meta.url);
const present = existsSync(FACTS);
if (!present) console.error("skipped: whether every known trap has its scenario (the collected facts are not beside this checkout)");

/** Named where peers' stale health is counted up. */
const PEERS = ["29410", "22558", "2196", "1411", "41", "1319", "1428", "147"];

test.skipIf(!present)("every trap that the collected facts name has a scenario, or a reason to have none", () => {
  const text = readFileSync(FACTS, "utf8");
  const part = (from: string, to: string) => text.slice(text.indexOf(from), text.indexOf(to));
  const named = [...`${part("### A9", "### A10")}${part("## B. ", "## C. ")}`.matchAll(/#(\d{2,})/g)].map(([, number = ""]) => number);
  const numbers = new Set([...named, ...PEERS]);
  expect(numbers.size).toBeGreaterThan(60);
  const covered = new Set(
    TRAPS.flatMap((trap) => trap.issues)
      .concat(RUN_TRAPS)
      .map((issue) => issue.split("#")[1]),
  );
  expect([...numbers].filter((number) => !covered.has(number) && ELSEWHERE[number] === undefined)).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((number) => covered.has(number))).toEqual([]);
});
