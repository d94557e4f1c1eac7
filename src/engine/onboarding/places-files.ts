import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readYamlDocuments } from "../../core/base/yaml-read.ts";
import { type PinStep, parsePinPath, printPinPath } from "../../core/pins/path.ts";
import { add } from "./places-generator.ts";
import { sourcesOf, versionKeys } from "./places-spec.ts";
import { listAt, textAt } from "./scan.ts";
import type { InitTarget, Place } from "./types.ts";
import { isFloating } from "./versions.ts";

/** A repo's files, with their paths to look up. */
export interface RepoView {
  files: RepoFiles;
  all: ReadonlySet<string>;
  isThisRepo(repoURL: string): boolean;
}

/** Versions in the files an Application is made of: kustomizations, Helm values, Chart.yaml, plain manifests. */
export function filePlaces(target: InitTarget, { files, all, isThisRepo }: RepoView): Place[] {
  const found: { places: Place[] } = { places: [] };
  const sources = sourcesOf(target.spec).map(({ source }) => source);
  for (const source of sources) {
    valuesFiles(found, source, sources, files, all, isThisRepo);
    const path = textAt(source, "path");
    // What is read at a tag is pinned by that tag: its files tell nothing of what is live.
    if (path === undefined || !isThisRepo(textAt(source, "repoURL") ?? "") || !isFloating(textAt(source, "targetRevision") ?? "")) continue;
    const folder = tidy(path);
    kustomization(found, folder, files, all);
    chart(found, folder, files, all);
    if (!all.has(`${folder}/kustomization.yaml`) && !all.has(`${folder}/Chart.yaml`)) manifests(found, folder, files, all);
  }
  return found.places;
}

/** `./apps/a/` → `apps/a`; `a/../b` → `b`. */
function tidy(path: string): string {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return steps.join("/");
}

