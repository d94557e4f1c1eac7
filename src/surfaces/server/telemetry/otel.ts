/** Spans by OpenTelemetry's SDK, which reads its own `OTEL_…` variables. Loaded only where these ask for traces: see `tracing.ts`. */
import { type Attributes, type Context, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, ConsoleSpanExporter, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { ScopeFields } from "../../../engine/round/within.ts";
import type { SpanRef, Tracer } from "./scope.ts";

export type ExporterKind = "http/protobuf" | "http/json" | "console";

interface OtelOptions {
  kind: ExporterKind;
  version: string;
  propagates: boolean;
  /** Takes secrets out of what an error says. */
  redact: (text: string) => string;
  /** Spans could not be sent. */
  onTrouble: (message: string) => void;
}

const LONGEST = 300;

export function openOtel({ kind, version, propagates, redact, onTrouble }: OtelOptions): Tracer {
  const quiet = () => undefined;
  const told = (message: string) => onTrouble(redact(message).slice(0, LONGEST));
  diag.setLogger({ error: told, warn: quiet, info: quiet, debug: quiet, verbose: quiet });
  const own = resourceFromAttributes({ "service.name": "stagecoach", "service.version": version });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporterOf(kind))],
  });
  const tracer = provider.getTracer("stagecoach", version);
  return {
    propagates,
    start(name, { parent, links, fields, isServer }) {
      const options = {
        kind: isServer ? SpanKind.SERVER : SpanKind.INTERNAL,
        attributes: attributesOf(fields),
        links: links.map((ref) => ({ context: contextOf(ref) })),
      };
      const span = tracer.startSpan(name, options, under(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        isServer,
        ref: { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 },
        end(error) {
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: redact(String(error)).slice(0, LONGEST) });
          span.end();
        },
      };
    },
    close: () => provider.shutdown().finally(() => diag.disable()),
  };
}

function exporterOf(kind: ExporterKind): SpanExporter {
  if (kind === "console") return new ConsoleSpanExporter();
  return kind === "http/json" ? new JsonExporter() : new ProtobufExporter();
}

const contextOf = ({ traceId, spanId, sampled }: SpanRef) => ({
  traceId,
  spanId,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
});

function under(parent: SpanRef | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
}

/** `stagecoach.repository` and the like; whoever names a rollout chooses what is in it. */
function attributesOf(fields: ScopeFields): Attributes {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [`stagecoach.${name}`, typeof value === "number" ? value : String(value).slice(0, LONGEST)]),
  );
}
