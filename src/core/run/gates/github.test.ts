import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import type { PullNeed } from "../../reasons/gates.ts";
import { said } from "../../reasons/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { batch, bench, bring, guard, MINUTE, pull, round, SECOND, say, wants } from "../testing/bench.ts";
import { gatesOf } from "./gate-state.ts";

const silent: PullNeed = { kind: "check", name: "ci/test", state: "silent" };
const reviews: PullNeed = { kind: "reviews", have: 0, want: 1 };

/** One batch whose PR is open and blocked by these. */
function blocked(needs: PullNeed[], change: (rollout: Rollout) => void = () => undefined) {
  const run = bench(1, [{}], change);
  bring(run, 1, "open");
  guard(run, 1);
  pull(run, 1, { mergeable: "blocked", needs });
  return run;
}

function refuse(run: ReturnType<typeof bench>, kind: "Wait" | "Human" | "Retry", message: string) {
  const to = batch(run.run, 1).intention?.at;
  pull(run, 1, { refusal: { kind, message, ...(to === undefined ? {} : { to }) } });
}

function gateOf(run: ReturnType<typeof bench>): string {
  return gatesOf(run.run, run.world, run.last)
    .map(({ state }) => state.kind)
    .join();
}

describe("a required check", () => {
  test("that has not reported is waited for by name, and after 10 minutes it says what to do", () => {
    const run = blocked([silent]);
    expect(wants(round(run))).toEqual([]);
    expect(run.run.why).toMatchObject({ code: "GITHUB_WANTS", needs: [{ name: "ci/test", state: "silent" }], silent: false });
    expect(run.last.wakeAt).toBeDefined();
    round(run, 10 * MINUTE);
    guard(run, 1);
    round(run);
    expect(run.run.why).toHaveCode("GITHUB_WANTS", { silent: true, needs: [{ kind: "check", name: "ci/test", state: "silent" }] });
    expect(run.run.next?.what).toHaveCode("NEXT_CHECK_REPORTS", { check: "ci/test" });
  });

  test.each([
    [{ kind: "check", name: "ci", state: "pending" }, { code: "NEXT_CHECKS_DONE" }],
    [{ kind: "check", name: "ci", state: "failed" }, { code: "NEXT_CHECK_PASSES" }],
  ] as [PullNeed, object][])("%o", (need, next) => {
    const run = blocked([need]);
    expect(wants(round(run))).toEqual([]);
    expect([run.run.why, run.run.next?.what]).toMatchObject([{ code: "GITHUB_WANTS", needs: [need] }, next]);
  });

  test("is never bypassed, though a review that is missing as well might be", () => {
    const run = blocked([silent, reviews]);
    expect(wants(round(run))).toEqual([]);
    pull(run, 1, { needs: [reviews] });
    expect(wants(round(run))).toEqual(["Merge 1"]);
  });
});

describe("a rule that the App may be let bypass", () => {
  test.each([
    reviews,
    { kind: "codeOwners" },
    { kind: "lastPush" },
    { kind: "signatures" },
    { kind: "changesRequested", by: ["bob"] },
    { kind: "method", method: "squash", allowed: ["merge"] },
  ] as PullNeed[])("is put to GitHub once, and then said: %o", (need) => {
    const run = blocked([need]);
    expect(wants(round(run))).toEqual(["Merge 1"]);
    refuse(run, "Wait", "At least 1 approving review is required by reviewers with write access.");
    expect(wants(round(run))).toEqual([]);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Open", why: { code: "GITHUB_WANTS", needs: [need] } });
    expect(batch(run.run, 1).intention).toBeUndefined();
    // Nothing of it changed: GitHub is not asked again, however often it is looked at.
    guard(run, 1);
    expect(wants(round(run, 30 * SECOND))).toEqual([]);
  });

  test("is put to GitHub again at once when something of it changes, and after 10 minutes in any case", () => {
    const run = blocked([{ kind: "reviews", have: 0, want: 2 }]);
    round(run);
    refuse(run, "Wait", "At least 2 approving reviews are required by reviewers with write access.");
    round(run);
    pull(run, 1, { needs: [{ kind: "reviews", have: 1, want: 2 }] });
    expect(wants(round(run))).toEqual(["Merge 1"]);
    refuse(run, "Wait", "At least 2 approving reviews are required by reviewers with write access.");
    round(run);
    round(run, 10 * MINUTE);
    guard(run, 1);
    expect(wants(round(run))).toEqual(["Merge 1"]);
  });

  test("that is not shown to the App is said in GitHub's words, and a silent check is found in them", () => {
    const run = blocked([]);
    expect(wants(round(run))).toEqual(["Merge 1"]);
    refuse(run, "Wait", 'Required status check "ci/test" is expected.');
    round(run);
    expect(run.run.why).toMatchObject({ code: "GITHUB_ANSWERED", pull: 101, message: 'Required status check "ci/test" is expected.' });
    round(run, 9 * MINUTE);
    guard(run, 1);
    round(run, 58 * SECOND);
    expect(run.run.next?.what).toMatchObject({ code: "NEXT_CHECK_REPORTS", check: "ci/test" });
  });

  test("a refusal for want of our own check ends when that is green, not ten minutes later", () => {
    const run = blocked([]);
    round(run);
    refuse(run, "Wait", 'Required status check "stagecoach/gate" is expected.');
    // On its way still: it is looked for again soon, and nothing is asked.
    expect(wants(round(run))).toEqual([]);
    expect(run.last.wakeAt).toBe(run.now + 2 * SECOND);
    pull(run, 1, { greenAt: iso(run.now) });
    expect(wants(round(run))).toEqual(["Merge 1"]);
  });

  test("and so does one that only counts checks, among which ours may be the one that is missing", () => {
    const run = blocked([]);
    round(run);
    refuse(run, "Wait", "2 of 3 required status checks are expected.");
    expect(wants(round(run))).toEqual([]);
    pull(run, 1, { greenAt: iso(run.now) });
    expect(wants(round(run))).toEqual(["Merge 1"]);
  });

  test("that goes on though our check is green, which GitHub has not noticed, is asked for ever later", () => {
    const run = blocked([]);
    round(run);
    const green = run.now;
    pull(run, 1, { greenAt: iso(green) });
    const asked: number[] = [];
    for (let n = 0; n < 120; n++) {
      refuse(run, "Wait", 'Required status check "stagecoach/gate" is expected.');
      guard(run, 1);
      if (wants(round(run)).length > 0) asked.push((run.now - green) / SECOND);
    }
    expect(asked.length).toBeLessThan(8);
    expect(asked[0]).toBeLessThan(6);
  });
});

