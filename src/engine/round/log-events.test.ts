import { expect, test } from "vitest";
import { sampleRun } from "../../../test/support/sample-run.ts";
import { problemIn } from "../../core/reasons/problems/problem.ts";
import { runReason } from "../../core/reasons/run.ts";
import type { Run } from "../../core/run/state/run.ts";
import { silentLog } from "./context.ts";
import type { Decision } from "./decide.ts";
import { logDecided, logRefused, logStarted } from "./log-events.ts";

function lines() {
  const said: { message: string; [field: string]: unknown }[] = [];
  return { said, log: { ...silentLog, info: (fields: object, message: string) => void said.push({ ...fields, message }) } };
}

const OF = { repository: "acme/fleet", deliveries: ["72d3162e-cc78-11e3"] };

test("each thing that happens to a run is one line, with its rollout, run, batch, PR and the delivery before it", () => {
  const { said, log } = lines();
  const before = sampleRun();
  const [first] = before.batches;
  if (first?.pull === undefined) throw new Error("the sample's first batch has a PR");
  const command = { id: "7#0", text: "/abort now", actor: "eve", at: before.since };
  const message = runReason("RUN_BEGINS");
  const run: Run = { ...before, commands: [{ ...command, outcome: "refused", message }] };
  const event = runReason("BATCH_MERGED", {
    batch: { stage: "canary", number: 1, kind: "Planned" },
    pull: first.pull.number,
    commit: "c1",
  });
  const advanced = { run, effects: [], change: "transition" as const, events: [event] };
  logDecided(log, OF, { before, advanced } as unknown as Decision);
  const named = { ...OF, rollout: "payments", run: run.number };
  expect(said).toMatchObject([
    { ...named, batch: first.number, pull: first.pull.number, event: "BATCH_MERGED", message: "a run moved on" },
    { ...named, actor: "eve", command: "/abort now", because: message.code, message: "a command was refused" },
  ]);
});

test("the beginning of a run is a line, too", () => {
  const { said, log } = lines();
  const run = sampleRun();
  logStarted(log, OF, { rollout: "payments", run, events: [{ run: run.number, reason: runReason("RUN_BEGINS") }], waiting: false });
  expect(said).toMatchObject([{ ...OF, rollout: "payments", run: run.number, event: "RUN_BEGINS", message: "a run moved on" }]);
});

test("a release that starts no run is a line with the deliveries before it, and its PR", () => {
  const warned: object[] = [];
  const problems = [problemIn("rollouts/a.yaml", { code: "NOT_APPLIED" } as never)];
  logRefused({ ...silentLog, warn: (fields) => void warned.push(fields) }, OF, { pull: 7, commit: "c1", problems });
  expect(warned).toMatchObject([{ ...OF, pull: 7, commit: "c1", problems: [expect.any(String)] }]);
});
