import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { COMMANDS, hasPermission, type Permission } from "../../spec/commands.ts";
import { advance } from "../advance.ts";
import { supersede } from "../start.ts";
import {
  batch,
  bench,
  bring,
  guard,
  judge,
  MINUTE,
  merged,
  noPull,
  phases,
  pull,
  round,
  SECOND,
  say,
  see,
  wants,
} from "../testing/bench.ts";

function answer(run: ReturnType<typeof bench>): unknown[] {
  const last = run.run.commands.at(-1);
  return [last?.outcome, last?.message];
}

describe("who may", () => {
  const people: [Permission, boolean][] = [
    ["none", false],
    ["read", false],
    ["triage", false],
    ["write", true],
    ["maintain", true],
    ["admin", true],
  ];
  test.each(people)("with %s permission, /pause is done: %s", (permission, allowed) => {
    const run = bench(1);
    round(run);
    say(run, "/pause", { permission });
    round(run);
    expect(run.run.phase).toBe(allowed ? "Paused" : "Progressing");
    expect(run.run.commands[0]?.outcome).toBe(allowed ? "done" : "refused");
  });

  test("a refusal for want of permission changes nothing but the list of commands, and costs no commit of its own", () => {
    const run = bench(1);
    bring(run, 1, "open");
    const before = run.run;
    say(run, "/abort", { permission: "read", actor: "mallory" });
    const advanced = round(run);
    expect(advanced.change).toBe("observation");
    expect({ ...advanced.run, commands: before.commands }).toEqual({
      ...before,
      batches: advanced.run.batches,
      why: advanced.run.why,
      next: advanced.run.next,
    });
    expect(answer(run)).toMatchObject([
      "refused",
      { code: "PERMISSION_MISSING", command: "abort", needs: "write", has: "read", by: "mallory" },
    ]);
  });

  test("every command is declared once, with an example that begins with its name", () => {
    expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
    for (const { name, usage, examples } of COMMANDS)
      for (const text of [usage, ...examples]) expect(text.startsWith(`/${name}`)).toBe(true);
    expect(hasPermission("maintain", "write")).toBe(true);
  });
});

describe("a command acts once", () => {
  test("and its answer is given again until nobody asks for it", () => {
    const run = bench(1);
    round(run);
    say(run, "/pause");
    expect(wants(round(run))).toEqual(["Answer done"]);
    say(run, "/resume");
    expect(wants(round(run))).toEqual(["Answer done", "Answer done"]);
    expect(run.run.phase).toBe("Progressing");
    expect(run.run.commands).toHaveLength(2);
  });

  test("/status and /plan are answered whoever can read asks, and leave nothing in the journal", () => {
    const run = bench(1);
    round(run);
    const before = run.run;
    say(run, "/status", { permission: "read", actor: "eve" });
    const advanced = round(run);
    expect(wants(advanced)).toEqual(["Answer done"]);
    expect(advanced.change).not.toBe("transition");
    expect(advanced.run.commands).toEqual(before.commands);
  });

  test("a question is answered while a command before it waits, and what follows it keeps its turn", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    for (const text of ["/pause", "/status", "/abort"]) say(run, text);
    expect(wants(round(run))).toEqual(["Answer done"]);
    expect(run.run.commands).toEqual([]);
  });

  test("one written before the run started is refused", () => {
    const run = bench(1);
    say(run, "/abort", { createdAt: iso(run.now - MINUTE) });
    round(run);
    expect(answer(run)).toEqual(["refused", { code: "COMMAND_TOO_EARLY", before: "run" }]);
  });
});

describe("on a pull request of a run that is over", () => {
  test("is refused with the run it is to be said to; a halt binds the repo wherever it is said", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/pause", { former: 41 });
    round(run);
    expect(answer(run)).toMatchObject(["refused", { code: "COMMAND_OF_FORMER_RUN", former: 41, last: 42, pull: 1 }]);
    say(run, "/halt stop", { args: ["stop"], permission: "maintain", former: 41 });
    round(run);
    expect(run.run.halts).toHaveLength(1);
    expect(run.run.phase).toBe("Progressing");
  });
});

