/**
 * Cuts what the embedded GitHub answers and sends out of GitHub's published descriptions, as plain JSON Schema. By hand:
 *
 *   npm install --prefix FOLDER --ignore-scripts @octokit/openapi @octokit/openapi-webhooks
 *   node test/schemas/cut.ts FOLDER
 *
 * The packages are hundreds of megabytes, so they are no dependencies; the slices are committed.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defined } from "../../src/core/base/defined.ts";
import { ROUTES } from "../../src/sim/github/routes/all.ts";
import { isObject, type JsonObject, plainSchema, reachedSchemas } from "./plain-schema.ts";
import { routeKey } from "./route-key.ts";

const EVENTS =
  /^(check-run\/(created|completed|rerequested)|check-suite\/(completed|requested|rerequested)|deployment\/created|deployment-status\/created|installation\/.*|installation-repositories\/.*|issue-comment\/.*|issues\/(opened|edited|closed|reopened|labeled|unlabeled)|merge-group\/.*|pull-request\/(opened|edited|closed|reopened|synchronize|labeled|unlabeled|review-requested|review-request-removed|ready-for-review|converted-to-draft|enqueued|dequeued)|pull-request-review\/(submitted|dismissed)|push|repository\/(archived|unarchived|renamed|created|deleted)|status)$/;

interface Description extends JsonObject {
  info: { version: string };
  components: { schemas: JsonObject };
}

function read(folder: string, name: string): Description {
  return JSON.parse(readFileSync(join(folder, "node_modules", "@octokit", name, "generated", "api.github.com.json"), "utf8"));
}

/** The schema of a JSON body; undefined: it has none. */
function bodySchema(body: unknown): unknown {
  const content = isObject(body) ? body["content"] : undefined;
  const json = isObject(content) ? (content["application/json"] ?? content["application/scim+json"]) : undefined;
  return isObject(json) ? json["schema"] : undefined;
}

function resolve(description: Description, value: unknown): unknown {
  if (!isObject(value) || typeof value["$ref"] !== "string") return value;
  let found: unknown = description;
  for (const part of value["$ref"].slice(2).split("/")) found = isObject(found) ? found[part] : undefined;
  return resolve(description, found);
}

function operationSchemas(description: Description, operation: JsonObject) {
  const responses: JsonObject = {};
  for (const [status, response] of Object.entries(isObject(operation["responses"]) ? operation["responses"] : {})) {
    const schema = bodySchema(resolve(description, response));
    responses[status] = schema === undefined ? null : plainSchema(schema);
  }
  const request = bodySchema(resolve(description, operation["requestBody"]));
  return defined({ operationId: operation["operationId"], request: request === undefined ? undefined : plainSchema(request), responses });
}

/** Operations by method and path with stars for what varies. */
function cutRest(description: Description) {
  const wanted = new Set(ROUTES.map((route) => routeKey(route.method, route.path)));
  const operations: JsonObject = {};
  for (const [path, methods] of Object.entries(isObject(description["paths"]) ? description["paths"] : {})) {
    for (const [method, operation] of Object.entries(isObject(methods) ? methods : {})) {
      const key = routeKey(method, path);
      if (wanted.has(key) && isObject(operation)) operations[key] = operationSchemas(description, operation);
    }
  }
  // Here the description wants an account to be a user and an enterprise at once; that of one installation is right.
  operations["GET /app/installations"] = {
    operationId: "apps/list-installations",
    responses: { 200: { type: "array", items: { $ref: "#/definitions/installation" } } },
  };
  const missing = [...wanted].filter((key) => operations[key] === undefined);
  console.log(`not described by GitHub: ${missing.join(", ")}`);
  const schemas = reachedSchemas(description.components.schemas, operations);
  headMayBeGone(schemas["pull-request"]);
  return { version: description.info.version, operations, schemas };
}

/** Where a fork was deleted GitHub answers null for the head's repository and account, which its description of one pull request leaves out. */
function headMayBeGone(pull: unknown): void {
  const head = isObject(pull) && isObject(pull["properties"]) ? pull["properties"]["head"] : undefined;
  const fields = isObject(head) && isObject(head["properties"]) ? head["properties"] : {};
  for (const name of ["repo", "user"]) fields[name] = { anyOf: [fields[name], { type: "null" }] };
}

/** Events by `name.action`. */
function cutWebhooks(description: Description) {
  const events: JsonObject = {};
  for (const webhook of Object.values(isObject(description["webhooks"]) ? description["webhooks"] : {})) {
    const post = isObject(webhook) ? webhook["post"] : undefined;
    if (!isObject(post) || typeof post["operationId"] !== "string" || !EVENTS.test(post["operationId"])) continue;
    const name = post["operationId"].replaceAll("-", "_").replace("/", ".");
    events[name] = plainSchema(bodySchema(post["requestBody"]));
  }
  return { version: description.info.version, events, schemas: reachedSchemas(description.components.schemas, events) };
}

function write(name: string, slice: object): void {
  const text = `${JSON.stringify(slice)}\n`;
  writeFileSync(new URL(name, import.meta.url), text);
  console.log(`${name}: ${Math.round(text.length / 1024)} KB`);
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder that holds node_modules/@octokit/openapi and openapi-webhooks.");
write("rest.generated.json", cutRest(read(folder, "openapi")));
write("webhooks.generated.json", cutWebhooks(read(folder, "openapi-webhooks")));
