import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Log, silentLog } from "../../../engine/round/context.ts";
import { openLog, openRedactor } from "../log.ts";
import { openTelemetry, type Span, type Tracer } from "./scope.ts";
import { openTracing, tracesWanted } from "./tracing.ts";

interface Made {
  name: string;
  parent: string | undefined;
  links: string[];
  ended: unknown;
}

/** A tracer that keeps what it is told: spans are `s1`, `s2` and so on. */
function notebook(): { tracer: Tracer; made: Made[] } {
  const made: Made[] = [];
  const start: Tracer["start"] = (name, { parent, links, isServer }) => {
    const one: Made = { name, parent: parent?.spanId, links: links.map(({ spanId }) => spanId), ended: "not" };
    made.push(one);
    const ref: Span["ref"] = { traceId: parent?.traceId ?? `t${made.length}`, spanId: `s${made.length}`, sampled: true };
    return { isServer, ref, end: (error) => void Object.assign(one, { ended: error }) };
  };
  return { made, tracer: { start, propagates: true, close: async () => undefined } };
}

describe("lines of the log", () => {
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => void lines.splice(0));
  const logged = () => lines.splice(0).map(({ time: _, level: __, ...rest }) => rest);
  const logOf = (telemetry: ReturnType<typeof openTelemetry>): Log =>
    openLog({ level: "debug", format: "json", write: (line) => lines.push(JSON.parse(line)), scope: () => telemetry.fields() });

  test("have the delivery, the round's repository and deliveries, and the run that they are about, whoever wrote them", async () => {
    const telemetry = openTelemetry();
    const log = logOf(telemetry);
    telemetry.delivery("d1", { event: "push" }, () => log.info({}, "taken"));
    await telemetry.round("acme/fleet", ["d1", "d2"], async () => {
      await null;
      log.warn({ pull: 7 }, "in the round");
      await telemetry.within("decide", { rollout: "web", run: 3 }, async () => {
        await null;
        log.warn({ repository: "acme/other" }, "about a run");
        telemetry.apart(() => log.info({}, "apart"));
      });
    });
    log.info({}, "after");
    expect(logged()).toEqual([
      { delivery: "d1", event: "push", msg: "taken" },
      { repository: "acme/fleet", deliveries: ["d1", "d2"], pull: 7, msg: "in the round" },
      // What a line says itself goes before.
      { repository: "acme/other", deliveries: ["d1", "d2"], rollout: "web", run: 3, msg: "about a run" },
      { msg: "apart" },
      { msg: "after" },
    ]);
  });

  test("have the ids of trace and span where there are traces; of a round that failed, too, where that is told outside of it", async () => {
    const { tracer } = notebook();
    const telemetry = openTelemetry(tracer);
    const log = logOf(telemetry);
    const error = new Error("it broke");
    await telemetry.round("acme/fleet", [], () => Promise.reject(error)).catch(() => log.error({ ...telemetry.fields(error) }, "failed"));
    expect(logged()).toEqual([{ repository: "acme/fleet", trace_id: "t1", span_id: "s1", msg: "failed" }]);
  });

  test("a round that another's work has woken knows nothing of it", async () => {
    const telemetry = openTelemetry();
    const log = logOf(telemetry);
    await telemetry.round("acme/one", ["d1"], () => telemetry.round("acme/two", [], async () => log.info({}, "two")));
    expect(logged()).toEqual([{ repository: "acme/two", msg: "two" }]);
  });
});

describe("spans", () => {
  test("hang from the delivery over the round to calls of ports; further deliveries are links; what fails says so", async () => {
    const { tracer, made } = notebook();
    const telemetry = openTelemetry(tracer);
    const forge = telemetry.spanned(
      { comments: async () => [1], react: () => Promise.reject(new Error("403")), pressure: () => 7, other: async () => 1 },
      "github",
      ["comments", "react", "pressure"],
    );
    for (const id of ["d1", "d2"]) telemetry.delivery(id, {}, () => undefined);
    await telemetry.round("acme/fleet", ["d0", "d1", "d2"], () =>
      telemetry.within("observe", {}, async () => {
        expect([await forge.comments(), forge.pressure(), await forge.other()]).toEqual([[1], 7, 1]);
        await forge.react().catch(() => undefined);
        expect(telemetry.traceparent()).toBe("00-t1-s4-01");
      }),
    );
    await forge.comments();
    expect(telemetry.traceparent()).toBeUndefined();
    expect(made.map(({ name, parent, links }) => [name, parent, ...links])).toEqual([
      ["delivery", undefined],
      ["delivery", undefined],
      ["round", "s1", "s2"],
      ["observe", "s3"],
      ["github.comments", "s4"],
      ["github.pressure", "s4"],
      ["github.react", "s4"],
    ]);
    expect(made.map(({ ended }) => (ended instanceof Error ? ended.message : ended))).toEqual([
      ...[undefined, undefined, undefined, undefined, undefined],
      // What answers at once is none, and is never sent.
      "not",
      "403",
    ]);
  });

  test("without traces a port is the port itself, and nothing is told to whom it asks", () => {
    const port = { ask: async () => 1 };
    const telemetry = openTelemetry();
    expect(telemetry.spanned(port, "github")).toBe(port);
    telemetry.delivery("d1", {}, () => expect(telemetry.traceparent()).toBeUndefined());
  });
});

