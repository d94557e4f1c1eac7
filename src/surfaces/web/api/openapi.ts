/** The API as an OpenAPI 3.1 document: its paths stand here, its shapes are made from the schemas that the documents have anyway. */
import { z } from "zod";
import { fleetSchema } from "../../../core/report/model/schema/fleet.ts";
import { planSchema } from "../../../core/report/model/schema/plan.ts";
import { runSchema } from "../../../core/report/model/schema/run.ts";
import { rolloutVersionsSchema, versionsSchema } from "../../../core/report/model/schema/versions.ts";
import { problemSchema } from "./answers.ts";
import {
  changeSchema,
  commandSchema,
  commandWrittenSchema,
  helloSchema,
  meSchema,
  patchSchema,
  runEventsSchema,
  runHistorySchema,
  targetEvidenceSchema,
} from "./documents.ts";

const PLACE = ["owner", "repo", "rollout", "plane", "namespace", "application"];
const ROLLOUT = "/repos/{owner}/{repo}/rollouts/{rollout}";

interface Endpoint {
  summary: string;
  /** Media type → what it holds. */
  holds: Record<string, z.ZodType>;
  query?: Record<string, string>;
  description?: string;
  /** It can be told by an id what changed since. */
  followed?: true;
  /** It is sent, with this: answered 202. */
  takes?: z.ZodType;
}

const json = (schema: z.ZodType) => ({ "application/json": schema });

const at = { at: "As it was then, from the journal: ISO with a time zone. Absent: now." };

const ENDPOINTS: Record<string, Endpoint> = {
  "/fleet": {
    summary: "Every rollout's last run, by what it wants, and open release PRs",
    holds: json(fleetSchema),
    query: at,
    followed: true,
  },
  "/versions": { summary: "How many targets had which version at a moment, over all rollouts", holds: json(versionsSchema), query: at },
  [ROLLOUT]: { summary: "The last run of a rollout", holds: json(runSchema), query: at, followed: true },
  [`${ROLLOUT}/versions`]: { summary: "Which version each of its targets had at a moment", holds: json(rolloutVersionsSchema), query: at },
  [`${ROLLOUT}/pulls/{number}`]: { summary: "What merging an open release PR would do, as it was judged last", holds: json(planSchema) },
  [`${ROLLOUT}/runs`]: {
    summary: "Its runs, newest first",
    holds: json(runHistorySchema),
    query: { before: "Those with lower numbers than this.", limit: "So many at most, up to 100. Default: 20." },
  },
  [`${ROLLOUT}/runs/{number}`]: { summary: "One run; the last one can be followed", holds: json(runSchema), query: at, followed: true },
  [`${ROLLOUT}/runs/{number}/events`]: {
    summary: "What was recorded of a run, oldest first",
    holds: { ...json(runEventsSchema), "application/jsonl": z.string() },
    query: { format: "`jsonl`: one event a line, as `Accept: application/jsonl` gives them." },
  },
  [`${ROLLOUT}/runs/{number}/commands`]: {
    summary: "Give a command, as your comment on the pull request",
    description:
      "One of the run's `actions` that is `allowed`. It is written as your own comment and judged as any other: this answers that it stands there. `409 MOVED`: what you saw is no longer so. The same `Idempotency-Key` writes it once, for an hour.",
    takes: commandSchema,
    holds: json(commandWrittenSchema),
  },
  "/me": { summary: "Who asks", holds: json(meSchema), query: { repository: "`OWNER/REPOSITORY`: what they may do there, too." } },
  [`${ROLLOUT}/runs/{number}/targets/{plane}/{namespace}/{application}`]: {
    summary: "What an Application was judged by in a run",
    holds: json(targetEvidenceSchema),
  },
  "/events": {
    summary: "What changes, as server-sent events",
    description:
      "First `hello` (Hello). Then `fleet` (FleetChange), or of one rollout `rollout` (RunPatch); `reset` asks to read the document anew; `whole` is that document. `Last-Event-ID` goes on where a line broke off.",
    holds: { "text/event-stream": z.union([helloSchema, changeSchema, patchSchema]) },
    query: {
      rollout: "`OWNER/REPOSITORY/NAME`; absent: the fleet.",
      after: "The `Stagecoach-Sequence` of the document that was read.",
      whole: "Given: `whole` in place of a first `reset`.",
    },
  },
};

export const OPENAPI_PATH = "/openapi.json";

export function openApiDocument(): object {
  const paths = Object.entries(ENDPOINTS).map(([path, endpoint]) => [
    path,
    { [endpoint.takes === undefined ? "get" : "post"]: operation(path, endpoint) },
  ]);
  const whole = {
    openapi: "3.1.0",
    info: {
      title: "Stagecoach",
      version: "1",
      description: "What goes on and what was, and commands given as comments. Within `v1` fields are only added.",
    },
    servers: [{ url: "." }],
    paths: Object.fromEntries(paths) as object,
  };
  const components = { schemas: schemasFor(JSON.stringify(paths)), securitySchemes: { github: { type: "http", scheme: "bearer" } } };
  return { ...whole, components, security: [{}, { github: [] }] };
}

function operation(path: string, { summary, description, holds, query = {}, followed, takes }: Endpoint): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    ...{ name, in: "path", required: true },
    schema: PLACE.includes(name) ? { type: "string" } : { type: "integer", minimum: 1 },
  }));
  const inQuery = Object.entries(query).map(([name, words]) => ({ name, in: "query", description: words, schema: { type: "string" } }));
  const sequence = { "Stagecoach-Sequence": { description: "What `/events` goes on behind.", schema: { type: "string" } } };
  const headers = { ETag: { schema: { type: "string" } }, ...(followed && sequence) };
  const content = Object.entries(holds).map(([type, schema]) => [type, { schema: inline(schema) }]);
  const ok = { description: summary, headers, content: Object.fromEntries(content) as object };
  const failed = { description: "What is wrong", content: { "application/problem+json": { schema: inline(problemSchema) } } };
  const words = { summary, ...(description !== undefined && { description }) };
  if (takes === undefined)
    return {
      ...words,
      parameters: [...inPath, ...inQuery],
      responses: { "200": ok, "304": { description: "As it was" }, default: failed },
    };
  const requestBody = { required: true, content: { "application/json": { schema: inline(takes) } } };
  const key = { name: "Idempotency-Key", in: "header", required: true, schema: { type: "string", pattern: "^[\\w-]{8,100}$" } };
  return {
    ...words,
    parameters: [...inPath, key],
    requestBody,
    responses: { "202": { description: summary, content: ok.content }, default: failed },
  };
}

const refTo = (id: string) => `#/components/schemas/${id}`;

function inline(schema: z.ZodType): unknown {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return { $ref: refTo(id) };
  return schema instanceof z.ZodUnion ? { anyOf: (schema.options as z.ZodType[]).map(inline) } : { type: "string" };
}

/** Those that are named, and those that they name. */
function schemasFor(text: string): Record<string, unknown> {
  const { schemas: all } = z.toJSONSchema(z.globalRegistry, { io: "input", uri: refTo });
  const found: Record<string, unknown> = {};
  const texts = [text];
  for (const each of texts)
    for (const [, id = ""] of each.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (found[id] !== undefined || all[id] === undefined) continue;
      const { $id: _, $schema: __, id: ___, ...schema } = all[id] as Record<string, unknown>;
      found[id] = schema;
      texts.push(JSON.stringify(schema));
    }
  return found;
}
