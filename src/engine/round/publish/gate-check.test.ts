import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { type CheckReport, ForgeError } from "../../../adapters/forge/port.ts";
import { stageDeployments } from "../../../core/report/run/stage-deployment.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";

const HEAD = "a".repeat(40);
const NO_PERMISSION = new ForgeError("Forbidden", 403, "403 Resource not accessible by integration");

function scene() {
  const sent: CheckReport[] = [];
  const deployed: string[] = [];
  const answers: { next?: ForgeError } = {};
  const answer = () => {
    if (answers.next !== undefined) throw answers.next;
  };
  const forge = {
    async putCheck(check: CheckReport) {
      answer();
      sent.push(check);
    },
    async putDeployment({ environment }: { environment: string }) {
      answer();
      deployed.push(environment);
    },
  };
  const context = { forge, log: silentLog, clock: { now: () => 0 } } as unknown as RepoContext;
  const memory = partsOf(context);
  return { context, memory, sent, deployed, answers };
}

test("a gate that somebody asked for again is sent afresh, once", async () => {
  const { memory, sent } = scene();
  for (let n = 0; n < 2; n++) await memory.gateChecks.putNotOurs(HEAD);
  expect(sent.map(({ afresh }) => afresh)).toEqual([false]);
  memory.checkRuns.ask(HEAD);
  for (let n = 0; n < 2; n++) await memory.gateChecks.putNotOurs(HEAD);
  expect(sent.map(({ afresh }) => afresh)).toEqual([false, true]);
  expect(["stagecoach/plan", "stagecoach/gate"].filter((name) => memory.checkRuns.isAsked(HEAD, name))).toEqual(["stagecoach/plan"]);
});

test("a gate that could not be posted for want of the permission is owed as soon as that may have been given", async () => {
  const { memory, sent, answers } = scene();
  answers.next = NO_PERMISSION;
  await memory.gateChecks.putNotOurs(HEAD);
  delete answers.next;
  await memory.gateChecks.putNotOurs(HEAD);
  expect([sent.length, memory.gateChecks.reported(HEAD)?.kind]).toEqual([0, "other"]);
  memory.permissions.renewed();
  await memory.gateChecks.putNotOurs(HEAD);
  await memory.gateChecks.putNotOurs(HEAD);
  expect(sent).toHaveLength(1);
});

test("another 403 leaves the gate owed, and checks are not given up", async () => {
  const { memory, answers } = scene();
  answers.next = new ForgeError("Forbidden", 403, "403 Repository was archived so is read-only.");
  const words = { status: "completed", conclusion: "success", title: "t", summary: "s" } as const;
  await expect(memory.gateChecks.put(HEAD, words, "passed")).rejects.toThrow("archived");
  expect([memory.permissions.isForbidden("checks"), memory.gateChecks.reported(HEAD)]).toEqual([false, undefined]);
});

test("deployments come once their permission is given; another 403 is tried again by itself", async () => {
  const { memory, deployed, answers } = scene();
  const run = sampleRun();
  const wanted = stageDeployments(run).map(({ environment }) => environment);
  const round = async () => {
    memory.putDeployments(run);
    await memory.comments.settled();
  };
  answers.next = new ForgeError("Forbidden", 403, "403 This installation has been suspended");
  await round();
  expect(memory.permissions.isForbidden("deployments")).toBe(false);
  answers.next = NO_PERMISSION;
  await round();
  delete answers.next;
  await round();
  expect([memory.permissions.isForbidden("deployments"), deployed]).toEqual([true, []]);
  memory.permissions.renewed();
  await round();
  expect(wanted.length).toBeGreaterThan(0);
  expect(deployed).toEqual(wanted);
});
