/** Chooses the pins of a rollout among the places where versions of its Applications stand. Called by `propose.ts`. */
import type { Guess, Hindrance, Question, SlotHindrance } from "../../core/reasons/onboarding.ts";
import type { ProposedPin, ProposedRelease } from "../../core/report/onboarding/types.ts";
import { generalise, labelFor, type Variables } from "./generalise.ts";
import type { InitTarget, Place } from "./types.ts";
import { DIGEST, isFloatingTag, releasedOf } from "./versions.ts";

/** The pins of one rollout, and what was left out. */
export interface Chosen {
  pins: ProposedPin[];
  kinds: Place["kind"][];
  release: ProposedRelease;
  /** Of each target, in their order: where its pins write. */
  places: Place[][];
  /** Several targets share a place: they can only move together. */
  shared: boolean;
  guesses: Guess[];
  questions: Question[];
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

interface Choosing {
  name: string;
  /** How many clusters or Applications are counted. */
  counted: number;
  variables: Variables;
}

/**
 * Chooses the pins among the places of all targets: a thing that every target has, at a place of its own where there is one.
 * Images of other names are never given its version: each has a value of its own. What is there besides is told, not taken.
 */
export function choosePins(
  targets: readonly InitTarget[],
  places: readonly (readonly Place[])[],
  choosing: Choosing,
): Chosen | { why: Hindrance } {
  const { name, counted } = choosing;
  const { options, failed } = optionsOf(targets, places, choosing.variables);
  const usable = options.filter((option) => option.distinct > 1 || counted === 1);
  const [best] = usable.sort((a, b) => score(b, name, counted) - score(a, name, counted));
  if (best === undefined) return whyNone(options, failed, places, targets.length);
  const together = usable.filter(
    (option) =>
      option === best || (sameValues(option.places, best.places) && isSameThing(option, best) && isThere(option) === isThere(best)),
  );
  const images = ownImages(best, together, usable);
  const taken = [...together, ...images.flatMap(({ options: own }) => own)];
  const others = usable.filter((option) => !taken.includes(option) && isThere(option));
  const shared = best.distinct < counted;
  const kinds = [...new Set(taken.map((option) => option.kind))];
  const written = targets.map((_, i) => taken.flatMap((option) => option.places[i] ?? []));
  if (images.length === 0) {
    const { version, guesses, questions: asked } = versionOf(best);
    const pins = together.map((option) => option.pin);
    const release = { version };
    return { pins, kinds, release, places: written, shared, guesses, questions: [...asked, ...othersAsked(others, release)] };
  }
  const several = severalValues([{ thing: thingOf(best), options: together }, ...images]);
  const questions = [...several.questions, ...othersAsked(others, several.release)];
  return { ...several, questions, places: written, kinds, shared };
}

function versionOf({ places }: Pick<Option, "places">): { version: string; guesses: Guess[]; questions: Question[] } {
  const values = places.map((place) => place.value);
  const version = releasedOf(values) ?? "";
  const versions = new Set(values);
  const guesses: Guess[] = isThere({ places }) ? [] : [{ kind: "DefaultForAll", version }];
  if (isFloatingTag(version)) guesses.push({ kind: "MovesByItself", version });
  const questions: Question[] = versions.size > 1 ? [{ kind: "WhichVersion", versions: [...versions], taken: version }] : [];
  return { version, guesses, questions };
}

interface Image {
  thing: string;
  options: Option[];
}

/** Each image by a name of its own: a release changes one of the values, or several. */
function severalValues(
  images: readonly Image[],
): Pick<Chosen, "pins" | "guesses" | "questions"> & { release: { values: Record<string, string> } } {
  const values: Record<string, string> = {};
  const pins: ProposedPin[] = [];
  const guesses: Guess[] = [{ kind: "SeveralImages", images: images.length }];
  const asked: Question[] = [];
  for (const { thing, options } of images) {
    const [first] = options;
    if (first === undefined) continue;
    const name = valueName(thing, values);
    const { version } = versionOf(first);
    values[name] = version;
    pins.push(...options.map(({ pin }) => ({ ...pin, value: `{{ release.values.${name} }}` })));
    const standing = [...new Set(first.places.map((place) => place.value))];
    if (standing.length > 1) asked.push({ kind: "WhichValue", name, values: [version, ...standing.filter((value) => value !== version)] });
  }
  return { pins, release: { values }, guesses, questions: asked };
}

/** A name that templates may use. */
function valueName(thing: string, taken: Record<string, string>): string {
  const last = thing.split("/").findLast((part) => part !== "") ?? "version";
  const plain = last.replaceAll(/[^A-Za-z0-9]+/g, "_").replace(/^[^A-Za-z]+/, "") || "version";
  let name = plain;
  for (let n = 2; Object.hasOwn(taken, name); n++) name = `${plain}_${n}`;
  return name;
}

const MOST_IMAGES = 20;

/** Other images of the same maker, in places of the same kind as the best one: they have versions of their own. */
function ownImages(best: Option, together: readonly Option[], usable: readonly Option[]): Image[] {
  if (best.places[0]?.image === undefined) return [];
  const maker = makerOf(best);
  const others = usable.filter(
    (option) => !together.includes(option) && option.kind === best.kind && option.distinct === best.distinct && makerOf(option) === maker,
  );
  const images = [...Map.groupBy(others, thingOf)].map(([thing, options]) => ({
    thing,
    options: options.filter((one, i) => i === 0 || sameValues(one.places, options[0]?.places ?? [])),
  }));
  return images.slice(0, MOST_IMAGES);
}

/** `ghcr.io/acme/shop` is by `ghcr.io/acme`. */
function makerOf(option: Option): string {
  return (option.places[0]?.image ?? "").replace(/[^/]*$/, "");
}

function thingOf(option: Option): string {
  return option.places[0]?.image ?? option.slot;
}

/** Two images of different names never have one value; of what is no image nobody can tell. */
function isSameThing(one: Option, other: Option): boolean {
  const [a, b] = [one.places[0]?.image, other.places[0]?.image];
  return a === undefined || b === undefined || a === b;
}

const MOST_OTHERS = 5;

/** An answer has to be valid as it is told: where the release's version is none of it, it has a value of its own. */
function othersAsked(others: readonly Option[], release: { version: string } | { values: Record<string, string> }): Question[] {
  const taken: Record<string, string> = "values" in release ? { ...release.values } : { version: release.version };
  return others.slice(0, MOST_OTHERS).map((option) => {
    const { slot, pin, places } = option;
    const values = [...new Set(places.map(({ value }) => value))];
    if (places.some(({ outdone }) => outdone)) return { kind: "BringAlong", slot, values, pin, outdone: true };
    if ("version" in release && isDigestPlace(option) === DIGEST.test(release.version)) return { kind: "BringAlong", slot, values, pin };
    const name = valueName(thingOf(option), taken);
    const value = versionOf(option).version;
    taken[name] = value;
    const own = { name, value, ...("version" in release ? { beside: release.version } : {}) };
    return { kind: "BringAlong", slot, values, pin: { ...pin, value: `{{ release.values.${name} }}` }, own };
  });
}

const isDigestPlace = ({ pin }: Option) => "path" in pin && (/\.digest$/.test(pin.path) || pin.part === "digest");

function optionsOf(
  targets: readonly InitTarget[],
  places: readonly (readonly Place[])[],
  variables: Variables,
): { options: Option[]; failed: SlotHindrance[] } {
  const options: Option[] = [];
  const failed: SlotHindrance[] = [];
  for (const { slot, kind } of places[0] ?? []) {
    const own = places.map((all) => all.find((place) => place.slot === slot));
    const whole = own.filter((place): place is Place => place !== undefined);
    if (whole.length < targets.length) {
      failed.push({ slot, kind: "OfSome", have: whole.length, applications: targets.length });
      continue;
    }
    const general = generalise(targets, whole, variables);
    if ("texts" in general) {
      failed.push({ slot, kind: "NotToldApart", texts: general.texts, label: labelFor(general.texts) });
      continue;
    }
    const distinct = new Set(whole.map((place) => `${place.file} ${place.path}`)).size;
    options.push({ slot, kind, places: whole, pin: general.pin, distinct });
  }
  return { options, failed };
}

/** Own places before shared ones, surer kinds before others, things that bear the rollout's name before strangers. */
function score(option: Option, name: string, counted: number): number {
  const own = option.distinct >= counted ? 100 : 0;
  const there = isThere(option) ? 50 : 0;
  const kind = ORDER.length - ORDER.indexOf(option.kind);
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2);
  const named = words.some((word) => option.slot.toLowerCase().includes(word)) ? 2 : 0;
  return own + there + kind * 4 + named * (option.slot.split(" ").length > 2 ? 2 : 1) + (isOfTheWorld(option) ? 0 : 1);
}

