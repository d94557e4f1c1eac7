import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { AppSetCluster, RenderResult } from "../../core/appset/types.ts";
import { generatePathsOf } from "../../core/argocd/decode/application.ts";
import { SECRET_TYPE } from "../../core/argocd/decode/cluster.ts";
import { committedSources, intendedOf } from "../../core/argocd/decode/source.ts";
import type { Intended } from "../../core/argocd/liveness/types.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readYamlDocuments, type YamlDocument } from "../../core/base/yaml-read.ts";
import type { SourceRef } from "../../core/spec/rollout.ts";
import { documentsAt, LARGEST_MANIFEST, manifestFiles, setFiles, setFilesOfJson } from "./set-files.ts";
import type { Snapshot } from "./snapshot.ts";

/** By Application name. */
export interface RenderedSpecs extends ReadonlyMap<string, Intended> {
  /** Where what they say is not known: files of which it is known that they say it. */
  madeFrom?: ReadonlySet<string>;
}

/** The ApplicationSet of a rollout as it stands in Git. */
export interface ApplicationSetInGit {
  file: string;
  object: Record<string, unknown>;
  /** It is not applied as it stands: `object` is the live one, with the pins of the commit. */
  made?: MadeSet;
}

/** How a set that is not applied as it stands comes to be, and what of a change to it cannot be told. */
interface MadeSet {
  by: MadeBy;
  /** A pin that the live set does not have at its place. */
  lost?: string | undefined;
  /** A file with pins that the set is made from, beside its manifest. */
  fed?: string | undefined;
}

/** `unknown`: by nobody that the repo tells of. */
export type MadeBy = "kustomize" | "helm" | "unknown";

/**
 * Finds the manifest of an ApplicationSet at a commit: first in the files named (the pins' own), then in any file of YAML, and of JSON,
 * whole rather than a patch. undefined: nothing in Git declares it, or it is itself a template.
 */
export async function findApplicationSet(
  snapshot: Snapshot,
  ref: Pick<SourceRef, "name" | "namespace">,
  likely: Iterable<string>,
): Promise<ApplicationSetInGit | undefined> {
  for (const file of new Set(likely)) {
    const found = await snapshot.with((files) => matching(file, readOrNull(files, file), ref));
    if (found !== undefined) return found;
  }
  let patch: ApplicationSetInGit | undefined;
  for (const part of manifestFiles(await snapshot.paths())) {
    // Asks for every file in one pass, so that they come in one read.
    const declared = await snapshot.with((files) => part.flatMap((path) => matching(path, readOrNull(files, path), ref) ?? []));
    const whole = declared.find(({ object }) => !isPatch(object));
    if (whole !== undefined) return whole;
    patch ??= declared[0];
  }
  return patch;
}

/** The first manifest of an ApplicationSet among files that are at hand, in the order of paths. */
export function findApplicationSetIn(files: RepoFiles, ref: Pick<SourceRef, "name" | "namespace">): ApplicationSetInGit | undefined {
  for (const found of declaredAnywhere(files, ref)) return found;
  return undefined;
}

/** Every manifest of an ApplicationSet at a commit, in the order of paths: one of each file. */
export function findApplicationSets(snapshot: Snapshot, ref: Pick<SourceRef, "name" | "namespace">): Promise<ApplicationSetInGit[]> {
  return snapshot.with((files) => setsDeclaredIn(files, ref));
}

/** Every manifest of an ApplicationSet in these files, which are at hand: one of each. */
export function setsDeclaredIn(
  files: RepoFiles,
  ref: Pick<SourceRef, "name" | "namespace">,
  paths?: Iterable<string>,
): ApplicationSetInGit[] {
  const found =
    paths === undefined
      ? [...declaredAnywhere(files, ref)]
      : [...paths].flatMap((path) => matching(path, readOrNull(files, path), ref) ?? []);
  const whole = found.filter(({ object }) => !isPatch(object));
  return whole.length > 0 ? whole : found;
}

/** A patch of Kustomize has the set's name, and of its spec no more than it changes. */
export function isPatch({ spec }: Record<string, unknown>): boolean {
  return !isRecord(spec) || !Array.isArray(spec["generators"]) || !isRecord(spec["template"]);
}

/** In JSON where no YAML has more of it than a patch. */
function* declaredAnywhere(files: RepoFiles, ref: Pick<SourceRef, "name" | "namespace">): Generator<ApplicationSetInGit> {
  let isWhole = false;
  for (const setsOf of [setFiles, setFilesOfJson]) {
    if (isWhole) return;
    for (const { path, text, documents } of setsOf(files)) {
      const object = text.includes(ref.name) ? wantedOf(documents(), "ApplicationSet", [ref]) : undefined;
      if (object === undefined) continue;
      isWhole ||= !isPatch(object);
      yield { file: path, object };
    }
  }
}