describe("/pause and /resume", () => {
  test("a pause waits for the outcome of a merge under way, and no other merge begins meanwhile", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    say(run, "/pause errors at checkout");
    expect(wants(round(run))).toEqual([]);
    expect(run.run.phase).toBe("Progressing");
    merged(run, 1);
    judge(run, "c1", "pending");
    expect(wants(round(run))).toEqual(["Answer done"]);
    expect(run.run).toMatchObject({ phase: "Paused", why: { code: "PAUSED_BY", by: "alice", text: "errors at checkout" } });
  });

  test("an intention lapses under a pause that waits for it", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    say(run, "/pause");
    round(run);
    round(run, 30 * SECOND);
    expect(run.run.phase).toBe("Paused");
    expect(batch(run.run, 1)).toMatchObject({ phase: "Open" });
  });

  test("of a run that had paused by itself: /retry looks again and the run stays paused, until /resume", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    round(run);
    expect(run.run.paused?.kind).toBe("Failure");
    say(run, "/pause the network is down", { actor: "bob" });
    round(run);
    expect(answer(run)).toEqual(["done", { code: "PAUSE_DONE" }]);
    expect(run.run.why).toHaveCode("PAUSED_BESIDES", {
      because: expect.toHaveCode("TOO_MANY_FAILED", { clusters: ["hub/c1"] }),
      held: { code: "PAUSED_BY", by: "bob", text: "the network is down" },
    });
    say(run, "/pause", { actor: "carol" });
    round(run);
    expect(answer(run)).toMatchObject(["refused", { code: "ALREADY_PAUSED" }]);
    judge(run, "c1", "pending");
    say(run, "/retry");
    round(run);
    expect(answer(run)).toMatchObject(["done", { code: "RETRY_DONE", pausedBy: "bob" }]);
    expect(phases(run.run, 1)).toEqual(["Syncing"]);
    judge(run, "c1", "live", "all");
    round(run);
    round(run);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Command", by: "bob" }, batches: [{ phase: "Settled" }] });
    expect(run.run.batches).toHaveLength(1);
    say(run, "/resume");
    round(run);
    expect(run.run.phase).toBe("Progressing");
    expect(run.run.batches).toHaveLength(2);
  });

  test("of a run that had paused by itself: /skip of what failed does not let it go on either, and /resume ends both pauses", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    round(run);
    say(run, "/pause");
    round(run);
    say(run, "/skip c1", { args: ["c1"] });
    round(run);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Command" } });
    const other = bench(2);
    bring(other, 1, "merged");
    judge(other, "c1", "failing");
    round(other);
    say(other, "/pause");
    round(other);
    say(other, "/resume", { permission: "maintain" });
    round(other);
    expect(other.run).toMatchObject({ phase: "Progressing", failedAccepted: ["hub/c1"] });
  });

  test("a resume written before the pause it would end is refused", () => {
    const run = bench(1);
    round(run);
    say(run, "/pause");
    round(run, MINUTE);
    say(run, "/resume", { createdAt: iso(run.now - 5 * SECOND) });
    round(run);
    expect(answer(run)).toMatchObject(["refused", { code: "COMMAND_BEFORE_PAUSE" }]);
  });

  test("after a failure, /resume needs maintain and accepts the clusters as failed", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    round(run);
    say(run, "/resume");
    round(run);
    expect(answer(run)).toMatchObject(["refused", { code: "RESUME_ACCEPTS_FAILURES", clusters: ["hub/c1"] }]);
    expect(run.run.phase).toBe("Paused");
    say(run, "/resume", { permission: "maintain" });
    expect(wants(round(run))).toContain("Propose 2");
    expect(run.run.failedAccepted).toEqual(["hub/c1"]);
  });

  test("/resume does not accept a cluster that failed after it was written", () => {
    const run = bench(2, [{ maxUnavailable: 2 }]);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    judge(run, "c2", "pending");
    round(run);
    judge(run, "c2", "failing");
    round(run, MINUTE);
    say(run, "/resume", { permission: "maintain", createdAt: iso(run.now - 5 * SECOND) });
    round(run);
    expect(answer(run)).toEqual(["refused", { code: "FAILED_SINCE", clusters: ["hub/c2"] }]);
    expect(run.run.failedAccepted).toEqual([]);
  });

  test("after a close by hand, /resume opens the next attempt", () => {
    const run = bench(1);
    bring(run, 1, "open");
    pull(run, 1, { state: "closed", closedBy: "bob" });
    round(run);
    say(run, "/resume");
    expect(wants(round(run))).toContain("Propose 1");
    expect(batch(run.run, 1)).toMatchObject({ attempt: 2, phase: "Proposing" });
    expect(batch(run.run, 1).pull).toBeUndefined();
  });

  test("after a head that somebody moved, /resume closes the PR and builds it again", () => {
    const run = bench(1);
    bring(run, 1, "open");
    pull(run, 1, { head: "theirs", headIsOurs: false });
    round(run);
    expect(run.run.paused?.kind).toBe("HeadMoved");
    say(run, "/resume");
    expect(wants(round(run))).toEqual(["Close 1", "Answer done"]);
    pull(run, 1, { state: "closed" });
    expect(wants(round(run))).toContain("Propose 1");
  });
});

