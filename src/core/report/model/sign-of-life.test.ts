import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { livenessReason } from "../../reasons/liveness.ts";
import { statusAnswer } from "../answers.ts";
import { batchBody } from "../batch/batch-pull.ts";
import { sentenceOf } from "../reasons/say.ts";
import { runComment } from "../run/run-comment.ts";
import { renderTree } from "../tree/tree.ts";
import { modelOf } from "./run-model.ts";

const AT = "2026-11-21T09:00:00.000Z";
const NOTE = sentenceOf(livenessReason("CLUSTERS_UNASKED", { all: true }));

test("that no cluster can be asked for a sign of life is said where the evidence stands, once, and nowhere else", () => {
  const live = livenessReason("CHANGE_LIVE", {
    ...{ seen: ["c".repeat(40)], more: 0, health: "Healthy", since: AT, comparedAt: AT, day: AT.slice(0, 10) },
    cluster: "unasked",
  });
  const run = sampleRun();
  const batches = run.batches.map((batch, index) =>
    index > 0 ? batch : { ...batch, targets: batch.targets.map((target) => ({ ...target, evidence: undefined, why: live })) },
  );
  const unasked = sampleRun({ batches });
  const [, next] = batches;
  const now = Date.parse(AT);
  const times = (page: string) => page.replaceAll("\\", "").split(NOTE).length - 1;
  const tree = (wide: boolean) => renderTree(unasked, now, { width: 400, color: false, wide });
  expect([runComment(unasked, now), JSON.stringify(modelOf(unasked, now)), tree(true)].map(times)).toEqual([1, 1, 1]);
  const elsewhere = [statusAnswer(unasked, now, "alice", undefined), next === undefined ? "" : batchBody(unasked, next, now), tree(false)];
  expect(elsewhere.map(times)).toEqual([0, 0, 0]);
  expect(sentenceOf(live)).not.toContain("asked");
  expect(modelOf(run, Date.parse(AT)).notes).toEqual([]);
});
