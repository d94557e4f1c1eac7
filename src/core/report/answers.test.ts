import { describe, expect, test } from "vitest";
import { bench, bring, judge, round, say } from "../run/testing/bench.ts";
import { bringStep, stepBench } from "../run/testing/step-bench.ts";
import { helpAnswer, planAnswer, refusalAnswer, statusAnswer } from "./answers.ts";
import { BODY_LIMIT } from "./escape.ts";

function run(clusters: number) {
  const one = bench(clusters);
  bring(one, 1, "merged");
  judge(one, "c1", "failing");
  round(one);
  return one;
}

describe("answers to commands", () => {
  test("/status says how it stands, what it asks for, and where the whole is", () => {
    const { run: paused, now } = run(3);
    const text = statusAnswer(paused, now, "alice", "https://github.com/acme/fleet/pull/1#issuecomment-9");
    expect(text).toMatch(/^### ⏸️ payments #\u200b42: v2\n/);
    expect(text).toContain("**Paused** since");
    expect(text).toContain("**Your turn:** ");
    expect(text).toContain("`/skip c1`");
    expect(text).toContain("[every cluster](https://github.com/acme/fleet/pull/1#issuecomment-9)");
    expect(text).toContain("| 0/3 |");
  });

  test("/status says when it is expected to be done, as earlier runs went", () => {
    const self = bench(1);
    bring(self, 1, "merged");
    const stages = new Map(self.run.plan.stages.map(({ name }) => [name, [600_000]]));
    expect(statusAnswer(self.run, self.now, "alice", undefined)).not.toContain("**Done:**");
    expect(statusAnswer(self.run, self.now, "alice", undefined, { history: { stages, totals: [] } })).toContain("**Done:** about ");
  });

  test("/plan names what is still to come, and never over GitHub's limit", () => {
    const { run: few, now } = run(3);
    expect(planAnswer(few, now, "alice")).toContain("`c1` `c2` `c3`");
    const { run: many } = run(4000);
    const text = planAnswer(many, now, "alice");
    expect(text.length).toBeLessThan(BODY_LIMIT);
    expect(text).toContain("and 3960 more");
  });

  test("/plan counts a batch that travels in steps once, as the comment and the page do", () => {
    const self = stepBench(3);
    bringStep(self, 1);
    say(self, "/promote");
    round(self);
    expect(self.run.batches.map(({ phase }) => phase)).toContain("Settled");
    const rows = planAnswer(self.run, self.now, "alice")
      .split("\n")
      .filter((line) => line.startsWith("| 1 |"));
    expect(rows).toEqual(["| 1 | canary | Progressing | 0/2 | 0/3 | `c1` `c2` `c3` |"]);
  });

  test("refusals keep links to pull requests and let nothing else through", () => {
    const text = refusalAnswer([
      { text: "/resume `x` @all", author: "eve", message: "the run waits for #12: @bob said <b>no</b> [x](http://y)" },
    ]);
    expect(text).toContain("waits for #12");
    expect(text.replaceAll(/(`+).*?\1/g, "")).not.toMatch(/@bob|[^\\]<b>|[^\\]\[x/);
  });

  test("what is refused is named once each, for as long as it fits", () => {
    const lines = Array.from({ length: 500 }, (_, n) => ({ text: `/skip ${n}`, author: "eve", message: "x".repeat(900) }));
    expect(refusalAnswer(lines).length).toBeLessThan(BODY_LIMIT);
  });

  test("/help has every command, each on a row of its own", () => {
    const { run: one, now } = run(1);
    expect(helpAnswer(undefined).match(/^\| `\//gm)?.length).toBeGreaterThan(9);
    expect(say(run(1), "/help")).toBeUndefined();
    expect(planAnswer(one, now, "a")).toContain("| 1 |");
  });
});
