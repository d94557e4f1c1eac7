/**
 * Cuts what notifications are checked against out of the published schemas of Adaptive Cards and CloudEvents, as plain JSON Schema. By hand:
 *
 *   node test/schemas/cut-notify.ts adaptive-card.json cloudevents.json
 *
 * The files: `schemas/1.4.0/adaptive-card.json` of microsoft/AdaptiveCards, `cloudevents/formats/cloudevents.json` of cloudevents/spec.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { isObject, type JsonObject } from "./plain-schema.ts";

/** Elements and actions that are used: of the rest nothing is kept. */
const USED = /\/(AdaptiveCard|RichTextBlock|TextRun|Action\.OpenUrl)$/;
/** Words of the publisher's own tools. */
const FOREIGN = new Set(["version", "features", "description", "examples", "default", "$schema", "id"]);

function plain(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => plain(one));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => isNames || !FOREIGN.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, plain(inner, name === "properties" || name === "definitions")]));
}

function narrowed(definitions: JsonObject): JsonObject {
  const isUsed = (one: unknown) =>
    JSON.stringify(one)
      .match(/#\/definitions\/[\w.]+/g)
      ?.every((ref) => USED.test(ref)) === true;
  return Object.fromEntries(
    Object.entries(definitions).map(([name, one]) => {
      const union = isObject(one) && name.startsWith("ImplementationsOf.") ? one["anyOf"] : undefined;
      return [name, Array.isArray(union) ? { anyOf: union.filter(isUsed) } : one];
    }),
  );
}

/** Those that are reached from a definition. */
function reached(definitions: JsonObject, from: string): JsonObject {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const [, ref = ""] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([\w.]+)"/g)) visit(ref);
  };
  visit(from);
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => found.has(name)));
}

const [cards = "", events = ""] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const { definitions } = plain(JSON.parse(cards)) as { definitions: JsonObject };
const card = reached(narrowed(definitions), "AdaptiveCard");
const slices = { adaptiveCard: { $ref: "#/definitions/AdaptiveCard", definitions: card }, cloudEvent: plain(JSON.parse(events)) };
writeFileSync(new URL("notify.generated.json", import.meta.url), `${JSON.stringify(slices)}\n`);
