/** Versions in the kustomization that an Application is made of: its own, and those of its bases, which it may override. Called by `places-files.ts`. */
import { joinPath } from "../../core/base/clean-path.ts";
import { dig, isRecord, listAt, textAt } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readYamlDocuments } from "../../core/base/yaml-read.ts";
import type { PinStep } from "../../core/pins/path.ts";
import { filesTakenBy, kustomizationsIn } from "../config-repo/kustomize.ts";
import { key, pathOf } from "./places-spec.ts";
import type { FilePlaces } from "./types.ts";
import { add, documentsIn, TAG } from "./versions.ts";

/** Ways to the containers of workloads. */
export const POD_SPECS = ["spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec"];

const KUSTOMIZATIONS = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Places in the kustomization of a folder. An image that only a base gives a version is a place to be made. */
export function kustomizationPlaces(found: FilePlaces, folder: string, files: RepoFiles, all: ReadonlySet<string>): void {
  const file = KUSTOMIZATIONS.map((name) => joinPath(folder, name)).find((name) => all.has(name));
  const text = file === undefined ? null : readOrNull(files, file);
  if (file === undefined || text === null) return;
  const data = documentsIn(found, file, text)[0]?.value;
  const own = new Set<string>();
  for (const image of listAt(data, "images")) {
    const name = textAt(image, "name");
    if (name === undefined) continue;
    own.add(name);
    const steps = imageSteps(name);
    const which = isRecord(image) && image["newTag"] === undefined && image["digest"] !== undefined ? "digest" : "newTag";
    const outdone = which === "newTag" && isRecord(image) && image["digest"] !== undefined ? { outdone: true as const } : {};
    const slot = `kustomize ${which} ${name}`;
    add(found, { kind: "kustomize newTag", slot, file, path: pathOf(...steps, key(which)), image: name, ...outdone }, text);
  }
  for (const helm of listAt(data, "helmCharts")) {
    const name = textAt(helm, "name");
    if (name === undefined) continue;
    const steps = [key("helmCharts"), { kind: "match" as const, key: "name", value: name }, key("version")];
    add(found, { kind: "kustomize helmCharts", slot: `kustomize helmCharts ${name}`, file, path: pathOf(...steps) }, text);
  }
  for (const list of ["resources", "bases", "components"]) {
    for (const [index, item] of listAt(data, list).entries()) {
      if (typeof item !== "string" || !/[?&]ref=/.test(item)) continue;
      const slot = `kustomize ref ${item.replace(/[?&]ref=.*$/, "")}`;
      add(found, { kind: "kustomize ?ref=", slot, file, path: pathOf(key(list), { kind: "index", index }), part: "ref" }, text);
    }
  }
  for (const [name, tag] of imagesBelow(files, all, folder, 0)) {
    if (own.has(name) || tag === undefined || !TAG.test(tag)) continue;
    const place = {
      kind: "kustomize newTag",
      slot: `kustomize newTag ${name}`,
      file,
      path: pathOf(...imageSteps(name), key("newTag")),
    } as const;
    found.places.push({ ...place, image: name, value: tag, create: true });
  }
}

/** Tells of the first broken file among those that a folder's kustomization takes from others. */
export function brokenBelow(found: FilePlaces, folder: string, files: RepoFiles): void {
  const kustomizations = kustomizationsIn(files);
  const folders = new Set<string>();
  const take = (one: string) => {
    if (!kustomizations.has(one) || folders.has(one)) return;
    folders.add(one);
    for (const resource of kustomizations.get(one)?.resources ?? []) take(resource);
  };
  take(folder === "" ? "." : folder);
  const own = [...folders].flatMap((one) => kustomizations.get(one)?.file ?? []);
  for (const file of [...own.slice(1), ...filesTakenBy(kustomizations, folder)].slice(0, MOST_FILES)) {
    if (/\.ya?ml$/.test(file)) documentsIn(found, file, readOrNull(files, file) ?? "");
  }
}

function imageSteps(name: string): PinStep[] {
  return [key("images"), { kind: "match", key: "name", value: name }];
}

/** Name and tag; undefined: there are several, or none. */
type Images = Map<string, string | undefined>;

const DEEPEST = 5;
const MOST_FILES = 100;

/** Images of what a kustomization takes from other folders, before it changes any itself. */
function imagesBelow(files: RepoFiles, all: ReadonlySet<string>, folder: string, depth: number): Images {
  const images: Images = new Map();
  const put = (name: string, tag: string | undefined) => images.set(name, images.has(name) && images.get(name) !== tag ? undefined : tag);
  const kustomizations = kustomizationsIn(files);
  const { resources = [] } = kustomizations.get(folder === "" ? "." : folder) ?? {};
  for (const resource of depth > DEEPEST ? [] : resources.slice(0, MOST_FILES)) {
    if (kustomizations.has(resource)) for (const [name, tag] of imagesPassed(files, all, resource, depth + 1)) put(name, tag);
    else if (all.has(resource)) for (const [name, tag] of imagesWritten(readOrNull(files, resource) ?? "")) put(name, tag);
  }
  return images;
}

/** The same, once that kustomization has changed them. */
function imagesPassed(files: RepoFiles, all: ReadonlySet<string>, folder: string, depth: number): Images {
  const images = imagesBelow(files, all, folder, depth);
  const file = KUSTOMIZATIONS.map((name) => joinPath(folder, name)).find((name) => all.has(name));
  const data = file === undefined ? undefined : readYamlDocuments(readOrNull(files, file) ?? "")[0]?.value;
  for (const image of listAt(data, "images")) {
    const name = textAt(image, "name");
    if (name === undefined || !isRecord(image)) continue;
    const before = images.get(name);
    images.delete(name);
    const fresh = image["digest"] === undefined ? (textAt(image, "newTag") ?? before) : undefined;
    images.set(textAt(image, "newName") ?? name, fresh);
  }
  return images;
}

/** Images of workloads in a file of manifests, but for those by digest. */
function imagesWritten(text: string): [string, string | undefined][] {
  if (!/\bimage:/.test(text)) return [];
  return readYamlDocuments(text).flatMap(({ value }) =>
    POD_SPECS.flatMap((spec) =>
      ["containers", "initContainers"]
        .flatMap((list) => listAt(dig(value, ...spec.split(".")), list))
        .flatMap((container) => {
          const image = textAt(container, "image");
          if (image === undefined || image.includes("{{")) return [];
          const [, name = image, tag] = /^(.*?)(?::([^/:@]+))?$/s.exec(image.replace(/@.*$/s, "")) ?? [];
          return [[name, image.includes("@") ? undefined : tag] as [string, string | undefined]];
        }),
    ),
  );
}
