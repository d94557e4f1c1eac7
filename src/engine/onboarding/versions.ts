import { compareText } from "../../core/base/compare-text.ts";
import { defined } from "../../core/base/defined.ts";
import { rankOf } from "../../core/base/environments.ts";
import { readYamlDocuments, type YamlDocument } from "../../core/base/yaml-read.ts";
import { findPin } from "../../core/pins/find.ts";
import { isOlder } from "../../core/plan/warnings.ts";
import type { FilePlaces, Place } from "./types.ts";

/** What people call a version, told from what only looks like one. */

const SEMVER = /^(?:[A-Za-z][\w-]*[-@/])?v?\d+(?:\.\d+){1,3}(?:[-+._][\w.+-]*)?$/;
const SHA = /^(?:sha-)?[0-9a-f]{7,40}$/;
/** Build numbers and dates: `1234`, `20260101-1`. */
const NUMBERED = /^(?:build|release|rel|b|r)?[-_]?\d{1,14}(?:[-._]\w+)*$/;
export const DIGEST = /^[\w.-]*@?sha256:[0-9a-f]{64}$/;
const FLOATING = new Set(["HEAD", "main", "master", "trunk", "develop", "dev", "latest", "stable", "edge", "nightly", ""]);

/** Moves by itself: a branch, or a range of chart versions. Nothing in Git says which version it is now. */
export function isFloating(value: string): boolean {
  return FLOATING.has(value) || /[*^~<>|\s]|(?:^|\.)[xX](?:$|\.)/.test(value) || /^refs\/heads\//.test(value);
}

/** Whether a source at this revision of this repo reads what is merged. `base`: the default branch; undefined: nobody tells. */
export function readsBase(revision: string, base: string | undefined): boolean {
  return base === undefined ? isFloating(revision) : ["", "HEAD", base, `refs/heads/${base}`].includes(revision);
}

/** A tag of an image that is moved: what runs is known only where it runs. */
export function isFloatingTag(value: string): boolean {
  return value !== "" && (FLOATING.has(value) || rankOf(value) !== undefined || /(?:^|-)latest(?:-|$)/.test(value));
}

/** A fixed version, tag or commit. */
export function isVersion(value: string): boolean {
  if (value.length > 128 || isFloating(value) || value.includes("{{")) return false;
  return SEMVER.test(value) || SHA.test(value) || NUMBERED.test(value) || DIGEST.test(value) || /\d/.test(value.replace(/^v/, "")[0] ?? "");
}

/** Whether a key is one that holds a version of something. */
export function isVersionKey(key: string): boolean {
  return /(?:^|[._-])(?:tag|version|revision|target_?revision|ref|release|chart_?version|image_?tag|app_?version)$/i.test(
    key.replaceAll(/([a-z])([A-Z])/g, "$1_$2"),
  );
}

/** The most frequent one; of equals a version in numbers, or else the first in order. */
function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(
    ([a, many], [b, few]) => few - many || Number(SEMVER.test(b)) - Number(SEMVER.test(a)) || compareText(a, b),
  )[0]?.[0];
}

/** The newest one, where all of them can be compared; else the most frequent. What moves by itself comes last. */
export function releasedOf(all: readonly string[]): string | undefined {
  const fixed = all.filter((value) => !isFloatingTag(value));
  const values = fixed.length > 0 ? fixed : all;
  const [newest] = values.toSorted((a, b) => (isOlder(a, b) ? 1 : isOlder(b, a) ? -1 : 0));
  return values.every((one) => one === newest || isOlder(one, newest ?? "")) ? newest : mostFrequent(values);
}

/** The value at a place as the bot would read it; undefined where it would refuse to. */
export function valueAt(text: string, path: string, part?: Place["part"]): string | undefined {
  const found = findPin(text, defined({ path, part }));
  return found.ok && found.found.value !== null && found.found.value !== "" ? found.found.value : undefined;
}

/** The documents of a file; where one is broken, that is told. */
export function documentsIn(found: FilePlaces, file: string, text: string): YamlDocument[] {
  const documents = readYamlDocuments(text);
  const broken = documents.find(({ problem }) => problem !== undefined);
  if (broken !== undefined) {
    const [problem = ""] = (broken.problem ?? "").split("\n");
    found.why.push({ kind: "BrokenFile", file, line: broken.line, problem: problem.slice(0, 200) });
  }
  return documents;
}

/** False: there is no version at that place. A tag such as `latest` is one that a release replaces; a branch is none. */
export function add(found: { places: Place[] }, place: Omit<Place, "value">, text: string): boolean {
  const value = valueAt(text, place.path, place.part);
  if (value === undefined || !(isVersion(value) || (isTag(place) && (isFloatingTag(value) || (isSurelyTag(place) && TAG.test(value))))))
    return false;
  found.places.push({ ...place, value });
  return true;
}

export const TAG = /^\w[\w.-]{0,127}$/;

/** Whatever stands there is a tag, such as `dev` or `develop-1a2b3c4`. */
function isSurelyTag({ kind, path }: Omit<Place, "value">): boolean {
  return kind !== "Helm values" || /image[a-z]*(?:\.|_)?tag$/i.test(path);
}

function isTag({ kind, path, part }: Omit<Place, "value">): boolean {
  return (
    kind === "kustomize newTag" ||
    (kind === "inline image" && part === "tag") ||
    (kind === "Helm values" && /(?:^|[._])(?:image_?)?tag$/i.test(path))
  );
}