describe("the variables of OpenTelemetry", () => {
  const AT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
  test.each([
    ["none: nothing is loaded", {}, undefined],
    ["an endpoint", AT, "http/protobuf"],
    ["one for traces alone", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector:4318/v1/traces" }, "http/protobuf"],
    ["a protocol", { ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "http/json"],
    [
      "that of traces goes before",
      { ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" },
      "http/json",
    ],
    [
      "grpc, which is not understood",
      { ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      { variable: "OTEL_EXPORTER_OTLP_PROTOCOL", given: "grpc" },
    ],
    ["an exporter alone", { OTEL_TRACES_EXPORTER: "otlp" }, "http/protobuf"],
    ["the console", { OTEL_TRACES_EXPORTER: "console" }, "console"],
    ["another exporter", { ...AT, OTEL_TRACES_EXPORTER: "zipkin" }, { variable: "OTEL_TRACES_EXPORTER", given: "zipkin" }],
    ["none wanted", { ...AT, OTEL_TRACES_EXPORTER: "none" }, undefined],
    ["all off", { ...AT, OTEL_SDK_DISABLED: "TRUE" }, undefined],
    ["empty ones, which are as if unset", { OTEL_EXPORTER_OTLP_ENDPOINT: " ", OTEL_TRACES_EXPORTER: "" }, undefined],
  ])("%s", (_, env, expected) => {
    const { kind, refused } = tracesWanted(env);
    expect(kind ?? refused).toEqual(expected);
  });

  test("who is asked is told of a trace unless the propagators leave it out", () => {
    const propagators = ["", "tracecontext,baggage", "b3", "none"].map((given) => tracesWanted({ OTEL_PROPAGATORS: given }).propagates);
    expect(propagators).toEqual([true, true, false, false]);
  });
});

describe("spans on their way to a collector", () => {
  const bodies: unknown[] = [];
  let status = 200;
  const collector = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(JSON.parse(body));
    response.writeHead(status, { "Content-Type": "application/json" }).end("{}");
  });
  const before = { ...process.env };
  beforeEach(async () => {
    status = 200;
    bodies.length = 0;
    await once(collector.listen(0, "127.0.0.1"), "listening");
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    process.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/json";
    process.env["OTEL_SERVICE_NAME"] = "stagecoach-eu";
    process.env["OTEL_RESOURCE_ATTRIBUTES"] = "deployment.environment=prod";
  });
  afterEach(async () => {
    const ours = ["EXPORTER_OTLP_ENDPOINT", "EXPORTER_OTLP_PROTOCOL", "SERVICE_NAME", "RESOURCE_ATTRIBUTES", "BSP_SCHEDULE_DELAY"];
    for (const name of ours.map((one) => `OTEL_${one}`))
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    await new Promise((resolve) => collector.close(resolve));
  });

  test("carry names, attributes and the service, and no secret that an error holds", async () => {
    const redact = openRedactor(["the-webhook-secret"]);
    const telemetry = await openTracing(process.env, { version: "1.2.3", log: silentLog, redact });
    telemetry.delivery("d1", { event: "push" }, () => undefined);
    const error = new Error("bad: the-webhook-secret and ghs_abcdefghijklmnop");
    await telemetry.round("acme/fleet", ["d1"], () => Promise.reject(error)).catch(() => undefined);
    await telemetry.close();
    const [
      {
        resourceSpans: [sent],
      },
    ] = bodies as [{ resourceSpans: [{ resource: { attributes: object[] }; scopeSpans: { spans: object[] }[] }] }];
    const text = (value: string) => ({ stringValue: value });
    expect(sent.resource.attributes).toEqual(
      expect.arrayContaining([
        { key: "service.name", value: text("stagecoach-eu") },
        { key: "service.version", value: text("1.2.3") },
        { key: "deployment.environment", value: text("prod") },
      ]),
    );
    const [delivery, round] = sent.scopeSpans.flatMap(({ spans }) => spans) as { traceId: string; spanId: string; parentSpanId?: string }[];
    expect(round).toMatchObject({ name: "round", traceId: delivery?.traceId, parentSpanId: delivery?.spanId });
    expect(delivery).toMatchObject({
      name: "delivery",
      attributes: [
        { key: "stagecoach.delivery", value: text("d1") },
        { key: "stagecoach.event", value: text("push") },
      ],
    });
    expect(JSON.stringify(round)).toContain("bad: [redacted] and [redacted]");
  });

  test("what the collector refuses is dropped and told, and harms nobody", async () => {
    status = 400;
    process.env["OTEL_BSP_SCHEDULE_DELAY"] = "1";
    const warned = Promise.withResolvers<unknown>();
    const log: Log = { ...silentLog, warn: (fields, message) => warned.resolve([message, fields]) };
    const telemetry = await openTracing(process.env, { version: "1", log, redact: (one) => one });
    telemetry.delivery("d1", {}, () => undefined);
    expect(await warned.promise).toEqual([
      "traces could not be sent; what is not sent is dropped",
      { error: expect.stringMatching(/OTLPExporterError/) },
    ]);
    await telemetry.close().catch(() => undefined);
  });
});
