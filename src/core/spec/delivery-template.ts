import { splitBraces } from "../base/braces.ts";
import type { TemplateFault } from "../base/template.ts";

/** What the templates of `delivery` (title, body, commitMessage) may hold, each with a sentence for the reference page. */
export const DELIVERY_VARIABLES = {
  "rollout.name": "name of the rollout",
  "run.number": "number of the run",
  "release.version": "the release; `name=value, …` where it has several values",
  "release.pull": "number of the release PR; empty where there is none",
  "release.author": "who brought the release in",
  "stage.name": "name of the stage",
  "batch.number": "number of the batch in its stage",
  "batch.of": "how many batches the stage has",
  "batch.name": "`batch 2 of 3 of canary`",
  "batch.attempt": "1, and one more each time the batch is built again",
  "batch.clusters": "names of its clusters, shortened where there are many",
  "batch.size": "how many clusters it has",
} as const;

export type DeliveryVariable = keyof typeof DELIVERY_VARIABLES;

export type DeliveryPart = { text: string } | { variable: DeliveryVariable } | { value: string };

export type DeliveryTemplate = { ok: true; parts: DeliveryPart[] } | { ok: false; fault: TemplateFault };

const KNOWN: readonly string[] = [...Object.keys(DELIVERY_VARIABLES), "release.values.X"];

/** Splits a template of `delivery` into texts, variables and values of the release. */
export function parseDeliveryTemplate(template: string): DeliveryTemplate {
  const parts: DeliveryPart[] = [];
  const split = splitBraces(template);
  if (split === undefined) return { ok: false, fault: { kind: "Open", template: template.slice(0, 100) } };
  for (const piece of split) {
    const source = "tag" in piece ? piece.tag.trim() : "";
    const part = "tag" in piece ? partOf(source) : piece;
    if (part === undefined) return { ok: false, fault: { kind: "Unknown", variable: source.slice(0, 100), known: KNOWN } };
    parts.push(part);
  }
  return { ok: true, parts };
}

function partOf(source: string): DeliveryPart | undefined {
  if (Object.hasOwn(DELIVERY_VARIABLES, source)) return { variable: source as DeliveryVariable };
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
  let text = "";
  for (const part of parsed.parts) {
    if ("text" in part) text += part.text;
    else if ("variable" in part) text += variables[part.variable];
    else text += Object.hasOwn(values, part.value) ? (values[part.value] ?? "") : "";
  }
  return text;
}
