import { expect, test } from "vitest";
import { bench, bring, round } from "../../../core/run/testing/bench.ts";
import { silentLog } from "../context.ts";
import { openLabels } from "./labels.ts";

function dressed(): { asked: number[]; labels: ReturnType<typeof openLabels> } {
  const asked: number[] = [];
  const forge = { labelPull: async (number: number) => void asked.push(number) };
  return { asked, labels: openLabels({ forge: forge as never, log: silentLog }) };
}

test("a PR that merges by itself is not labelled, and its reviewers are not asked: only one that waits in its turn is, once", async () => {
  const self = bench(3, [{}], (rollout) => {
    rollout.delivery.labels = ["rollout"];
  });
  bring(self, 1, "open");
  round(self);
  const { asked, labels } = dressed();
  const [batch] = self.run.batches;
  if (batch === undefined) throw new Error("there is a batch");
  const as = (patch: object) => ({ ...self.run, batches: [{ ...batch, ...patch }] });
  for (const patch of [{ phase: "Merging" }, { phase: "Merged" }, { phase: "Open", ahead: true }]) await labels.set(as(patch));
  expect(asked).toEqual([]);
  for (let n = 0; n < 2; n++) await labels.set(as({ phase: "Open", ahead: undefined }));
  expect(asked).toEqual([batch.pull?.number]);
});
