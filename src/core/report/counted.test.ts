import { describe, expect, test } from "vitest";
import { problemIn } from "../reasons/problems/problem.ts";
import { runReason } from "../reasons/run.ts";
import { bench, round } from "../run/testing/bench.ts";
import { countPhrase, inCounted, shareText } from "./counted.ts";
import { headline } from "./plan/plan-comment.ts";
import { sayProblem } from "./reasons/problems/problems.ts";
import { sentenceOf } from "./reasons/say.ts";
import { renderTree } from "./tree/tree.ts";

describe("where a rollout counts something else than clusters", () => {
  test.each([
    [undefined, "A cluster, a cluster, 2 clusters, every cluster"],
    ["application", "An Application, an Application, 2 Applications, every Application"],
    ["namespace", "A namespace, a namespace, 2 namespaces, every namespace"],
  ] as const)("%s: one place decides the word", (targetBy, text) => {
    expect(inCounted("<A cluster>, <a cluster>, 2 <cluster>s, every <cluster>", { targetBy })).toBe(text);
    expect(countPhrase(1, { targetBy })).toBe(`1 ${text.split(" ").at(-1)}`);
  });

  test("reasons of a run, problems of its plan, plans and trees say it", () => {
    const self = bench(2, [{}], (rollout) => {
      rollout.targetBy = "namespace";
    });
    self.run = { ...self.run, plan: { ...self.run.plan, targetBy: "namespace" } };
    round(self);
    const { run } = self;
    expect(sentenceOf(runReason("ALL_LEFT_OUT"), run)).toBe("every namespace of it was left out");
    expect(sentenceOf(runReason("ALL_LEFT_OUT"))).toBe("every cluster of it was left out");
    const problem = problemIn("r.yaml", { code: "COVERAGE", clusters: ["one:dev"], of: 3 });
    expect(sayProblem({ ...problem, ...{ targetBy: run.plan.targetBy } }).message).toContain("1 of 3 namespaces");
    expect(headline(run.spec, run.plan, false)).toContain("**2 namespaces**");
    expect(renderTree(run, self.now, { color: false, width: 100 })).toContain("0/2 namespaces healthy");
  });

  test("a stage that has not begun is to come, not unhealthy", () => {
    const none = { clusters: 4, healthy: 0, requeued: 0, skipped: 0, toCome: 4 };
    expect(shareText(none, { state: "ToCome", when: "later" })).toBe("4 to come");
    expect(shareText({ ...none, requeued: 1, toCome: 3 }, { state: "Waiting", when: "now" })).toBe("4 to come");
    expect(shareText({ ...none, toCome: 2 }, { state: "Progressing", when: "now" })).toBe("0/4 healthy");
    expect(shareText({ ...none, toCome: 0 }, { state: "NotReached", when: "later" })).toBe("4 not reached");
  });

  test("what another program says is never taken for the word", () => {
    expect(sentenceOf({ code: "SAID", text: "cannot reach cluster eu-1" })).toBe("cannot reach cluster eu-1");
  });
});
