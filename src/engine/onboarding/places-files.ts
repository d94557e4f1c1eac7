import { tidyPath } from "../../core/argocd/source-places.ts";
import { defined } from "../../core/base/defined.ts";
import { dig, isRecord, listAt, textAt } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { type PinStep, parsePinPath, printPinPath } from "../../core/pins/path.ts";
import type { PlaceHindrance } from "../../core/reasons/onboarding.ts";
import type { ProposedPin } from "../../core/report/onboarding/types.ts";
import { brokenBelow, kustomizationPlaces, POD_SPECS } from "./places-kustomize.ts";
import { key, pathOf, sourcesOf, versionKeys } from "./places-spec.ts";
import type { FilePlaces, InitTarget, Manifest } from "./types.ts";
import { add, documentsIn, isFloating, isVersion, readsBase, valueAt } from "./versions.ts";

/** A repo's files, with their paths to look up. */
export interface RepoView {
  files: RepoFiles;
  all: ReadonlySet<string>;
  isThisRepo(repoURL: string): boolean;
  /** Where batches are merged; undefined: nobody tells. */
  base: string | undefined;
}

/** Versions in the files an Application is made of: kustomizations, Helm values, Chart.yaml, plain manifests. */
export function filePlaces(target: InitTarget, view: RepoView): FilePlaces {
  const { files, all } = view;
  const found: FilePlaces = { places: [], why: [] };
  const sources = sourcesOf(target.spec).map(({ source }) => source);
  for (const source of sources) {
    valuesFiles(found, source, sources, view);
    const path = textAt(source, "path");
    const revision = textAt(source, "targetRevision") ?? "";
    if (source["chart"] !== undefined && isFloating(revision)) found.why.push({ kind: "Floating", at: "targetRevision", value: revision });
    if (path === undefined) continue;
    const why = whyNotHere(source, view);
    if (why !== undefined) found.why.push(why);
    // What is read at a tag is pinned by that tag: its files tell nothing of what is live.
    if (why !== undefined || !readsBase(revision, view.base)) continue;
    const folder = tidyPath(path);
    kustomizationPlaces(found, folder, files, all);
    chart(found, folder, files, all);
    if (!all.has(`${folder}/kustomization.yaml`) && !all.has(`${folder}/Chart.yaml`)) manifests(found, folder, files, all);
    if (found.places.length === 0) brokenBelow(found, folder, files);
    if (found.places.length === 0) found.why.push({ kind: "NothingThere", folder });
  }
  return found;
}

/** A batch is a commit on the default branch of this repo: what is read elsewhere does not see it. */
function whyNotHere(source: Record<string, unknown>, { isThisRepo, base }: RepoView): PlaceHindrance | undefined {
  const url = textAt(source, "repoURL") ?? "";
  const revision = textAt(source, "targetRevision") ?? "";
  if (!isThisRepo(url)) return { kind: "OtherRepo", repoURL: url };
  if (readsBase(revision, base) || isVersion(revision)) return undefined;
  return { kind: "OtherBranch", branch: revision };
}

