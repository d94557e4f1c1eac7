/**
 * In what work goes on: every line of the log that is written meanwhile has its fields, and where traces are on it is a span. A delivery, a
 * round, and what a round does lie within each other; what begins of its own knows nothing of who happened to wake it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { ScopeFields, Within } from "../../../engine/round/within.ts";

/** Names a span to others. */
export interface SpanRef {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

/** What is under way. */
export interface Span {
  ref: SpanRef;
  isServer: boolean;
  /** `error`: it failed. */
  end(error?: unknown): void;
}

/** What spans are made with: see `otel.ts`. */
export interface Tracer {
  start(name: string, of: { parent: SpanRef | undefined; links: readonly SpanRef[]; fields: ScopeFields; isServer: boolean }): Span;
  /** Who is asked in the middle of a span is told of it. */
  propagates: boolean;
  close(): Promise<void>;
}

interface Scope {
  fields: ScopeFields;
  span?: Span | undefined;
}

/** What the parts of the server say where they are with. */
export interface Telemetry {
  /** Does work within whatever goes on. */
  within: Within;
  /** Takes a delivery; what is done about it later finds it by its id. */
  delivery<T>(delivery: string, fields: ScopeFields, work: () => T): T;
  /** Does a round, begun by these deliveries; it knows nothing of whatever else goes on. */
  round<T>(repository: string, deliveries: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Does work that belongs to nothing that goes on. */
  apart<T>(work: () => T): T;
  /** What each line of the log has; of an error, what the lines of its round had. */
  fields(error?: unknown): ScopeFields;
  /** The header that tells whom a hook is asked by. */
  traceparent(): string | undefined;
  /** Wraps calls of a port, each a span; without traces it is the port itself. `only`: these calls. */
  spanned<Port extends object>(port: Port, name: string, only?: readonly (keyof Port & string)[]): Port;
  close(): Promise<void>;
}

/** Deliveries whose spans rounds are hung under. */
const MOST_REMEMBERED = 1000;
const MOST_DELIVERIES = 10;

export function openTelemetry(tracer?: Tracer): Telemetry {
  const scopes = new AsyncLocalStorage<Scope>();
  const taken = new BoundedMap<string, SpanRef>(MOST_REMEMBERED);
  const failed = new WeakMap<object, ScopeFields>();

  function run<T>(scope: Scope, work: () => T): T {
    const { span } = scope;
    try {
      const result = scopes.run(scope, work);
      if (span === undefined) return result;
      // What answers at once was read from memory, and is nothing to send.
      if (result instanceof Promise) result.then(() => span.end(), span.end);
      else if (span.isServer) span.end();
      return result;
    } catch (error) {
      span?.end(error);
      throw error;
    }
  }

  const within: Within = (name, fields, work) => {
    const outer = scopes.getStore();
    // Nothing is traced that belongs to no delivery and no round.
    const of = { parent: outer?.span?.ref, links: [], fields, isServer: false };
    const span = outer?.span === undefined ? undefined : tracer?.start(name, of);
    return run({ fields: { ...outer?.fields, ...fields }, span }, work);
  };
  return {
    within,
    delivery(delivery, fields, work) {
      const all = { delivery, ...fields };
      const span = tracer?.start("delivery", { parent: undefined, links: [], fields: all, isServer: true });
      if (span !== undefined) taken.set(delivery, span.ref);
      return run({ fields: all, span }, work);
    },
    round(repository, heard, work) {
      const deliveries = heard.slice(-MOST_DELIVERIES);
      const [parent, ...links] = deliveries.flatMap((id) => taken.get(id) ?? []);
      const fields = defined({ repository, deliveries: deliveries.length === 0 ? undefined : deliveries });
      const scope = { fields, span: tracer?.start("round", { parent, links, fields, isServer: false }) };
      return run(scope, () =>
        work().catch((error: unknown) => {
          if (typeof error === "object" && error !== null) failed.set(error, shownOf(scope));
          throw error;
        }),
      );
    },
    apart: (work) => scopes.exit(work),
    fields: (error) => (typeof error === "object" && error !== null ? failed.get(error) : undefined) ?? shownOf(scopes.getStore()),
    traceparent() {
      const ref = tracer?.propagates === true ? scopes.getStore()?.span?.ref : undefined;
      return ref === undefined ? undefined : `00-${ref.traceId}-${ref.spanId}-0${ref.sampled ? 1 : 0}`;
    },
    spanned: (port, name, only) => (tracer === undefined ? port : spannedBy(within, port, name, only)),
    close: async () => tracer?.close(),
  };
}

function shownOf({ fields, span }: Partial<Scope> = {}): ScopeFields {
  return span === undefined ? (fields ?? {}) : { ...fields, trace_id: span.ref.traceId, span_id: span.ref.spanId };
}

/** What is read from memory answers at once, and is none. */
function spannedBy<Port extends object>(within: Within, port: Port, name: string, only: readonly string[] | undefined): Port {
  const calls = new Map<string | symbol, unknown>();
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function" || typeof key !== "string" || only?.includes(key) === false) return value;
      const known = calls.get(key) ?? ((...given: unknown[]) => within(`${name}.${key}`, {}, () => value.apply(target, given)));
      calls.set(key, known);
      return known;
    },
  });
}
