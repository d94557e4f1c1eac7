import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { bench, bring, round, say } from "../testing/bench.ts";

describe("what stops", () => {
  const outcomes = ({ run }: ReturnType<typeof bench>) => run.commands.map(({ text, outcome, message }) => [text, outcome, message.code]);

  test("acts before what was written before it, and waits for nothing that cannot be judged yet", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/abort wrong version", { permission: "write" });
    say(run, "/skip nowhere");
    say(run, "/pause");
    round(run);
    expect(outcomes(run)).toEqual([["/pause", "done", "PAUSE_DONE"]]);
    expect(run.run.paused?.by).toBe("alice");
  });

  test("is not taken back by what was written before it, however they are read", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/pause");
    round(run);
    run.world = { ...run.world, commands: [] };
    say(run, "/resume", { id: "7#0" });
    say(run, "/pause for real", { id: "8#0", actor: "bob" });
    say(run, "/halt", { id: "9#0", args: [], flags: { off: true }, permission: "maintain" });
    say(run, "/halt fire", { id: "10#0", permission: "maintain" });
    round(run);
    expect(outcomes(run).slice(1)).toEqual([
      ["/pause for real", "refused", "ALREADY_PAUSED"],
      ["/halt fire", "done", "HALT_DONE"],
      ["/resume", "refused", "COMMAND_OVERTAKEN"],
      ["/halt", "refused", "COMMAND_OVERTAKEN"],
    ]);
    expect([run.run.phase, run.run.halts?.length]).toEqual(["Paused", 1]);
  });

  test("is taken back where one comment says both, in its own order, and by whoever may not stop nothing is", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/halt fire", { id: "1#0", permission: "maintain" });
    say(run, "/halt", { id: "2#0", flags: { off: true }, permission: "maintain" });
    say(run, "/halt cluster=c-1", { id: "2#1", args: ["cluster=c-1", "smoke"], permission: "maintain" });
    say(run, "/halt again", { id: "3#0", permission: "read", actor: "mallory" });
    round(run);
    expect(outcomes(run).map(([text, outcome]) => `${text} ${outcome}`)).toEqual([
      "/halt fire done",
      "/halt again refused",
      "/halt done",
      "/halt cluster=c-1 done",
    ]);
  });
});

describe("a halt", () => {
  const halts = ({ run }: ReturnType<typeof bench>) => run.halts?.map(({ reason }) => reason);

  test("is not lifted by what was written before it, though that is judged long after it acted", () => {
    const run = bench(1);
    bring(run, 1, "open");
    const early = iso(run.now);
    run.now += 60_000;
    say(run, "/halt fire", { id: "9#0", permission: "maintain" });
    round(run);
    run.world = { ...run.world, commands: [] };
    say(run, "/halt", { id: "8#0", flags: { off: true }, permission: "maintain", createdAt: early });
    round(run);
    expect(halts(run)).toEqual(["fire"]);
    expect(run.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: { code: "COMMAND_TOO_EARLY", before: "halt" } });
  });

  test("that its own comment says after it lifted others stays, though the lifting waits", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/halt fire", { id: "1#0", permission: "maintain" });
    round(run);
    run.world = { ...run.world, commands: [] };
    say(run, "/abort", { id: "2#0", permission: "write" });
    say(run, "/halt", { id: "3#0", flags: { off: true }, permission: "maintain" });
    say(run, "/halt worse", { id: "3#1", permission: "maintain" });
    for (let rounds = 0; rounds < 3; rounds++) round(run);
    expect(halts(run)).toContain("worse");
  });
});

describe("what is found too late to act", () => {
  test("is told so once, costs no commit of its own, and changes nothing; what was done in its time stays done", () => {
    const run = bench(1);
    bring(run, 1, "open");
    say(run, "/pause");
    round(run);
    run.world = { ...run.world, commands: run.world.commands.map((command) => ({ ...command, late: true as const })) };
    say(run, "/resume", { late: true });
    say(run, "/retry", { late: true, createdAt: iso(0) });
    const { change, effects } = round(run);
    expect(change).toBe("observation");
    expect(run.run.phase).toBe("Paused");
    expect(run.run.commands.map(({ text, outcome, message }) => [text, outcome, message.code])).toEqual([
      ["/pause", "done", "PAUSE_DONE"],
      ["/resume", "refused", "COMMAND_TOO_LATE"],
    ]);
    expect(effects.flatMap((effect) => (effect.kind === "Answer" ? [effect.outcome] : []))).toEqual(["done", "refused", "refused"]);
  });
});