describe("a refusal that only a person lifts", () => {
  test.each([
    ["Squash merges are not allowed on this repository.", "mergeMethod"],
    ["Repository rule violations found\n\nCommits must have verified signatures.\n\n", "signatures"],
    ["Repository rule violations found\n\nCannot update this protected ref.\n\n", "ruleset"],
    ["Resource not accessible by integration", "permissions"],
    ["refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission", "workflows"],
    ["You're not authorized to push to this branch.", "protection"],
    ["something nobody has seen", "named"],
  ])("%s: pauses the run and says what to change", (message, ask) => {
    const run = blocked([]);
    round(run);
    refuse(run, "Human", message);
    round(run);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Refused", by: "GitHub" } });
    expect(run.run.paused?.ask).toEqual({ code: "ASK_GITHUB_CHANGE", change: ask });
  });

  test("is not taken for the answer to the next try, which /resume begins", () => {
    const run = blocked([]);
    round(run);
    refuse(run, "Human", "Squash merges are not allowed on this repository.");
    round(run);
    say(run, "/resume");
    expect(wants(round(run))).toContain("Merge 1");
    expect(round(run).run.phase).toBe("Progressing");
  });
});

describe("the merge queue", () => {
  function queued() {
    const run = bench(2);
    bring(run, 1, "merging");
    pull(run, 1, { queue: { state: "QUEUED", position: 2 } });
    round(run);
    return run;
  }

  test("keeps the intention for as long as the PR is in it, and says its place", () => {
    const run = queued();
    expect(wants(round(run, 20 * MINUTE))).toEqual([]);
    guard(run, 1);
    round(run);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Merging", why: { code: "PULL_QUEUED", pull: 101, place: 2, state: "QUEUED" } });
  });

  test("a queue that could not be read concludes nothing", () => {
    const run = queued();
    const { queue: _, ...unread } = run.world.pulls.get(1) ?? expect.fail();
    run.world = { ...run.world, pulls: new Map([[1, unread]]) };
    round(run, 10 * MINUTE);
    expect(batch(run.run, 1).intention?.queued).toBeDefined();
  });

  test("a PR that left it unmerged pauses the run, with the reason, and is not put in again by itself", () => {
    const run = queued();
    pull(run, 1, { queue: null, refusal: { kind: "Retry", message: '"ci" failed on its merge group' } });
    expect(wants(round(run))).toEqual([]);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Refused" } });
    expect(run.run.why).toMatchObject({ code: "QUEUE_REFUSED", pull: 101, message: '"ci" failed on its merge group' });
  });

  test("/pause does not wait for it: the PR is fenced, and once it is out nothing is outstanding", () => {
    const run = queued();
    say(run, "/pause");
    expect(wants(round(run))).toEqual(["Answer done"]);
    expect(gatesOf(run.run, run.world, {})).toMatchObject([{ queued: true, state: { kind: "fenced" } }]);
    pull(run, 1, { queue: null });
    round(run);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Open" });
    expect([batch(run.run, 1).intention, run.run.paused?.kind]).toEqual([undefined, "Command"]);
  });
});

describe("the gate on a batch's PR", () => {
  test("waits for what the run waits for, passes when only GitHub or a person is left, and fails while paused", () => {
    const run = blocked([silent]);
    round(run);
    expect(gateOf(run)).toBe("passed");
    guard(run, 1, { ok: false, why: said("the live set is not Git's yet"), retry: true });
    round(run);
    expect(gateOf(run)).toBe("waiting");
    say(run, "/pause");
    round(run);
    expect(gateOf(run)).toBe("fenced");
  });

  test("is waited for where it is a required check, and by nobody else", () => {
    const run = blocked([]);
    pull(run, 1, { gate: "absent" });
    expect(wants(round(run))).toEqual([]);
    expect([gateOf(run), run.run.why]).toEqual(["passed", { code: "GATE_UNSEEN", pull: 101 }]);
    pull(run, 1, { gate: "passed", mergeable: "yes" });
    expect(wants(round(run))).toEqual(["Merge 1"]);
  });

  test("passes with merge: Manual, so that a person can merge; what the guard refuses is closed there, too", () => {
    const run = blocked([], (rollout) => {
      rollout.delivery.merge = "Manual";
    });
    pull(run, 1, { mergeable: "yes" });
    expect(wants(round(run))).toEqual([]);
    expect([gateOf(run), run.run.why]).toEqual(["passed", { code: "PULL_MANUAL", pull: 101 }]);
    guard(run, 1, { ok: false, why: said("an Application would be removed"), retry: false });
    expect(wants(round(run))).toEqual(["Close 1"]);
  });

  test("is never passed on a head that somebody else pushed", () => {
    const run = blocked([]);
    pull(run, 1, { headIsOurs: false });
    round(run);
    expect(gateOf(run)).toBe("fenced");
  });
});
