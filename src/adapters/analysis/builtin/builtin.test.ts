import { afterEach, describe, expect, test } from "vitest";
import type { Asked, Sources } from "../../../core/analysis/request.ts";
import { readTemplates } from "../../../core/analysis/template.ts";
import { formatDuration } from "../../../core/base/time.ts";
import { type AnalysisState, isOver } from "../port.ts";
import { type Answering, json, startAnswering } from "../testing.ts";
import { builtinEngine } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Runs at once whatever is due, one thing at a time: waiting costs nothing. */
function eagerClock() {
  let now = Date.parse("2026-11-21T10:00:00.000Z");
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    after(ms: number, wake: () => void) {
      waits.push(ms);
      const timer = setTimeout(() => {
        now += ms;
        wake();
      }, 0);
      return () => clearTimeout(timer);
    },
  };
}

async function serve(answer: Answering["answer"]): Promise<Answering> {
  const server = await startAnswering(answer);
  open.push(() => server.close());
  return server;
}

function template(metric: string, args = ""): string {
  return `apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: t}\nspec:\n${args}  metrics:\n${metric}`;
}

const NO_SOURCES = { secret: () => undefined, field: () => undefined };

async function run(text: string, options: { allow?: string[]; args?: Asked["args"]; sources?: Partial<Sources> } = {}) {
  const { templates, problems } = readTemplates(text, "t.yaml", { builtin: true });
  expect(problems.filter((problem) => problem.severity === "error")).toEqual([]);
  const asked = { templates: [{ templateName: templates[0]?.metadata.name ?? "" }], args: options.args ?? [] };
  const sources = { templates, ...NO_SOURCES, ...options.sources };
  const clock = eagerClock();
  const engine = builtinEngine({ clock, policy: { allow: options.allow ?? [] } });
  open.push(() => engine.close());
  const over = new Promise<AnalysisState>((resolve) => {
    engine.onChange((id) => {
      const state = engine.state(id);
      if (state !== undefined && isOver(state)) resolve(state);
    });
  });
  await engine.start("a", { asked, sources, mustEnd: false });
  return { state: await over, clock };
}

const WEBCHECK = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata:
  name: webcheck
spec:
  args: [{ name: host }]
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

