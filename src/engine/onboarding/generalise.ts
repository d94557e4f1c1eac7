import { decodeSource } from "../../core/argocd/decode/source.ts";
import { placesOf } from "../../core/argocd/source-places.ts";
import { compareText } from "../../core/base/compare-text.ts";
import { defined } from "../../core/base/defined.ts";
import { environmentIn } from "../../core/base/environments.ts";
import { textAt } from "../../core/base/is-record.ts";
import type { ProposedPin } from "../../core/report/onboarding/types.ts";
import { LIKELY } from "./places-generator.ts";
import { sourcesOf } from "./places-spec.ts";
import type { InitTarget, Place } from "./types.ts";

/** A variable of a pin's template and its value for each target, in order. */
interface Candidate {
  /** `cluster.name`. */
  name: string;
  values: string[];
}

/** Which variables pins of a rollout can be filled in with. */
export interface Variables {
  /** `params.X`: known only where the rollout is about one ApplicationSet. */
  params: boolean;
  /** Labels and namespace of each Application, and where it is made from. */
  applications: boolean;
}

/** Beyond these the search is not worth it: the first ones are the likeliest. */
const MOST_CANDIDATES = 16;

/**
 * The pin whose templates give every target its own place, or the texts that nothing tells apart. One variable is tried before two, and
 * those that are surest first.
 */
export function generalise(
  targets: readonly InitTarget[],
  places: readonly Place[],
  variables: Variables,
): { pin: ProposedPin } | { texts: readonly string[] } {
  const [files, paths] = [places.map((place) => place.file), places.map((place) => place.path)];
  const file = templateOf(targets, files, variables);
  if (file === undefined) return { texts: files };
  const path = templateOf(targets, paths, variables);
  if (path === undefined) return { texts: paths };
  const create = places.some((place) => place.create === true) ? true : undefined;
  return { pin: defined({ file, path, part: places[0]?.part, create }) };
}

const LABEL = "application.labels.env";

/** The label that would tell texts apart by the environment in each, and the text with it; undefined: none would. */
export function labelFor(texts: readonly string[]): { values: string[]; text: string } | undefined {
  const values = texts.map((text) => environmentIn(text) ?? "");
  const text = replaceToken(texts[0] ?? "", values[0] ?? "", LABEL);
  if (text === undefined || new Set(values).size < new Set(texts).size) return undefined;
  return texts.every((one, i) => filled(text, [{ name: LABEL, values }], i) === one) ? { values, text } : undefined;
}

function templateOf(targets: readonly InitTarget[], texts: readonly string[], variables: Variables): string | undefined {
  const [first] = texts;
  if (first === undefined || texts.some((text) => text.includes("{{"))) return undefined;
  if (texts.every((text) => text === first)) return first;
  const candidates = candidatesFor(targets, first, variables);
  for (const one of candidates) {
    const template = replaceToken(first, one.values[0] ?? "", one.name);
    if (template !== undefined && texts.every((text, i) => filled(template, [one], i) === text)) return template;
  }
  for (const one of candidates) {
    const half = replaceToken(first, one.values[0] ?? "", one.name);
    if (half === undefined) continue;
    for (const other of candidates) {
      const template = other === one ? undefined : replaceToken(half, other.values[0] ?? "", other.name);
      if (template !== undefined && texts.every((text, i) => filled(template, [one, other], i) === text)) return template;
    }
  }
  return undefined;
}

/** Variables whose value occurs in the text and that not all targets share. */
function candidatesFor(targets: readonly InitTarget[], text: string, variables: Variables): Candidate[] {
  const candidates: Candidate[] = [];
  const add = (name: string, of: (target: InitTarget) => string | undefined) => {
    const values = targets.map((target) => of(target) ?? "");
    if (values.some((value) => value === "") || values.every((value) => value === values[0])) return;
    if (replaceToken(text, values[0] ?? "", name) !== undefined) candidates.push({ name, values });
  };
  // Several may have the same values today: the one that names a cluster tells them apart tomorrow, too.
  const rank = (key: string) => (LIKELY.includes(key) ? LIKELY.indexOf(key) : LIKELY.length);
  const params = Object.keys(targets[0]?.params ?? {}).sort((a, b) => rank(a) - rank(b) || a.length - b.length || compareText(a, b));
  const sure = targets.every((target) => target.nameIsSure);
  add("controlPlane.name", (target) => target.controlPlane?.name);
  if (sure) add("cluster.name", (target) => target.cluster.name);
  if (variables.params) for (const key of params) add(variable("params", key), (target) => target.params[key]);
  add("application.name", (target) => target.application);
  if (variables.applications) {
    const seen = new Map(targets.map((target) => [target, placesOf(viewsOf(target))]));
    add("application.valuesFile", (target) => seen.get(target)?.valuesFile);
    add("application.path", (target) => seen.get(target)?.path);
    for (const key of Object.keys(targets[0]?.labels ?? {}).sort())
      add(variable("application.labels", key), (target) => target.labels[key]);
    add("destination.namespace", (target) => textAt(target.spec, "destination", "namespace"));
  }
  if (sure)
    for (const key of Object.keys(targets[0]?.cluster.labels ?? {}).sort())
      add(variable("cluster.labels", key), (target) => target.cluster.labels[key]);
  return candidates.slice(0, MOST_CANDIDATES);
}

/** The sources as Argo CD decodes them, of which pins know the places: of a hydrated one those are where it is hydrated to. */
function viewsOf({ spec }: InitTarget) {
  return spec["sourceHydrator"] !== undefined ? [] : sourcesOf(spec).map(({ source }) => decodeSource(source));
}

function variable(root: "params" | "cluster.labels" | "application.labels", key: string): string {
  return /^[\w./-]+$/.test(key) ? `${root}.${key}` : `${root}["${key}"]`;
}

/** Replaces a value where it stands as a word of its own; undefined where it does not, or cannot be named in a template. */
function replaceToken(text: string, value: string, name: string): string | undefined {
  if (value === "" || name.includes("}") || (name.includes('"') && /"[^"]*"[^"]*"/.test(name))) return undefined;
  const escaped = value.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  // What stands in a template already is left alone.
  const pattern = new RegExp(`(?<![A-Za-z0-9{.])${escaped}(?![A-Za-z0-9}])`, "g");
  const parts = text.split(/(\{\{.*?\}\})/);
  const replaced = parts.map((part, i) => (i % 2 === 1 ? part : part.replaceAll(pattern, () => `{{ ${name} }}`))).join("");
  return replaced === text ? undefined : replaced;
}

function filled(template: string, candidates: readonly Candidate[], index: number): string {
  let text = template;
  for (const { name, values } of candidates) text = text.replaceAll(`{{ ${name} }}`, () => values[index] ?? "");
  return text;
}
