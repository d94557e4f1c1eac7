/** OpenAPI's schemas as plain JSON Schema: without texts and examples, `nullable` said with types. */

export type JsonObject = { [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What says nothing about what is valid. */
const IDLE = new Set(["description", "example", "examples", "title", "default", "externalDocs", "deprecated", "nullable", "xml"]);

const REFERENCE = /^#\/components\/schemas\//;

export function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema);
  if (!isObject(schema)) return schema;
  if (typeof schema["$ref"] === "string") return { $ref: schema["$ref"].replace(REFERENCE, "#/definitions/") };
  const plain: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (IDLE.has(key) || key.startsWith("x-")) continue;
    // GitHub's bots have addresses that no standard knows: `1+app[bot]@users.noreply.github.com`.
    if (key === "format" && value === "email") continue;
    // Its alternatives are not meant to exclude each other: many an answer fits two of them.
    if (key === "oneOf") {
      plain["anyOf"] = plainSchema(value);
      continue;
    }
    plain[key] = key === "properties" || key === "patternProperties" ? plainProperties(value) : plainValue(key, value);
  }
  return schema["nullable"] === true ? orNull(plain) : plain;
}

/** Names of properties are no keywords. The list of events an App may ask for is older than merge queues: any will do. */
function plainProperties(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, name === "events" ? { type: "array" } : plainSchema(schema)]),
  );
}

function plainValue(key: string, value: unknown): unknown {
  return key === "enum" || key === "required" || key === "const" || key === "type" ? value : plainSchema(value);
}

function orNull(schema: JsonObject): JsonObject {
  if (
    typeof schema["type"] === "string" &&
    schema["anyOf"] === undefined &&
    schema["oneOf"] === undefined &&
    schema["allOf"] === undefined
  ) {
    const values = Array.isArray(schema["enum"]) ? { enum: [...new Set([...schema["enum"], null])] } : {};
    return { ...schema, type: [schema["type"], "null"], ...values };
  }
  return { anyOf: [schema, { type: "null" }] };
}

/** The named schemas that something needs, and those that these need. */
export function reachedSchemas(all: JsonObject, start: unknown): JsonObject {
  const reached: JsonObject = {};
  const queue: unknown[] = [start];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (Array.isArray(next)) queue.push(...next);
    if (!isObject(next)) continue;
    queue.push(...Object.values(next));
    const [, name] = typeof next["$ref"] === "string" ? (/^#\/definitions\/(.+)$/.exec(next["$ref"]) ?? []) : [];
    if (name === undefined || reached[name] !== undefined) continue;
    reached[name] = plainSchema(all[name]);
    queue.push(reached[name]);
  }
  return reached;
}
