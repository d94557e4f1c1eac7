import { defined } from "../../core/base/defined.ts";
import { parseTemplate, renderTemplate, type TemplatePart, type TemplateValues } from "../../core/base/template.ts";
import type { Edit, Release, WeightPart } from "../../core/plan/plan-types.ts";
import { weighed, weightValue } from "../../core/plan/weigh.ts";
import type { Rollout, WeightPin } from "../../core/spec/rollout.ts";
import { type Draft, valuesOf } from "./draft.ts";
import { readValues, renderPlace } from "./targets-pins.ts";
import type { ProblemList } from "./targets-problems.ts";

/**
 * Resolves the weight pins of every target, in the order of the rollout, after its pins. What a step writes is left to
 * planning, which knows the stage and, for a share of replicas, the batch.
 */
export function resolveWeights(
  rollout: Rollout,
  release: Release,
  drafts: readonly Draft[],
  readFile: (path: string) => string | null,
  problems: ProblemList,
): void {
  for (const [i, pin] of (rollout.weightPins ?? []).entries()) {
    const index = rollout.pins.length + i;
    const place = ["spec", "weightPins", i];
    const value = parsed(pin.value);
    for (const draft of drafts) draft.edits[index] = fill(pin, value, place, draft, release, problems);
    readValues(index, place, drafts, readFile, problems);
  }
}

function parsed(template: string): TemplatePart[] {
  const result = parseTemplate(template, true);
  return result.ok ? result.parts : [{ text: template }];
}

function fill(
  pin: WeightPin,
  value: readonly TemplatePart[],
  place: (string | number)[],
  draft: Draft,
  release: Release,
  problems: ProblemList,
): Edit | undefined {
  const where = renderPlace(pin, place, draft, release, problems);
  const parts = where === undefined ? undefined : weightParts(value, valuesOf(draft, release));
  if (where === undefined || parts === undefined) return undefined;
  if ("missing" in parts) {
    problems.add({ code: "TEMPLATE_VALUE", variable: parts.missing, path: [...place, "value"] }, draft.seen.view.name);
    return undefined;
  }
  const weigh = defined({ value: parts.value, replicas: pin.replicas });
  const to = weightValue(parts.value, 100, weighed(pin.replicas ?? 0, 100));
  return { ...where, kind: "value", from: null, to, weigh };
}

/** What can be filled in now is; what a step says stays open. */
function weightParts(parts: readonly TemplatePart[], values: TemplateValues): { value: WeightPart[] } | { missing: string } {
  const value: WeightPart[] = [];
  for (const part of parts) {
    if ("variable" in part && part.variable.root === "step.weight") value.push({ step: "weight" });
    else if ("variable" in part && part.variable.root === "step.replicas") value.push({ step: "replicas" });
    else {
      const rendered = renderTemplate([part], values);
      if (!rendered.ok) return { missing: rendered.missing };
      value.push(rendered.text);
    }
  }
  return { value };
}
