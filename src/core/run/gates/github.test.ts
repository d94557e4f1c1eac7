import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { gatesOf } from "../state/gate-state.ts";
import type { PullNeed } from "../state/world.ts";
import { batch, bench, bring, guard, MINUTE, pull, round, SECOND, say, wants } from "../testing/bench.ts";
import { told } from "../testing/told.ts";

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
    expect(told(run.run).why).toBe('#101 waits for GitHub: the required check "ci/test" has not reported yet');
    expect(run.last.wakeAt).toBeDefined();
    round(run, 10 * MINUTE);
    guard(run, 1);
    round(run);
    expect(run.run.why).toHaveCode("GITHUB_WANTS", { silent: true, needs: [{ kind: "check", name: "ci/test", state: "silent" }] });
    expect(run.run.next?.what).toHaveCode("NEXT_CHECK_REPORTS", { check: "ci/test" });
  });

  test.each([
    [{ kind: "check", name: "ci", state: "pending" }, 'the required check "ci" is not done yet', "its required checks are done"],
    [{ kind: "check", name: "ci", state: "failed" }, 'the required check "ci" failed', "it is run again and passes"],
  ] as [PullNeed, string, string][])("%o", (need, why, next) => {
    const run = blocked([need]);
    expect(wants(round(run))).toEqual([]);
    expect([told(run.run).why, told(run.run).next?.what]).toEqual([expect.stringContaining(why), expect.stringContaining(next)]);
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
    [reviews, "it has 0 of 1 approving review that count"],
    [{ kind: "codeOwners" }, "a code owner of the files it changes has not approved"],
    [{ kind: "lastPush" }, "somebody other than who pushed last has to approve"],
    [{ kind: "signatures" }, "the base branch takes signed commits only"],
    [{ kind: "changesRequested", by: ["bob"] }, "@bob asked for changes"],
    [{ kind: "method", method: "squash", allowed: ["merge"] }, "does not take merges by squash, only by merge"],
  ] as [PullNeed, string][])("is put to GitHub once, and then said: %o", (need, why) => {
    const run = blocked([need]);
    expect(wants(round(run))).toEqual(["Merge 1"]);
    refuse(run, "Wait", "At least 1 approving review is required by reviewers with write access.");
    expect(wants(round(run))).toEqual([]);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Open", why: expect.toSay(why) });
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
    expect(told(run.run).why).toBe('#101 waits for GitHub, which answered: Required status check "ci/test" is expected.');
    round(run, 9 * MINUTE);
    guard(run, 1);
    round(run, 58 * SECOND);
    expect(told(run.run).next?.what).toContain('a person makes "ci/test" report');
  });

  test("a refusal for want of our own check ends when that is green, not ten minutes later", () => {
    const run = blocked([]);
    round(run);
    refuse(run, "Wait", 'Required status check "stagecoach/gate" is expected.');
    // On its way still: it is looked for again soon, and nothing is asked.
    expect(wants(round(run))).toEqual([]);
    expect(run.last.wakeAt).toBe(iso(run.now + 2 * SECOND));
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
    ["Squash merges are not allowed on this repository.", "set `delivery.method`"],
    ["Repository rule violations found\n\nCommits must have verified signatures.\n\n", "signed"],
    ["Repository rule violations found\n\nCannot update this protected ref.\n\n", "bypass actor"],
    ["Resource not accessible by integration", "`contents: write`"],
    [
      "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission",
      "`workflows: write`",
    ],
    ["You're not authorized to push to this branch.", "let the App push"],
    ["something nobody has seen", "change what it names"],
  ])("%s: pauses the run and says what to change", (message, ask) => {
    const run = blocked([]);
    round(run);
    refuse(run, "Human", message);
    round(run);
    expect(told(run.run)).toMatchObject({ phase: "Paused", paused: { kind: "Refused", by: "GitHub" } });
    expect(told(run.run).paused?.ask).toContain(ask);
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
    expect(batch(run.run, 1)).toMatchObject({ phase: "Merging", why: "#101 is in GitHub's merge queue, place 2 (QUEUED)" });
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
    expect(told(run.run)).toMatchObject({ phase: "Paused", paused: { kind: "Refused" } });
    expect(told(run.run).why).toBe('GitHub took #101 out of its merge queue without merging it: "ci" failed on its merge group');
  });

  test("/pause does not wait for it: the PR is fenced, and once it is out nothing is outstanding", () => {
    const run = queued();
    say(run, "/pause");
    expect(wants(round(run))).toEqual(["Answer done"]);
    expect(gatesOf(run.run, run.world, {})).toMatchObject([{ queued: true, state: { kind: "fenced" } }]);
    pull(run, 1, { queue: null });
    round(run);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Open" });
    expect([batch(run.run, 1).intention, told(run.run).paused?.kind]).toEqual([undefined, "Command"]);
  });
});

describe("the gate on a batch's PR", () => {
  test("waits for what the run waits for, passes when only GitHub or a person is left, and fails while paused", () => {
    const run = blocked([silent]);
    round(run);
    expect(gateOf(run)).toBe("passed");
    guard(run, 1, { ok: false, why: "the live set is not Git's yet", retry: true });
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
    expect([gateOf(run), told(run.run).why]).toEqual(["passed", "#101 waits for GitHub to see its check stagecoach/gate"]);
    pull(run, 1, { gate: "passed", mergeable: "yes" });
    expect(wants(round(run))).toEqual(["Merge 1"]);
  });

  test("passes with merge: Manual, so that a person can merge; what the guard refuses is closed there, too", () => {
    const run = blocked([], (rollout) => {
      rollout.delivery.merge = "Manual";
    });
    pull(run, 1, { mergeable: "yes" });
    expect(wants(round(run))).toEqual([]);
    expect([gateOf(run), told(run.run).why]).toEqual(["passed", "#101 waits for a person to merge it (merge: Manual)"]);
    guard(run, 1, { ok: false, why: "an Application would be removed", retry: false });
    expect(wants(round(run))).toEqual(["Close 1"]);
  });

  test("is never passed on a head that somebody else pushed", () => {
    const run = blocked([]);
    pull(run, 1, { headIsOurs: false });
    round(run);
    expect(gateOf(run)).toBe("fenced");
  });
});