describe("the builtin engine", () => {
  test("webcheck: a service that turns from ok to nok fails the analysis at the second nok, measured every 5 seconds", async () => {
    let asked = 0;
    const server = await serve((request, response) => json({ status: ++asked <= 3 ? "ok" : "nok" })(request, response));
    const { state, clock } = await run(WEBCHECK, { allow: [server.host], args: [{ name: "host", value: server.host }] });
    expect(state).toMatchObject({
      phase: "Failed",
      metrics: [{ name: "webcheck", successful: 3, failed: 2, value: "nok", successCondition: expect.stringContaining("result") }],
    });
    expect(state.message).toMatch(/^webcheck: .*failureLimit is 1.* nok$/);
    expect(clock.waits.slice(1).map(formatDuration)).toEqual(["5s", "5s", "5s", "5s"]);
  });

  test.each<[string, Answering["answer"], string]>([
    ["no JSON", json("<html>"), "the answer is no JSON (application/json)"],
    ["an empty answer", json(""), "the answer is empty"],
    ["a status of 500", (_, response) => response.writeHead(500).end("{}"), "the answer has status 500"],
    ["nothing at the path", json({}), "{$.status}"],
    ["10 MB", json("x".repeat(10_000_000)), "answers with more than 1048576 bytes"],
    [
      "a redirect elsewhere",
      (_, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
      "redirects to 169.254.169.254",
    ],
  ])("%s is an error, and five in a row end it as Error, never as passed", async (_name, answer, why) => {
    const server = await serve(answer);
    const { state } = await run(WEBCHECK, { allow: [server.host], args: [{ name: "host", value: server.host }] });
    expect(state.phase).toBe("Error");
    expect(state.metrics[0]).toMatchObject({ error: 5, successful: 0 });
    expect(state.message).toContain(why);
  });

  const DEEP = "[".repeat(20_000) + "]".repeat(20_000);
  const SHALLOW = "[".repeat(100) + "]".repeat(100);
  test.each<[string, string, string]>([
    ["len(result) == 1", DEEP, "the answer nests more than 100 levels deep"],
    ["result == result", DEEP, "the answer nests more than 100 levels deep"],
    ["result == result", `{"a":${DEEP}}`, "the answer nests more than 100 levels deep"],
    ["none(result, (# + 0.5) in result)", JSON.stringify(Array.from({ length: 33_000 }, (_, i) => i)), "too many steps"],
    ["max(result) > 0", JSON.stringify(Array.from({ length: 400_000 }, () => 0)), "too many steps"],
  ])("%s of a hostile answer is an error of the measurement, and the engine goes on", async (condition, answer, why) => {
    const server = await serve(json(answer));
    const metric = `    - { name: m, successCondition: '${condition}', provider: { web: { url: "${server.url}" } } }\n`;
    const { state } = await run(template(metric), { allow: [server.host] });
    expect(state).toMatchObject({ phase: "Error", message: expect.stringContaining(why), metrics: [{ error: 5, successful: 0 }] });
  });

  test("an answer of 100 levels is measured, and shown shortened", async () => {
    const server = await serve(json(SHALLOW));
    const metric = `    - { name: m, successCondition: 'result == result', provider: { web: { url: "${server.url}" } } }\n`;
    const { state } = await run(template(metric), { allow: [server.host] });
    expect(state).toMatchObject({ phase: "Successful", metrics: [{ value: SHALLOW }] });
  });

  test("prometheus: an answer that nests too deeply is an error, too", async () => {
    const server = await serve(json(`{"status":"success","data":{"resultType":"string","result":${DEEP}}}`));
    const metric = `    - { name: m, consecutiveErrorLimit: 0, provider: { prometheus: { address: "${server.url}", query: "up" } } }\n`;
    const { state } = await run(template(metric), { allow: [server.host] });
    expect(state).toMatchObject({ phase: "Error", message: expect.stringContaining("levels deep") });
  });

  test("a listener that fails is told of, and the analysis goes on", async () => {
    const server = await serve(json({ status: "ok" }));
    const { templates } = readTemplates(WEBCHECK, "t.yaml", { builtin: true });
    const told: string[] = [];
    const options = { clock: eagerClock(), policy: { allow: [server.host] } };
    const engine = builtinEngine({ ...options, onError: (error, id) => told.push(`${id}: ${String(error)}`) });
    open.push(() => engine.close());
    const thrice = new Promise<void>((resolve) => {
      engine.onChange(() => {
        if ((engine.state("a")?.metrics[0]?.successful ?? 0) >= 3) resolve();
        throw new Error("the listener is broken");
      });
    });
    const asked = { templates: [{ templateName: "webcheck" }], args: [{ name: "host", value: server.host }] };
    await engine.start("a", { asked, sources: { templates, ...NO_SOURCES }, mustEnd: false });
    await thrice;
    expect(told.slice(0, 2)).toEqual(["a: Error: the listener is broken", "a: Error: the listener is broken"]);
  });

  test("a host that is not allowed is never asked", async () => {
    const server = await serve(json({ status: "ok" }));
    const { state } = await run(WEBCHECK, { allow: ["*.example.com"], args: [{ name: "host", value: server.host }] });
    expect(state.phase).toBe("Error");
    expect(state.message).toContain("`outbound.allow`");
    expect(server.requests).toEqual([]);
  });

  test("a secret is sent and never shown, whatever the answer says", async () => {
    const server = await serve((request, response) =>
      json({ status: `no: ${String(request.headers["authorization"])}` })(request, response),
    );
    const metric = `    - name: m
      failureCondition: result != "ok"
      provider:
        web:
          url: "http://${server.host}/"
          headers: [{ key: Authorization, value: "Bearer {{ args.token }}" }]
          jsonPath: "{$.status}"
`;
    const args = "  args: [{ name: token, valueFrom: { secretKeyRef: { name: s, key: k } } }]\n";
    const { state } = await run(template(metric, args), { allow: [server.host], sources: { secret: () => "hunter2-hunter2" } });
    expect(server.requests[0]?.headers["authorization"]).toBe("Bearer hunter2-hunter2");
    expect(JSON.stringify(state)).not.toContain("hunter2");
    expect(state).toMatchObject({ phase: "Failed", metrics: [{ value: "no: Bearer *****" }] });
  });

  test.each<[string, unknown, string]>([
    ["a vector", { resultType: "vector", result: [{ metric: {}, value: [1, "0.97"] }] }, "Successful"],
    ["a vector of NaN", { resultType: "vector", result: [{ metric: {}, value: [1, "NaN"] }] }, "Inconclusive"],
    ["+Inf", { resultType: "vector", result: [{ metric: {}, value: [1, "+Inf"] }] }, "Successful"],
    ["-Inf", { resultType: "vector", result: [{ metric: {}, value: [1, "-Inf"] }] }, "Failed"],
    ["an empty vector", { resultType: "vector", result: [] }, "Error"],
  ])("prometheus: %s", async (_name, data, expected) => {
    const server = await serve(json({ status: "success", data }));
    const metric = `    - name: m
      successCondition: result[0] >= 0.95
      failureCondition: result[0] < 0.95
      consecutiveErrorLimit: 0
      provider: { prometheus: { address: "${server.url}/", query: 'sum(up{a="b"})' } }
`;
    const { state } = await run(template(metric), { allow: [server.host] });
    expect(state.phase).toBe(expected);
    expect(server.requests[0]).toMatchObject({ method: "POST", url: "/api/v1/query", body: "query=sum%28up%7Ba%3D%22b%22%7D%29" });
  });

  test("a dry-run metric that fails is shown, and the analysis passes by the others", async () => {
    const server = await serve(json({ status: "nok", other: "ok" }));
    const one = (name: string, path: string) =>
      `    - { name: ${name}, successCondition: 'result == "ok"', provider: { web: { url: "${server.url}", jsonPath: "{$.${path}}" } } }\n`;
    const text = template(one("tried", "status") + one("kept", "other"), "  dryRun: [{ metricName: ^tri }]\n");
    const { state } = await run(text, { allow: [server.host] });
    expect(state).toMatchObject({
      phase: "Successful",
      metrics: [{ name: "tried", phase: "Failed", dryRun: true }, { phase: "Successful" }],
    });
  });

  test("prometheus: its own error is told", async () => {
    const server = await serve(json({ status: "error", error: "parse error: unexpected end" }));
    const metric = `    - name: m\n      consecutiveErrorLimit: 0\n      provider: { prometheus: { address: "${server.url}", query: "sum(" } }\n`;
    const { state } = await run(template(metric), { allow: [server.host] });
    expect(state.message).toContain("Prometheus says: parse error: unexpected end");
  });

  test("an analysis asked for twice is started once, and one that is stopped is over", async () => {
    const server = await serve(json({ status: "ok" }));
    const { templates } = readTemplates(WEBCHECK, "t.yaml", { builtin: true });
    const asked = { templates: [{ templateName: "webcheck" }], args: [{ name: "host", value: server.host }] };
    const sources = { templates, ...NO_SOURCES };
    const engine = builtinEngine({ clock: eagerClock(), policy: { allow: [server.host] } });
    open.push(() => engine.close());
    const counted = new Promise<void>((resolve) => {
      engine.onChange(() => {
        if ((engine.state("a")?.metrics[0]?.successful ?? 0) >= 3) resolve();
      });
    });
    await engine.start("a", { asked, sources, mustEnd: false });
    await engine.start("a", { asked, sources, mustEnd: false });
    await counted;
    expect(engine.state("a")?.phase).toBe("Running");
    await engine.stop("a");
    const { requests } = server;
    const before = requests.length;
    expect(engine.state("a")?.phase).toBe("Successful");
    expect(before - (engine.state("a")?.metrics[0]?.successful ?? 0)).toBeLessThanOrEqual(1);
  });
});
