import { describe, expect, it, test } from "vitest";
import { sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { Run } from "../../run/state/run.ts";
import type { Delivery } from "../../spec/rollout.ts";
import { batchTrailers } from "./batch-pull.ts";
import { batchText, commitText, mergeText, printTitle } from "./batch-text.ts";

const AUTHOR = { name: "stagecoach[bot]", email: "s@x" };
const NOW = Date.parse("2026-11-21T09:04:00.000Z");

function said(delivery: Partial<Delivery> = {}) {
  const run = sampleRun({ spec: sampleRollout({ delivery: { ...sampleRollout().delivery, ...delivery } }) });
  const batch = run.batches[1];
  if (batch === undefined) throw new Error("the sample has two batches");
  const commit = commitText(run, batch, AUTHOR);
  return { ...batchText(run, batch, AUTHOR, NOW), commit, merge: mergeText(run, batch, 12, AUTHOR), trailers: batchTrailers(run, batch) };
}

test("without templates a title is one of ours, and the merge says it with the trailers", () => {
  const { title, merge, trailers, commit, commitMessage } = said();
  expect(title).toMatch(/^payments v1\.4\.2: batch /);
  expect(merge).toEqual({ title: `${title} (#12)`, message: trailers });
  expect(commit).toBe(commitMessage);
});

test("the rollout's words are in the PR, its commit and the merge, and the trailers in both commits", () => {
  const { title, body, commit, merge, trailers } = said({
    title: "[{{ stage.name }}] {{ release.version }}",
    body: "Ask #payments.",
    commitMessage: "deploy: {{ release.version }}\n\nChange: CR-{{ release.pull }}",
    signoff: true,
  });
  expect([title, body.split("\n")[0]]).toEqual(["[everywhere else] v1.4.2", "Ask #payments."]);
  expect(commit).toBe(`deploy: v1.4.2\n\nChange: CR-10\n\n${trailers}\nSigned-off-by: stagecoach[bot] <s@x>\n`);
  expect(merge).toEqual({ title: "deploy: v1.4.2 (#12)", message: `Change: CR-10\n\n${trailers}\nSigned-off-by: stagecoach[bot] <s@x>` });
});

test("a title alone changes the merge's title, and nothing of its message", () => {
  const { merge, trailers } = said({ title: "T" });
  expect(merge).toEqual({ title: "T (#12)", message: trailers });
});

test("a body stays true once it is merged: it asks nobody to merge, and lists no command that then does nothing", () => {
  const { body } = said({ merge: "Manual" });
  expect(body).not.toMatch(/your turn|`\/(pause|requeue|skip|abort)/i);
  expect(body).toContain("what you can comment now: #10.");
});

test("a way back to several versions names them, in title and commit; one that is not the release's is named instead", () => {
  const run = sampleRun();
  const batch = run.batches[1];
  if (batch === undefined) throw new Error("the sample has two batches");
  const [target] = batch.targets;
  const edit = target?.edits[0];
  if (target === undefined || edit === undefined) throw new Error("the sample's batch has a target");
  const titled = (kind: Run["kind"], ...values: string[]) => {
    const gone = (to: string) => (to === "" ? { removes: true as const } : {});
    const targets = values.map((to, at) => ({ ...target, cluster: `hub/c${at}`, edits: [{ ...edit, from: "v9", to, ...gone(to) }] }));
    const own = { ...run, kind, batches: [{ ...batch, targets }] };
    return [batchText(own, { ...batch, targets }, AUTHOR, NOW).title, commitText(own, { ...batch, targets }, AUTHOR)].map(
      (text) => /^payments (.*?):/.exec(text)?.[1],
    );
  };
  expect(titled("Rollback", "v1.4.2", "v1.4.2")).toEqual(["v1.4.2", "v1.4.2"]);
  expect(titled("Rollback", "v1.4.1", "v1.3.9", "v1.4.1")).toEqual(Array(2).fill("back to v1.4.1 and v1.3.9"));
  expect(titled("Rollback", "v1.3.9")).toEqual(Array(2).fill("back to v1.3.9"));
  expect(titled("Rollback", "v1.4.1", "")).toEqual(Array(2).fill("back to v1.4.1 and none"));
  expect(titled("Rollback", "v1", "v2", "v3", "v4")).toEqual(Array(2).fill("back to 4 versions"));
  expect(titled(undefined, "v1.4.2", "v1.3.9")).toEqual(["v1.4.2", "v1.4.2"]);
});

describe("titles of batch pull requests", () => {
  it("names a planned batch by its number and the catch-up batch as such", () => {
    const title = { rollout: "payments", release: "v1.4.2", stage: "rest of the world" };
    expect(printTitle({ ...title, batch: { number: 2, of: 3 } })).toBe("payments v1.4.2: batch 2 of 3 of rest of the world");
    expect(printTitle(title)).toBe("payments v1.4.2: catch-up batch of rest of the world");
    expect(printTitle({ ...title, batch: { number: 1, of: 3 }, step: { number: 2, of: 3, weight: 60 } })).toBe(
      "payments v1.4.2: step 2 of 3, weight 60, of batch 1 of 3 of rest of the world",
    );
  });

  it("cuts a stage's name where GitHub would refuse the title", () => {
    const text = printTitle({ rollout: "payments", release: "v1", stage: "s".repeat(400), batch: { number: 1, of: 2 } });
    expect(text.length).toBe(250);
    expect(text.endsWith("s…")).toBe(true);
  });
});