describe("/abort", () => {
  test("closes what is open, and is done when it is seen closed", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/abort wrong version");
    expect(wants(round(run))).toEqual(["Close 1"]);
    expect(run.run).toMatchObject({ phase: "Paused", ending: { phase: "Aborted" } });
    pull(run, 1, { state: "closed" });
    expect(wants(round(run))).toEqual(["Answer done"]);
    expect(run.run).toMatchObject({
      phase: "Aborted",
      why: { code: "ABORTED_BY", by: "alice", text: "wrong version" },
      endedAt: iso(run.now),
    });
  });

  test("of a run whose PR merges first ends it all the same", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/abort");
    round(run);
    merged(run, 1, { by: "bob", byUs: false });
    judge(run, "c1", "pending");
    round(run);
    expect(run.run.phase).toBe("Aborted");
  });
});

describe("/promote", () => {
  test("ends a bake, never the wait for health", () => {
    const run = bench(1, [{ bakeMs: 60 * MINUTE }]);
    bring(run, 1, "merged");
    say(run, "/promote");
    round(run);
    expect(answer(run)).toMatchObject(["refused", { code: "NOTHING_TO_PROMOTE", because: { code: "BATCH_AWAITS_HEALTH" } }]);
    judge(run, "c1", "live", "all");
    round(run);
    say(run, "/promote");
    round(run);
    expect(run.run.phase).toBe("Succeeded");
  });

  test("merges with merge: Manual once GitHub allows it", () => {
    const run = bench(1, [{}], (rollout) => {
      rollout.delivery.merge = "Manual";
    });
    bring(run, 1, "open");
    pull(run, 1, { mergeable: "blocked" });
    guard(run, 1);
    say(run, "/promote", { batch: 1 });
    expect(wants(round(run))).toEqual(["Answer done"]);
    pull(run, 1, { mergeable: "yes" });
    expect(wants(round(run))).toContain("Merge 1");
  });

  test("does not merge under mode Propose", () => {
    const run = bench(1, [{}], (rollout) => {
      rollout.mode = "Propose";
    });
    bring(run, 1, "open");
    guard(run, 1);
    say(run, "/promote");
    expect(wants(round(run))).toEqual(["Answer refused"]);
    expect(answer(run)).toMatchObject(["refused", { code: "MODE_NEVER_MERGES", pull: 101 }]);
  });
});

describe("/skip", () => {
  test("leaves out a cluster that is not reached yet", () => {
    const run = bench(2);
    round(run);
    say(run, "/skip c2");
    round(run);
    bring(run, 1, "confirmed");
    expect(run.run).toMatchObject({ phase: "Succeeded", why: { code: "RUN_THROUGH", skipped: ["hub/c2"] } });
  });

  test("of a cluster in an open PR builds the PR again without it", () => {
    const run = bench(2, [{ maxUnavailable: 2 }]);
    bring(run, 1, "open");
    say(run, "/skip c1");
    expect(wants(round(run))).toEqual(["Close 1", "Answer done"]);
    pull(run, 1, { state: "closed" });
    expect(wants(round(run))).toContain("Propose 1");
    expect(batch(run.run, 1).targets.map((target) => target.cluster)).toEqual(["hub/c2"]);
  });

  test("of a cluster in a PR that merges before it is closed comes too late: it is watched like the others", () => {
    const run = bench(2, [{ maxUnavailable: 2 }]);
    bring(run, 1, "open");
    say(run, "/skip c1");
    round(run);
    merged(run, 1, { by: "bob", byUs: false });
    judge(run, "c1", "pending");
    judge(run, "c2", "pending");
    round(run);
    expect(run.run.skipped).toEqual([]);
    expect(phases(run.run, 1)).toEqual(["Syncing", "Syncing"]);
  });

  test("of the failed cluster a run is paused on lets it go on", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    round(run);
    say(run, "/skip c1");
    expect(wants(round(run))).toContain("Propose 2");
    expect(phases(run.run, 1)).toEqual(["Skipped"]);
  });

  test.each([
    ["/skip", "CLUSTERS_NOT_NAMED"],
    ["/skip nowhere", "CLUSTER_UNKNOWN"],
  ])("%s is refused: %s", (text, why) => {
    const run = bench(1);
    round(run);
    say(run, text);
    round(run);
    expect(answer(run)).toMatchObject(["refused", { code: why }]);
  });
});