function at(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function key(name: string): PinStep {
  return { kind: "key", key: name };
}

function path(...steps: PinStep[]): string {
  return printPinPath({ document: undefined, steps });
}

function documentOf(text: string): unknown {
  return readYamlDocuments(text)[0]?.value;
}

const KUSTOMIZATIONS = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

function kustomization(found: { places: Place[] }, folder: string, files: RepoFiles, all: ReadonlySet<string>): void {
  const file = KUSTOMIZATIONS.map((name) => at(folder, name)).find((name) => all.has(name));
  const text = file === undefined ? null : readOrNull(files, file);
  if (file === undefined || text === null) return;
  const data = documentOf(text);
  for (const image of listAt(data, "images")) {
    const name = textAt(image, "name");
    if (name === undefined) continue;
    const steps = [key("images"), { kind: "match" as const, key: "name", value: name }];
    const which = isRecord(image) && image["newTag"] === undefined && image["digest"] !== undefined ? "digest" : "newTag";
    add(found, { kind: "kustomize newTag", slot: `kustomize newTag ${name}`, file, path: path(...steps, key(which)) }, text);
  }
  for (const helm of listAt(data, "helmCharts")) {
    const name = textAt(helm, "name");
    if (name === undefined) continue;
    const steps = [key("helmCharts"), { kind: "match" as const, key: "name", value: name }, key("version")];
    add(found, { kind: "kustomize helmCharts", slot: `kustomize helmCharts ${name}`, file, path: path(...steps) }, text);
  }
  for (const list of ["resources", "bases", "components"]) {
    for (const [index, item] of listAt(data, list).entries()) {
      if (typeof item !== "string" || !/[?&]ref=/.test(item)) continue;
      const slot = `kustomize ref ${item.replace(/[?&]ref=.*$/, "")}`;
      add(found, { kind: "kustomize ?ref=", slot, file, path: path(key(list), { kind: "index", index }), part: "ref" }, text);
    }
  }
}

function chart(found: { places: Place[] }, folder: string, files: RepoFiles, all: ReadonlySet<string>): void {
  const file = at(folder, "Chart.yaml");
  const text = all.has(file) ? readOrNull(files, file) : null;
  if (text === null) return;
  for (const dependency of listAt(documentOf(text), "dependencies")) {
    const name = textAt(dependency, "name");
    if (name === undefined) continue;
    const steps = [key("dependencies"), { kind: "match" as const, key: "name", value: name }, key("version")];
    add(found, { kind: "chart dependency", slot: `chart dependency ${name}`, file, path: path(...steps) }, text);
  }
}

/** Values files, those that win last; `$ref/…` is another source's folder. */
function valuesFiles(
  found: { places: Place[] },
  source: Record<string, unknown>,
  sources: readonly Record<string, unknown>[],
  files: RepoFiles,
  all: ReadonlySet<string>,
  isThisRepo: (url: string) => boolean,
): void {
  const named = listAt(source, "helm", "valueFiles").filter((name): name is string => typeof name === "string");
  const own = textAt(source, "path");
  const plain = own !== undefined && named.length === 0 ? ["values.yaml"] : named;
  const taken = new Set<string>();
  for (const name of plain.toReversed()) {
    const file = resolveValues(name, own, source, sources, isThisRepo);
    const text = file !== undefined && all.has(file) ? readOrNull(files, file) : null;
    if (file === undefined || text === null) continue;
    for (const way of versionKeys(documentOf(text))) {
      const slot = `Helm values ${way.join(".")}`;
      // A later file wins: what an earlier one says of the same key changes nothing.
      if (taken.has(slot)) continue;
      if (add(found, { kind: "Helm values", slot, file, path: path(...way.map(key)) }, text)) taken.add(slot);
    }
  }
}

function resolveValues(
  name: string,
  folder: string | undefined,
  source: Record<string, unknown>,
  sources: readonly Record<string, unknown>[],
  isThisRepo: (url: string) => boolean,
): string | undefined {
  const [, ref, rest = ""] = /^\$([\w-]+)\/(.*)$/.exec(name) ?? [];
  const owner = ref === undefined ? source : sources.find((other) => other["ref"] === ref);
  if (owner === undefined || !isThisRepo(textAt(owner, "repoURL") ?? "") || !isFloating(textAt(owner, "targetRevision") ?? ""))
    return undefined;
  if (/^[a-z]+:\/\//.test(name)) return undefined;
  if (ref !== undefined) return tidy(rest);
  return name.startsWith("/") ? tidy(name) : tidy(`${folder ?? ""}/${name}`);
}

const MOST_MANIFESTS = 50;

/** Images of workloads in plain manifests of a folder. */
function manifests(found: { places: Place[] }, folder: string, files: RepoFiles, all: ReadonlySet<string>): void {
  const prefix = folder === "" ? "" : `${folder}/`;
  const here = [...all].filter((name) => name.startsWith(prefix) && /\.ya?ml$/.test(name) && !name.slice(prefix.length).includes("/"));
  for (const file of here.slice(0, MOST_MANIFESTS)) {
    const text = readOrNull(files, file);
    if (text === null || !/\bimage:/.test(text)) continue;
    const documents = readYamlDocuments(text);
    for (const [index, { value }] of documents.entries()) imagesOf(found, file, text, value, documents.length > 1 ? index + 1 : undefined);
  }
}

const POD_SPECS = ["spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec"];

function imagesOf(found: { places: Place[] }, file: string, text: string, object: unknown, document: number | undefined): void {
  const workload = textAt(object, "metadata", "name");
  if (workload === undefined) return;
  for (const spec of POD_SPECS) {
    const way = spec.split(".");
    for (const container of listAt(object, ...way, "containers")) {
      const [name, image] = [textAt(container, "name"), textAt(container, "image")];
      if (name === undefined || image === undefined) continue;
      const steps: PinStep[] = [...way.map(key), key("containers"), { kind: "match", key: "name", value: name }, key("image")];
      const pin = printPinPath({ document, steps });
      if (!parsePinPath(pin).ok) continue;
      const part = image.includes("@") ? "tag+digest" : "tag";
      add(found, { kind: "inline image", slot: `inline image ${workload} ${name}`, file, path: pin, part }, text);
    }
  }
}
