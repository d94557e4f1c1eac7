import { generalise } from "./generalise.ts";
import type { InitTarget, Place, ProposedPin } from "./types.ts";
import { mostFrequent } from "./versions.ts";

/** The pins of one rollout, and what was left out. */
interface Chosen {
  pins: ProposedPin[];
  kinds: Place["kind"][];
  version: string;
  /** Several clusters share a place: they can only move together. */
  shared: boolean;
  guesses: string[];
}

/** Surest first: what is written for one cluster alone, and for nothing else. */
const ORDER: readonly Place["kind"][] = [
  "generator field",
  "targetRevision",
  "kustomize newTag",
  "Helm values",
  "kustomize helmCharts",
  "chart dependency",
  "kustomize ?ref=",
  "inline image",
];

interface Option {
  slot: string;
  kind: Place["kind"];
  places: Place[];
  pin: ProposedPin;
  /** How many different places the targets have. */
  distinct: number;
}

/**
 * Chooses the pins among the places of all targets: a thing that every target has, at a place of its own where there is one,
 * with everything else that has the very same versions. What is there besides is told, not taken.
 */
export function choosePins(
  name: string,
  targets: readonly InitTarget[],
  places: readonly (readonly Place[])[],
): Chosen | { why: string; hint: string } {
  const { options, failed } = optionsOf(targets, places);
  const clusters = new Set(targets.map((target) => target.cluster.name)).size;
  const usable = options.filter((option) => option.distinct > 1 || clusters === 1);
  const [best] = usable.sort((a, b) => score(b, name, clusters) - score(a, name, clusters));
  if (best === undefined) return whyNone(options, failed, places, targets.length);
  const together = usable.filter((option) => option === best || sameValues(option.places, best.places));
  const others = usable.filter((option) => !together.includes(option));
  const version = mostFrequent(best.places.map((place) => place.value)) ?? "";
  const guesses: string[] = [];
  const versions = new Set(best.places.map((place) => place.value));
  if (versions.size > 1)
    guesses.push(`clusters are at ${versions.size} versions (${[...versions].slice(0, 4).join(", ")}); ${version} is the most frequent`);
  if (others.length > 0)
    guesses.push(
      `not among the pins, though a version stands there too: ${others
        .slice(0, 5)
        .map((option) => option.slot)
        .join(", ")}`,
    );
  const pins = together.map((option) => option.pin);
  return { pins, kinds: [...new Set(together.map((option) => option.kind))], version, shared: best.distinct < clusters, guesses };
}

function optionsOf(targets: readonly InitTarget[], places: readonly (readonly Place[])[]): { options: Option[]; failed: string[] } {
  const options: Option[] = [];
  const failed: string[] = [];
  for (const { slot, kind } of places[0] ?? []) {
    const own = places.map((all) => all.find((place) => place.slot === slot));
    const whole = own.filter((place): place is Place => place !== undefined);
    if (whole.length < targets.length) {
      failed.push(`${slot} stands for ${whole.length} of ${targets.length} Applications only`);
      continue;
    }
    const general = generalise(targets, whole);
    if ("why" in general) {
      failed.push(`${slot}: ${general.why}`);
      continue;
    }
    const distinct = new Set(whole.map((place) => `${place.file} ${place.path}`)).size;
    options.push({ slot, kind, places: whole, pin: general.pin, distinct });
  }
  return { options, failed };
}

/** Own places before shared ones, surer kinds before others, things that bear the rollout's name before strangers. */
function score(option: Option, name: string, clusters: number): number {
  const own = option.distinct >= clusters ? 100 : 0;
  const kind = ORDER.length - ORDER.indexOf(option.kind);
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2);
  const named = words.some((word) => option.slot.toLowerCase().includes(word)) ? 2 : 0;
  return own + kind * 4 + named * (option.slot.split(" ").length > 2 ? 2 : 1);
}

function sameValues(a: readonly Place[], b: readonly Place[]): boolean {
  return a.every((place, i) => place.value === b[i]?.value);
}

function whyNone(
  options: readonly Option[],
  failed: readonly string[],
  places: readonly (readonly Place[])[],
  targets: number,
): { why: string; hint: string } {
  const [once] = options;
  if (once !== undefined) {
    const place = once.places[0];
    return {
      why: `its version stands once for all ${targets} Applications (${once.slot}, ${place?.file ?? ""} ${place?.path ?? ""}): they can only move together`,
      hint: "give each cluster a place of its own: an element of a list generator, a file of its own, or two clusters-generator entries",
    };
  }
  if (failed.length > 0)
    return {
      why: failed.slice(0, 3).join("; "),
      hint: "name the places by hand: pins of the rollout may use cluster.name, cluster.labels.X, application.name and params.X",
    };
  const none = places.every((all) => all.length === 0);
  return {
    why: none
      ? "no fixed version was found: it follows a branch, or takes its version from somewhere outside this repo"
      : "no version was found that all its Applications have",
    hint: "give each cluster a version in Git, such as targetRevision of a list element or newTag of an overlay",
  };
}