/** `redis` and `postgres` are of Docker's library: what a repo releases is somebody's. */
function isOfTheWorld({ kind, places }: Option): boolean {
  const image = places[0]?.image;
  return (
    image !== undefined &&
    (kind === "kustomize newTag" || kind === "inline image") &&
    !image.replace(/^(?:docker\.io\/)?(?:library\/)?/, "").includes("/")
  );
}

/** False: for some it is to be made, over what an earlier file says. */
function isThere({ places }: Pick<Option, "places">): boolean {
  return places.every((place) => place.create !== true);
}

function sameValues(a: readonly Place[], b: readonly Place[]): boolean {
  return a.every((place, i) => place.value === b[i]?.value);
}

function whyNone(
  options: readonly Option[],
  failed: readonly SlotHindrance[],
  places: readonly (readonly Place[])[],
  targets: number,
): { why: Hindrance } {
  const [once] = options;
  if (once !== undefined) {
    const { file = "", path = "" } = once.places[0] ?? {};
    return { why: { kind: "OneVersionForAll", applications: targets, slot: once.slot, file, path } };
  }
  if (failed.length > 0) return { why: { kind: "NoPin", slots: failed } };
  return { why: { kind: "NoVersion", anywhere: places.some((all) => all.length > 0), because: [] } };
}
