/**
 * Checks answers and webhooks against the slices of GitHub's published descriptions that `cut.ts` has written. Of
 * every world that a test starts: see `every-world.ts`.
 */
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { Exchange } from "../../src/sim/github/model/model.ts";
import { isObject, type JsonObject } from "./plain-schema.ts";
import { routeKey } from "./route-key.ts";

interface RestSlice {
  operations: Record<string, { operationId: string; request?: unknown; responses: Record<string, unknown> }>;
  schemas: JsonObject;
}

interface WebhookSlice {
  events: Record<string, unknown>;
  schemas: JsonObject;
}

export interface SchemaChecks {
  /** Given to `startGitHub`. */
  hooks: {
    onExchange(exchange: Exchange): void;
    onDelivery(delivery: { event: string; action: string | undefined; payload: unknown }): void;
  };
  /** One line each, the same one once; empty: all was as GitHub describes it. */
  readonly problems: string[];
  /** Route keys and statuses, and events, that were checked. */
  readonly seen: { answers: Set<string>; events: Set<string> };
}

/** What GitHub answers though its description does not say so; the shape is known from recordings or from its documentation. */
const UNDESCRIBED = /^(POST \/graphql|POST \/api\/graphql|GET \/repos\/\*\/\*\/contents)$/;

type Compiler = (name: string, schema: unknown) => ValidateFunction;

function load<T>(name: string): T {
  // Schemas of a slice name each other; a prefix lets them be compiled one by one.
  const text = readFileSync(new URL(`${name}.generated.json`, import.meta.url), "utf8");
  return JSON.parse(text.replaceAll('"#/definitions/', `"${name}#/definitions/`)) as T;
}

function compiler(name: string, schemas: JsonObject): Compiler {
  // Each validator runs a few times only: to make its code smaller takes longer than all that it would save.
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false, allowUnionTypes: true, code: { optimize: false } });
  formats.default(ajv);
  ajv.addSchema({ $id: name, definitions: schemas });
  const compiled = new Map<string, ValidateFunction>();
  return (key, schema) => {
    const known = compiled.get(key) ?? ajv.compile(schema as JsonObject);
    compiled.set(key, known);
    return known;
  };
}

let shared: { rest: RestSlice; webhooks: WebhookSlice; restCompiler: Compiler; webhookCompiler: Compiler } | undefined;

/** Compiled schemas are kept for the process: every world uses the same. */
function loadAll() {
  if (shared !== undefined) return shared;
  const rest = load<RestSlice>("rest");
  const webhooks = load<WebhookSlice>("webhooks");
  const restCompiler = compiler("rest", rest.schemas);
  const webhookCompiler = compiler("webhooks", webhooks.schemas);
  shared = { rest, webhooks, restCompiler, webhookCompiler };
  return shared;
}

function explain(validate: ValidateFunction): string {
  const [error] = validate.errors ?? [];
  return error === undefined ? "is not valid" : `${error.instancePath || "/"} ${error.message ?? ""} ${JSON.stringify(error.params)}`;
}

/** Names of the events in the slice. */
export function describedEvents(): string[] {
  return Object.keys(loadAll().webhooks.events);
}

export function schemaChecks(): SchemaChecks {
  const problems: string[] = [];
  const seen = { answers: new Set<string>(), events: new Set<string>() };
  const report = (line: string | undefined) => {
    if (line !== undefined && !problems.includes(line)) problems.push(line);
  };
  return {
    problems,
    seen,
    hooks: {
      onExchange(exchange) {
        if (exchange.route === undefined) return;
        const key = routeKey(exchange.method, exchange.route);
        seen.answers.add(`${key} ${exchange.status}`);
        report(answerProblem(key, exchange));
        report(requestProblem(key, exchange));
      },
      onDelivery({ event, action, payload }) {
        const name = action === undefined ? event : `${event}.${action}`;
        seen.events.add(name);
        report(eventProblem(name, payload));
      },
    },
  };
}

function answerProblem(key: string, { status, body, path }: Exchange): string | undefined {
  if (UNDESCRIBED.test(key) || status === 304) return undefined;
  const { rest, restCompiler } = loadAll();
  const operation = rest.operations[key];
  if (operation === undefined) return `${key}: GitHub describes no such route`;
  const schema = operation.responses[String(status)];
  // Any route of a renamed repository redirects, whether its description says so or not.
  if (schema === undefined && (status === 301 || status === 307)) return hasMessage(body) ? undefined : `${key} ${status}: no message`;
  if (schema === undefined && status < 400) return `${key} ${status}: GitHub describes no such answer`;
  if (schema === undefined || schema === null) return status < 400 || hasMessage(body) ? undefined : `${key} ${status}: no message`;
  const validate = restCompiler(`${key} ${status}`, schema);
  return validate(body) ? undefined : `${key} ${status} (${path}): ${explain(validate)}`;
}

function hasMessage(body: unknown): boolean {
  return isObject(body) && typeof body["message"] === "string";
}

/** A request that was accepted has to be one that GitHub describes, or the embedded one takes too much. */
function requestProblem(key: string, { status, requestBody }: Exchange): string | undefined {
  const { rest, restCompiler } = loadAll();
  const schema = rest.operations[key]?.request;
  const empty = !isObject(requestBody) || Object.keys(requestBody).length === 0;
  if (status >= 300 || schema === undefined || empty) return undefined;
  const validate = restCompiler(`${key} request`, schema);
  return validate(requestBody) ? undefined : `${key} request: ${explain(validate)}`;
}

function eventProblem(name: string, payload: unknown): string | undefined {
  const { webhooks, webhookCompiler } = loadAll();
  const schema = webhooks.events[name];
  if (schema === undefined) return `event ${name}: GitHub describes no such event`;
  const validate = webhookCompiler(name, schema);
  return validate(payload) ? undefined : `event ${name}: ${explain(validate)}`;
}
