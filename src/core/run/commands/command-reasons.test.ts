import { describe, expect, test } from "vitest";
import { bench, bring, judge, round, say } from "../testing/bench.ts";

describe("the reason of a command", () => {
  const failedRun = () => {
    const run = bench(2);
    bring(run, 1, "merged");
    judge(run, "c1", "failing");
    round(run);
    return run;
  };

  test.each([
    ["/retry the registry is up again", "write", { code: "RETRIED_BY", text: "the registry is up again" }],
    ["/resume c1 is being replaced", "maintain", { code: "RESUMED_BY", text: "c1 is being replaced" }],
    ["/rollback orders fail", "maintain", { code: "ROLLED_BACK_BY", text: "orders fail" }],
    ["/abort wrong version", "write", { code: "ABORTED_BY", text: "wrong version" }],
  ] as const)("%s is told with its reason", (text, permission, event) => {
    const run = failedRun();
    say(run, text, { permission });
    const { events } = round(run);
    expect(events).toContainEqual(expect.objectContaining(event));
  });

  test.each([
    ["skip", { code: "LEFT_OUT_BY", by: "alice", text: "its disk is broken" }],
    ["requeue", { code: "PUT_OFF_BY", by: "alice", text: "its disk is broken" }],
  ] as const)("/%s is told with the reason that its flag gives", (name, why) => {
    const run = failedRun();
    say(run, `/${name} c1`, { args: ["c1"], flags: { reason: "its disk is broken" } });
    round(run);
    const told = [...run.run.skipped, ...run.run.requeued].map((one) => one.why);
    expect(told).toEqual([why]);
  });

  test.each([
    ["/retry c1", "COMMAND_FOR_WHOLE_RUN"],
    ["/resume c1, c2", "COMMAND_FOR_WHOLE_RUN"],
    ["/rollback c1", "COMMAND_FOR_WHOLE_RUN"],
    ["/rollback v1.4.1", "ROLLBACK_WANTS_TO"],
  ])("%s is no reason: it was meant otherwise, and nothing is done", (text, code) => {
    const run = failedRun();
    const { phase } = run.run;
    say(run, text, { permission: "maintain" });
    round(run);
    expect([run.run.phase, run.run.commands.at(-1)?.message.code]).toEqual([phase, code]);
  });
});