describe("/requeue and /retry", () => {
  function failed() {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    round(run);
    return run;
  }

  test("/requeue puts a cluster to the stage's end, not before --for", () => {
    const run = bench(2);
    round(run);
    noPull(run, 1);
    say(run, "/requeue c1", { flags: { for: "2h" } });
    expect(wants(round(run))).toEqual(["Answer done"]);
    const until = iso(run.now + 120 * MINUTE);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Settled", why: { code: "ALL_LEFT_OUT" } });
    expect(run.run.requeued).toMatchObject([{ cluster: "hub/c1", until, nextAt: until }]);
    bring(run, 2, "confirmed");
    expect(run.run.next).toEqual({ what: { code: "NEXT_LOOKED_AGAIN" }, eta: until });
    expect(wants(round(run, 120 * MINUTE))).toEqual(["Answer done", "Propose 3"]);
    expect(batch(run.run, 3).kind).toBe("CatchUp");
  });

  test("/requeue failed tries the failed ones in a catch-up batch, which needs no PR where the pin stands", () => {
    const run = failed();
    say(run, "/requeue failed");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Requeued"]);
    expect(wants(run.last)).toContain("Propose 2");
    bring(run, 2, "confirmed");
    expect(batch(run.run, 3)).toMatchObject({ kind: "CatchUp", phase: "Merged" });
    expect(batch(run.run, 3).pull).toBeUndefined();
  });

  test("/retry looks anew at the failed ones where they are, with a new deadline", () => {
    const run = failed();
    say(run, "/retry");
    judge(run, "c1", "pending");
    round(run);
    expect(run.run.phase).toBe("Progressing");
    expect(batch(run.run, 1).targets[0]).toMatchObject({ phase: "Syncing", deadlineAt: iso(run.now + 15 * MINUTE) });
    judge(run, "c1", "live", "all");
    expect(wants(round(run))).toContain("Propose 2");
  });

  test("/retry of a cluster whose pin was changed away updates it again", () => {
    const run = failed();
    see(run, "c1", { pins: ["v1"] });
    say(run, "/retry");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Requeued"]);
    bring(run, 2, "confirmed");
    expect(wants(run.last)).toContain("Propose 3");
  });

  test("/requeue failed means those that had failed when it was written", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "pending");
    round(run, 5 * MINUTE);
    judge(run, "c1", "failing");
    round(run);
    say(run, "/requeue failed", { createdAt: iso(run.now - MINUTE) });
    round(run);
    expect(answer(run)).toEqual(["refused", { code: "FAILED_SINCE", clusters: ["hub/c1"] }]);
    expect(phases(run.run, 1)).toEqual(["Failed"]);
  });

  test("/retry of a run that has not failed is refused", () => {
    const run = bench(1);
    round(run);
    say(run, "/retry");
    round(run);
    expect(answer(run)).toEqual(["refused", { code: "RETRY_OF_GOING_RUN" }]);
  });
});

describe("a newer release", () => {
  test("ends the run once its PR is closed and what is in flight is confirmed", () => {
    const run = bench(2);
    bring(run, 1, "merged");
    run.run = supersede(run.run, { values: { version: "v3" }, commit: "e".repeat(40) }, run.now);
    round(run);
    expect(run.run.phase).toBe("Paused");
    expect(run.run.why).toHaveCode("END_AWAITS_CLUSTERS", { clusters: ["hub/c1"] });
    judge(run, "c1", "live", "all");
    round(run);
    expect(run.run.phase).toBe("Superseded");
    expect(run.run.batches).toHaveLength(1);
  });

  test("is taken note of once", () => {
    const run = bench(1);
    const by = { values: { version: "v3" }, commit: "e".repeat(40) };
    const once = supersede(run.run, by, run.now);
    expect(supersede(once, by, run.now)).toBe(once);
  });
});

test("/rollback of a rollback that has ended does not name /abort, which would end nothing", () => {
  const self = bench(1);
  round(self);
  self.run = { ...self.run, kind: "Rollback", phase: "RolledBack", endedAt: iso(self.now) };
  say(self, "/rollback", { permission: "maintain" });
  const { effects } = advance(self.run, self.world, self.now + SECOND);
  expect(effects).toMatchObject([{ kind: "Answer", outcome: "refused", message: { code: "ROLLBACK_OF_ENDED_ROLLBACK" } }]);
});