function matching(file: string, text: string | null, ref: Pick<SourceRef, "name" | "namespace">): ApplicationSetInGit | undefined {
  const object = manifestIn(text, "ApplicationSet", [ref]);
  return object === undefined ? undefined : { file, object };
}

/** Whether a file holds the manifest of one of these objects. */
export function declares(
  snapshot: Snapshot,
  file: string,
  kind: "ApplicationSet" | "Application",
  objects: readonly Pick<SourceRef, "name" | "namespace">[],
): Promise<boolean> {
  return snapshot.with((files) => manifestIn(readOrNull(files, file), kind, objects) !== undefined);
}

/** As `manifestIn`, of a file that is at hand: it is read once, whoever asks. `most`: characters of a file that is read. */
export function manifestAt(
  files: RepoFiles,
  file: string,
  kind: string,
  wanted: readonly Pick<SourceRef, "name" | "namespace">[],
  most: number = LARGEST_MANIFEST,
): Record<string, unknown> | undefined {
  const text = readOrNull(files, file);
  return text !== null && mayHold(text, kind, wanted, most) ? wantedOf(documentsAt(files, file, text), kind, wanted) : undefined;
}

/** The first manifest in a file that is one of these objects; one without a namespace goes where it is applied. */
export function manifestIn(
  text: string | null,
  kind: string,
  wanted: readonly Pick<SourceRef, "name" | "namespace">[],
): Record<string, unknown> | undefined {
  return text !== null && mayHold(text, kind, wanted) ? wantedOf(readYamlDocuments(text), kind, wanted) : undefined;
}

function mayHold(text: string, kind: string, wanted: readonly Pick<SourceRef, "name">[], most = LARGEST_MANIFEST): boolean {
  return text.length <= most && text.includes(kind) && wanted.some(({ name }) => text.includes(name));
}

function wantedOf(
  documents: readonly YamlDocument[],
  kind: string,
  wanted: readonly Pick<SourceRef, "name" | "namespace">[],
): Record<string, unknown> | undefined {
  return objectsOf(documents).find((object) => {
    const metadata = object["metadata"];
    if (object["kind"] !== kind || !isRecord(metadata)) return false;
    const { name, namespace } = metadata;
    return wanted.some((one) => name === one.name && (typeof namespace !== "string" || namespace === one.namespace));
  });
}

/** Every ApplicationSet in a file. */
export function setsIn(text: string | null): Record<string, unknown>[] {
  return text?.includes("ApplicationSet") === true ? objectsIn(text).filter((object) => object["kind"] === "ApplicationSet") : [];
}

/** Every object in a file. */
export function objectsIn(text: string | null): Record<string, unknown>[] {
  return text === null || text.length > LARGEST_MANIFEST ? [] : objectsOf(readYamlDocuments(text));
}

/** A List stands for its items, as kubectl takes it. */
function objectsOf(documents: readonly YamlDocument[]): Record<string, unknown>[] {
  return documents.flatMap(({ value: object }) => {
    if (!isRecord(object)) return [];
    const items = object["kind"] === "List" ? object["items"] : undefined;
    return Array.isArray(items) ? items.filter(isRecord) : [object];
  });
}

/** Clusters as the clusters generator sees them: registered ones, with Argo CD's own label back on. */
export function generatorClusters(planes: Iterable<ControlPlane>): AppSetCluster[] {
  return [...planes].flatMap((plane) =>
    plane
      .clusters()
      .filter((cluster) => cluster.registered)
      .map((cluster) => generatorCluster(cluster)),
  );
}

/** One cluster as the clusters generator sees it. */
export function generatorCluster(cluster: Pick<AppSetCluster, "name" | "server" | "labels"> & Partial<AppSetCluster>): AppSetCluster {
  const { name, server, labels, annotations = {}, project, derived } = cluster;
  return { name, server, labels: { ...labels, [SECRET_TYPE]: "cluster" }, annotations, ...defined({ project, derived }) };
}

/** `madeFrom`: the files that the set was rendered from. */
export function specsOf(result: RenderResult, madeFrom?: ReadonlySet<string>): ReadonlyMap<string, Intended> | undefined {
  if (!result.ok) return undefined;
  return new Map(
    result.applications.map(({ metadata, spec }) => {
      const generatePaths = generatePathsOf(metadata.annotations ?? {});
      return [metadata.name, defined({ ...intendedOf(spec), generatePaths, madeFrom })];
    }),
  );
}

/** Where an Application's spec, as it is written, takes its files from: of a hydrated one the dry source. */
export function sourcesOf(spec: Record<string, unknown>): SourceView[] {
  return committedSources(intendedOf(spec));
}
