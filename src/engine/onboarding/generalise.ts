import { compareText } from "../../core/base/compare-text.ts";
import { defined } from "../../core/base/defined.ts";
import { findPin } from "../../core/pins/find.ts";
import type { InitTarget, Place, ProposedPin } from "./types.ts";

/** A variable of a pin's template and its value for each target, in order. */
interface Candidate {
  /** `cluster.name`. */
  name: string;
  values: string[];
}

/** Beyond these the search is not worth it: the first ones are the likeliest. */
const MOST_CANDIDATES = 16;

/**
 * The pin whose templates give every target its own place, or why there is none. One variable is tried before two, and
 * those that are surest first.
 */
export function generalise(targets: readonly InitTarget[], places: readonly Place[]): { pin: ProposedPin } | { why: string } {
  const [first] = places;
  if (first === undefined) return { why: "there is no place" };
  const file = templateOf(
    targets,
    places.map((place) => place.file),
  );
  if (file === undefined)
    return { why: `no name of a cluster, Application or parameter tells ${sample(places.map((place) => place.file))} apart` };
  const path = templateOf(
    targets,
    places.map((place) => place.path),
  );
  if (path === undefined)
    return { why: `no name of a cluster, Application or parameter tells ${sample(places.map((place) => place.path))} apart` };
  return { pin: defined({ file, path, part: first.part }) };
}

function sample(texts: readonly string[]): string {
  const different = [...new Set(texts)];
  const shown = different.slice(0, 2).join(" and ");
  return different.length > 2 ? `${shown} (and ${different.length - 2} more)` : shown;
}

function templateOf(targets: readonly InitTarget[], texts: readonly string[]): string | undefined {
  const [first] = texts;
  if (first === undefined || texts.some((text) => text.includes("{{"))) return undefined;
  if (texts.every((text) => text === first)) return first;
  const candidates = candidatesFor(targets, first);
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
function candidatesFor(targets: readonly InitTarget[], text: string): Candidate[] {
  const candidates: Candidate[] = [];
  const add = (name: string, of: (target: InitTarget) => string | undefined) => {
    const values = targets.map((target) => of(target) ?? "");
    if (values.some((value) => value === "") || values.every((value) => value === values[0])) return;
    if (replaceToken(text, values[0] ?? "", name) !== undefined) candidates.push({ name, values });
  };
  const params = Object.keys(targets[0]?.params ?? {}).sort((a, b) => a.length - b.length || compareText(a, b));
  const sure = targets.every((target) => target.nameIsSure);
  if (sure) add("cluster.name", (target) => target.cluster.name);
  for (const key of params) add(variable("params", key), (target) => target.params[key]);
  add("application.name", (target) => target.application);
  if (sure)
    for (const key of Object.keys(targets[0]?.cluster.labels ?? {}).sort())
      add(variable("cluster.labels", key), (target) => target.cluster.labels[key]);
  return candidates.slice(0, MOST_CANDIDATES);
}

function variable(root: "params" | "cluster.labels", key: string): string {
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

/** The value at a place as the bot would read it; undefined where it would refuse to. */
export function valueAt(text: string, path: string, part?: Place["part"]): string | undefined {
  const found = findPin(text, defined({ path, part }));
  return found.ok && found.found.value !== null && found.found.value !== "" ? found.found.value : undefined;
}