function at(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function chart(found: FilePlaces, folder: string, files: RepoFiles, all: ReadonlySet<string>): void {
  const file = at(folder, "Chart.yaml");
  const text = all.has(file) ? readOrNull(files, file) : null;
  if (text === null) return;
  for (const dependency of listAt(documentsIn(found, file, text)[0]?.value, "dependencies")) {
    const name = textAt(dependency, "name");
    if (name === undefined) continue;
    const steps = [key("dependencies"), { kind: "match" as const, key: "name", value: name }, key("version")];
    add(found, { kind: "chart dependency", slot: `chart dependency ${name}`, file, path: pathOf(...steps) }, text);
  }
}

/** Values files, those that win last; `$ref/…` is another source's folder. */
function valuesFiles(
  found: FilePlaces,
  source: Record<string, unknown>,
  sources: readonly Record<string, unknown>[],
  view: RepoView,
): void {
  const { files, all } = view;
  const named = listAt(source, "helm", "valueFiles").filter((name): name is string => typeof name === "string");
  const own = textAt(source, "path");
  // A chart's own values come first, whatever else is named.
  const plain = own === undefined ? named : ["values.yaml", ...named.filter((name) => name !== "values.yaml")];
  const taken = new Set<string>();
  let last: string | undefined;
  for (const name of plain.toReversed()) {
    const file = resolveValues(name, own, source, sources, view);
    const text = file !== undefined && all.has(file) ? readOrNull(files, file) : null;
    if (file === undefined || text === null) continue;
    const values = documentsIn(found, file, text)[0]?.value;
    for (const way of versionKeys(values)) {
      const slot = `Helm values ${way.join(".")}`;
      // A later file wins: what an earlier one says of the same key changes nothing.
      if (taken.has(slot)) continue;
      const place = {
        kind: "Helm values",
        slot,
        file,
        path: pathOf(...way.map(key)),
        ...defined({ image: imageAt(values, way) }),
      } as const;
      if (!add(found, place, text)) continue;
      taken.add(slot);
      const value = found.places.at(-1)?.value ?? "";
      // What is a default for all can be overridden for each.
      if (last !== undefined && last !== file) found.places.push({ ...place, slot: `${slot} (override)`, file: last, value, create: true });
    }
    last ??= file;
  }
}

/** What a version key is of: the repository beside it, or else what it stands under. */
function imageAt(values: unknown, way: readonly string[]): string | undefined {
  const beside = way.slice(0, -1);
  const named = ["repository", "name", "image"].map((name) => textAt(values, ...beside, name)).find((text) => text !== undefined);
  if (named !== undefined) return named;
  const under = beside.filter((step) => !/^(?:images?|global|values)$/i.test(step)).join(".");
  return under === "" ? undefined : under;
}

function resolveValues(
  name: string,
  folder: string | undefined,
  source: Record<string, unknown>,
  sources: readonly Record<string, unknown>[],
  { isThisRepo, base }: RepoView,
): string | undefined {
  const [, ref, rest = ""] = /^\$([\w-]+)\/(.*)$/.exec(name) ?? [];
  const owner = ref === undefined ? source : sources.find((other) => other["ref"] === ref);
  if (owner === undefined || !isThisRepo(textAt(owner, "repoURL") ?? "") || !readsBase(textAt(owner, "targetRevision") ?? "", base))
    return undefined;
  if (/^[a-z]+:\/\//.test(name)) return undefined;
  if (ref !== undefined) return tidyPath(rest);
  return name.startsWith("/") ? tidyPath(name) : tidyPath(`${folder ?? ""}/${name}`);
}

const MOST_MANIFESTS = 50;

/** Images of workloads in plain manifests of a folder. */
function manifests(found: FilePlaces, folder: string, files: RepoFiles, all: ReadonlySet<string>): void {
  const prefix = folder === "" ? "" : `${folder}/`;
  const here = [...all].filter((name) => name.startsWith(prefix) && /\.ya?ml$/.test(name) && !name.slice(prefix.length).includes("/"));
  for (const file of here.slice(0, MOST_MANIFESTS)) {
    const text = readOrNull(files, file);
    if (text === null || !/\bimage:/.test(text)) continue;
    const documents = documentsIn(found, file, text);
    for (const [index, { value }] of documents.entries()) imagesOf(found, file, text, value, documents.length > 1 ? index + 1 : undefined);
  }
}

function imagesOf(found: FilePlaces, file: string, text: string, object: unknown, document: number | undefined): void {
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
      const what = { slot: `inline image ${workload} ${name}`, image: image.replace(/@.*$|:[^/]*$/g, "") };
      add(found, { kind: "inline image", ...what, file, path: pin, part }, text);
    }
  }
}

/**
 * Two clusters-generator entries between which clusters can move: equal but for post-selectors `NotIn` and `In` of one list on
 * `name`, and for one value. Looked for where a set begins with such a pair.
 */
export function clusterPair(set: Manifest, files: RepoFiles): { pin: ProposedPin; version: string } | undefined {
  if (set.documents > 1 || set.item !== undefined) return undefined;
  const [old, young] = listAt(set.object, "spec", "generators");
  if (operatorOf(old) !== "NotIn" || operatorOf(young) !== "In") return undefined;
  const text = readOrNull(files, set.file);
  const values = dig(old, "clusters", "values");
  if (text === null || !isRecord(values)) return undefined;
  for (const name of Object.keys(values)) {
    const version = valueAt(text, `spec.generators[0].clusters.values.${name}`);
    const other = valueAt(text, `spec.generators[1].clusters.values.${name}`);
    if (version === undefined || other === undefined || !isVersion(version)) continue;
    return { pin: { clusterGenerator: { file: set.file, path: `values.${name}` } }, version };
  }
  return undefined;
}

function operatorOf(generator: unknown): unknown {
  const expression = listAt(generator, "selector", "matchExpressions").find((one) => dig(one, "key") === "name");
  return isRecord(dig(generator, "clusters")) ? dig(expression, "operator") : undefined;
}
