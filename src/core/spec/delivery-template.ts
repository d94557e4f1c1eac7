import { splitBraces } from "../base/braces.ts";
import type { TemplateFault } from "../base/template.ts";

/** What the templates of `delivery` (title, body, commitMessage) may hold, besides `release.values.X`. */
const DELIVERY_VARIABLES = [
  "rollout.name",
  "run.number",
  "release.version",
  "release.pull",
  "release.author",
  "stage.name",
  "batch.number",
  "batch.of",
  "batch.name",
  "batch.attempt",
  "batch.clusters",
  "batch.size",
] as const;

export type DeliveryVariable = (typeof DELIVERY_VARIABLES)[number];

type DeliveryPart = { text: string } | { variable: DeliveryVariable } | { value: string };

type DeliveryTemplate = { ok: true; parts: DeliveryPart[] } | { ok: false; fault: TemplateFault };

/** Splits a template of `delivery` into texts, variables and values of the release. */
export function parseDeliveryTemplate(template: string): DeliveryTemplate {
  const parts: DeliveryPart[] = [];
  const split = splitBraces(template);
  if (split === undefined) return { ok: false, fault: { kind: "Open", template: template.slice(0, 100) } };
  for (const piece of split) {
    const source = "tag" in piece ? piece.tag.trim() : "";
    const part = "tag" in piece ? partOf(source) : piece;
    if (part === undefined)
      return { ok: false, fault: { kind: "Unknown", variable: source.slice(0, 100), known: [...DELIVERY_VARIABLES, "release.values.X"] } };
    parts.push(part);
  }
  return { ok: true, parts };
}

function partOf(source: string): DeliveryPart | undefined {
  const variable = DELIVERY_VARIABLES.find((one) => one === source);
  if (variable !== undefined) return { variable };
  const value = /^release\.values\.([A-Za-z][A-Za-z0-9_]*)$/.exec(source)?.[1];
  return value === undefined ? undefined : { value };
}

/** Fills a template in. One that is wrong gives itself: lint has said so, and a batch is not held up by words. */
export function fillDelivery(
  template: string,
  variables: Readonly<Record<DeliveryVariable, string>>,
  values: Readonly<Record<string, string>>,
): string {
  const parsed = parseDeliveryTemplate(template);
  if (!parsed.ok) return template;
  return parsed.parts
    .map((part) => {
      if ("text" in part) return part.text;
      if ("variable" in part) return variables[part.variable];
      return Object.hasOwn(values, part.value) ? values[part.value] : "";
    })
    .join("");
}
