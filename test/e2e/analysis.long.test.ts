import { createHmac } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { builtinEngine } from "../../src/adapters/analysis/builtin/index.ts";
import { type Answering, json, startAnswering } from "../../src/adapters/analysis/testing.ts";
import { hookCaller } from "../../src/adapters/hooks/caller.ts";
import type { StageEvent } from "../../src/core/report/hook-event.ts";
import { analysesOf } from "../../src/core/run/checks/analysis.ts";
import { isEnded, type Run } from "../../src/core/run/state/run.ts";
import type { EmbeddedWorld, WorldOptions } from "../../src/sim/world.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, type JourneyOptions, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  await journey?.close();
  journey = undefined;
  for (const close of open.splice(0)) await close();
});

const SECRET = "hooks-secret";

/** As in the seed, unchanged. */
const WEBCHECK = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata:
  name: webcheck
spec:
  args:
    - name: host
  metrics:
    - name: webcheck
      successCondition: result == "ok"
      interval: 5
      failureLimit: 1
      provider:
        web:
          url: "http://{{ args.host }}/"
          jsonPath: "{$.status}"
`;

async function serve(answer: Answering["answer"]): Promise<Answering> {
  const server = await startAnswering(answer);
  open.push(() => server.close());
  return server;
}

function files(stage: string, spec: string, more: Record<string, string> = {}): NonNullable<WorldOptions["files"]> {
  const edit = short({ stage, spec, bake: "2m" });
  return (all) => {
    edit(all);
    all.set("analysis/webcheck.yaml", WEBCHECK);
    for (const [path, text] of Object.entries(more)) all.set(path, text);
  };
}

function gates(allow: string[]): NonNullable<JourneyOptions["gates"]> {
  return ({ clock }: EmbeddedWorld) => ({
    analysis: { engine: builtinEngine({ clock, policy: { allow } }), secret: () => undefined },
    hooks: hookCaller({ policy: { allow }, secret: SECRET }),
  });
}

const analysis = (host: string, when: string) =>
  `analysis: { templates: [{ templateName: webcheck }], args: [{ name: host, value: "${host}" }], when: [${when}] }`;

describe("webcheck, while batches bake", () => {
  test("a service that turns from ok to nok rolls the release back, and the evidence is in every report", async () => {
    let status = "ok";
    const service = await serve((request, response) => json({ status })(request, response));
    const world = files(analysis(service.host, "AfterBatch"), "onFailure: { action: Rollback }");
    journey = await startJourney({ files: world, gates: gates([service.host]) });
    const now = journey;
    const release = await now.release();
    const second = await now.until("the second batch is merged", (run) => run.batches[1]?.merged !== undefined);
    expect(second.batches[0]?.analyses).toMatchObject([
      {
        phase: "Successful",
        why: { code: "ANALYSIS_CALLED_OFF", because: { code: "BAKE_IS_OVER" } },
        metrics: [{ name: "webcheck", failed: 0, value: "ok" }],
      },
    ]);
    // Its PR was opened ahead of that, and so its gate shows it.
    const gate = await askUntil(
      now.world.clock,
      "the gate is passed",
      () => githubPage(now.world).summary(second.batches[1]?.pull?.head ?? "", "stagecoach/gate"),
      (text) => text !== undefined,
    );
    expect(gate).toMatch(/\| analysis webcheck \| Passed \| webcheck: \d+ ok, last ok, has to be result == .*ok.* \|/);
    status = "nok";
    const failed = await now.until("it failed", (run) => run.rollback !== undefined);
    expect(failed.why).toHaveCode("ANALYSIS_FAILED", { analysis: expect.objectContaining({ templates: ["webcheck"] }) });
    expect(await now.world.untilComment(release, "last value nok")).toContain("analysis webcheck");
    const back = await now.until("it is rolled back", (run) => run.number === 2 && isEnded(run));
    expect([back.phase, analysesOf(back)]).toEqual(["RolledBack", []]);
    expect(new Set(now.versions().values())).toEqual(new Set(["v1.4.1"]));
    expect(now.errors).toEqual([]);
  });
});

describe("hooks around a stage", () => {
  test("are asked with signed events, may hold, survive a crash of the bot, and are told of failures", async () => {
    const heard: { event: StageEvent; signature: boolean; request: string }[] = [];
    let ready = false;
    const hooks = await serve((request, response) => {
      const { body } = hooks.requests.at(-1) ?? { body: "" };
      const expected = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
      const event = JSON.parse(body) as StageEvent;
      const signature = request.headers["x-stagecoach-signature-256"] === expected;
      heard.push({ event, signature, request: String(request.headers["x-stagecoach-request"]) });
      if (event.type.includes(".before.") && !ready) json({ action: "hold", message: "CHG-7 waits", retryAfter: "30s" })(request, response);
      else response.writeHead(204).end();
    });
    const one = `[{ url: "http://${hooks.host}/hook?key=k", timeout: 10s }]`;
    journey = await startJourney({
      files: files(`hooks: { before: ${one}, after: ${one}, onFailure: ${one} }`, "onFailure: { action: Pause }"),
      gates: gates([hooks.host]),
      faults: [{ cluster: "us-east-1-b", kind: "degraded" }],
    });
    const now = journey;
    const release = await now.release();
    await now.until("it holds", (run) => run.hooks?.[0]?.phase === "Held");
    await now.world.untilComment(release, "CHG-7 waits");
    await now.stop();
    ready = true;
    await now.start();
    const failed = await now.until("it failed", (run) => run.phase === "Paused" && told(run));
    expect(failed.hooks?.map(({ when, stage, phase }) => `${when} ${stage} ${phase}`)).toEqual([
      "before 0 Done",
      "after 0 Done",
      "before 1 Done",
      "onFailure 1 Done",
    ]);
    expect(heard.every(({ signature }) => signature)).toBe(true);
    const before = heard.filter(({ event }) => event.subject === "my-app/1/1" && event.type === "dev.stagecoach.stage.before.v1");
    expect(new Set(before.map(({ event }) => event.id))).toEqual(new Set(["my-app/1/1/before/1/1"]));
    const last = heard.at(-1)?.event;
    expect(last).toMatchObject({
      specversion: "1.0",
      type: "dev.stagecoach.stage.failed.v1",
      data: { rollout: "my-app", run: 1, stage: { name: "us-east-1" }, failures: [{ what: "us-east-1-b" }] },
    });
    expect(now.errors).toEqual([]);
  });
});

const told = (run: Run) => run.hooks?.some((call) => call.when === "onFailure" && call.phase === "Done") === true;
