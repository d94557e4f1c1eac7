import { defined } from "../../core/base/defined.ts";
import { isRecord, listAt, textAt } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { type PinStep, printPinPath } from "../../core/pins/path.ts";
import type { Manifest, Place } from "./types.ts";
import { add, isVersionKey } from "./versions.ts";

/**
 * Versions that stand in an Application's own spec (or an ApplicationSet's template): `targetRevision`, Helm parameters and
 * values, kustomize images. `below`: the way from the manifest's root to that spec.
 */
export function specPlaces(manifest: Manifest, spec: Record<string, unknown>, below: readonly string[], files: RepoFiles): Place[] {
  const text = readOrNull(files, manifest.file);
  if (text === null) return [];
  const found: { places: Place[] } = { places: [] };
  const document = manifest.documents > 1 ? manifest.document : undefined;
  const root: PinStep[] = [...itemOfList(manifest), ...below.map(key)];
  const put: Put = (kind, slot, steps, part) => {
    const path = printPinPath({ document, steps: [...root, ...steps] });
    return add(found, { kind, slot, file: manifest.file, path, ...defined({ part }) }, text);
  };
  for (const { source, steps, nth } of sourcesOf(spec)) {
    if (source["targetRevision"] !== undefined) put("targetRevision", `targetRevision${nth}`, [...steps, key("targetRevision")]);
    putHelm(source["helm"], [...steps, key("helm")], put);
    putImages(source, [...steps, key("kustomize"), key("images")], put);
  }
  return found.places;
}

/** The way to an object that stands in a List. */
export function itemOfList({ item }: Pick<Manifest, "item">): PinStep[] {
  return item === undefined ? [] : [key("items"), { kind: "index", index: item }];
}

type Put = (kind: Place["kind"], slot: string, steps: PinStep[], part?: Place["part"]) => boolean;

function putHelm(helm: unknown, steps: readonly PinStep[], put: Put): void {
  if (!isRecord(helm)) return;
  for (const parameter of listAt(helm, "parameters")) {
    const name = textAt(parameter, "name");
    if (name === undefined || !isVersionKey(name)) continue;
    const match = { kind: "match", key: "name", value: name } as const;
    put("Helm values", `helm parameter ${name}`, [...steps, key("parameters"), match, key("value")]);
  }
  for (const way of versionKeys(helm["valuesObject"]))
    put("Helm values", `helm valuesObject ${way.join(".")}`, [...steps, key("valuesObject"), ...way.map(key)]);
  if (typeof helm["values"] === "string") putBlock(helm["values"], [...steps, key("values")], put);
}

function putImages(source: unknown, steps: readonly PinStep[], put: Put): void {
  for (const [index, image] of listAt(source, "kustomize", "images").entries()) {
    if (typeof image !== "string") continue;
    const part = image.includes("@") ? "tag+digest" : "tag";
    put("inline image", `kustomize image ${image.replace(/[:@].*$/s, "")}`, [...steps, { kind: "index", index }], part);
  }
}

/** YAML in a block scalar: the two keys images have in nearly every chart. */
function putBlock(values: string, steps: readonly PinStep[], put: Put): void {
  for (const way of [["image", "tag"], ["tag"], ["version"]]) {
    if (!values.includes(`${way.at(-1)}:`)) continue;
    const slot = `helm values ${way.join(".")}`;
    if (put("Helm values", slot, [...steps, { kind: "into" }, ...way.map(key)])) return;
  }
}

interface SourceAt {
  source: Record<string, unknown>;
  steps: PinStep[];
  /** ` 2` for the second of several, for slots. */
  nth: string;
}

/** `sources` wins over `source`, as in Argo CD. A hydrated one is made from what is dry. */
export function sourcesOf(spec: Record<string, unknown>): SourceAt[] {
  const sources = listAt(spec, "sources");
  if (sources.length > 0) {
    return sources.flatMap((source, index) =>
      isRecord(source)
        ? [{ source, steps: [key("sources"), { kind: "index" as const, index }], nth: sources.length > 1 ? ` ${index + 1}` : "" }]
        : [],
    );
  }
  const { source, sourceHydrator } = spec;
  if (isRecord(source)) return [{ source, steps: [key("source")], nth: "" }];
  const dry = isRecord(sourceHydrator) ? sourceHydrator["drySource"] : undefined;
  return isRecord(dry) ? [{ source: dry, steps: [key("sourceHydrator"), key("drySource")], nth: "" }] : [];
}

export function key(name: string): PinStep {
  return { kind: "key", key: name };
}

export function pathOf(...steps: PinStep[]): string {
  return printPinPath({ document: undefined, steps });
}

const DEEPEST = 8;
const MOST = 50;

/** Ways down to `image.tag` and keys like it, the shortest first. */
export function versionKeys(values: unknown): string[][] {
  const ways: string[][] = [];
  const walk = (value: unknown, way: string[]): void => {
    if (!isRecord(value) || way.length >= DEEPEST || ways.length >= MOST) return;
    for (const [name, item] of Object.entries(value)) {
      const under = [...way, name];
      if (isRecord(item)) walk(item, under);
      else if ((typeof item === "string" || typeof item === "number") && isImageKey(under)) ways.push(under);
    }
  };
  walk(values, []);
  return ways.sort((a, b) => a.length - b.length);
}

/** `image.tag`, `app.image.tag`, `imageTag`; a bare `version` deep inside is mostly an API's. */
function isImageKey(way: readonly string[]): boolean {
  const last = way.at(-1) ?? "";
  const before = way.at(-2) ?? "";
  if (/^(?:image_?tag|tag)$/i.test(last)) return true;
  if (way.length <= 2 && /^(?:app_?version|version|revision|targetRevision|release)$/i.test(last)) return true;
  return /image/i.test(before) && isVersionKey(last);
}
