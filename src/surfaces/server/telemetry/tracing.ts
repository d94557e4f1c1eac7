/** Whether traces are wanted, as OpenTelemetry's variables say, and what is not understood of them. Called at the start. */
import { defined } from "../../../core/base/defined.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Environment } from "../config/env.ts";
import type { ExporterKind } from "./otel.ts";
import { openTelemetry, type Telemetry } from "./scope.ts";

interface Wanted {
  kind?: ExporterKind;
  propagates: boolean;
  /** A variable says what cannot be done: it is told, and there are no traces. */
  refused?: { variable: string; given: string };
}

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/** None: no variable asks for any. */
export function tracesWanted(env: Environment): Wanted {
  const read = (name: string) => env[name]?.trim() ?? "";
  const list = (name: string) =>
    read(name)
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
  const propagators = list("OTEL_PROPAGATORS");
  const propagates = propagators.length === 0 || propagators.includes("tracecontext");
  const exporters = list("OTEL_TRACES_EXPORTER");
  const isAsked = exporters.length > 0 || ENDPOINTS.some((name) => read(name) !== "");
  if (!isAsked || read("OTEL_SDK_DISABLED").toLowerCase() === "true" || exporters.includes("none")) return { propagates };
  const [exporter = "otlp"] = exporters;
  if (exporter === "console") return { propagates, kind: "console" };
  if (exporter !== "otlp") return { propagates, refused: { variable: "OTEL_TRACES_EXPORTER", given: exporter } };
  const variable = read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") === "" ? "OTEL_EXPORTER_OTLP_PROTOCOL" : "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
  const protocol = read(variable);
  if (protocol === "http/json") return { propagates, kind: protocol };
  if (protocol === "" || protocol === "http/protobuf") return { propagates, kind: "http/protobuf" };
  return { propagates, refused: { variable, given: protocol } };
}

const TOLD_EVERY_MS = 60_000;

/** What lines of the log and spans are told with. The SDK, which reads the environment of the process, is loaded only where it is asked for. */
export async function openTracing(
  env: Environment,
  { version, log, redact }: { version: string; log: Log; redact: (text: string) => string },
): Promise<Telemetry> {
  const { kind, propagates, refused } = tracesWanted(env);
  if (refused !== undefined)
    log.warn({ variable: refused.variable, given: refused.given.slice(0, 100) }, "there are no traces: that is not understood");
  if (kind === undefined) return openTelemetry();
  let told = Number.NEGATIVE_INFINITY;
  const onTrouble = (error: string) => {
    if (performance.now() - told < TOLD_EVERY_MS) return;
    told = performance.now();
    log.warn({ error }, "traces could not be sent; what is not sent is dropped");
  };
  const { openOtel } = await import("./otel.ts");
  return openTelemetry(openOtel(defined({ kind, version, propagates, redact, onTrouble })));
}
