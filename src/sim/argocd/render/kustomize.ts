/** Kustomize as far as it makes ApplicationSets and Applications: resources, patches, prefixes, namespace, labels. Called by `render-source.ts`. */
import { posix } from "node:path";
import { isRecord } from "../../../core/base/is-record.ts";
import { parseYaml } from "../../../core/base/yaml-read.ts";
import { jsonPatch, mergePatch } from "../../kubernetes/patch.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { TreeEntry } from "../git/git-source.ts";
import { below, type CommitFiles, ManifestError, objectsIn } from "./files.ts";

const NAMES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
const UNDERSTOOD = [
  ...["apiVersion", "kind", "metadata", "resources", "bases", "patches", "patchesStrategicMerge", "patchesJson6902"],
  ...["namePrefix", "nameSuffix", "namespace", "commonLabels", "labels", "commonAnnotations"],
  // What these make or change is no set and no Application: it is left out.
  ...["images", "replicas", "configMapGenerator", "secretGenerator", "generatorOptions"],
];
const DEEPEST = 20;

export function kustomizationOf(tree: ReadonlyMap<string, TreeEntry>, folder: string): string | undefined {
  return NAMES.map((name) => below(folder, name)).find((name) => tree.get(name)?.type === "blob");
}

export async function renderKustomization(files: CommitFiles, folder: string, depth = 0): Promise<KubeObject[]> {
  const file = kustomizationOf(files.tree, folder);
  if (file === undefined) throw new ManifestError(`unable to find one of 'kustomization.yaml', 'kustomization.yml' in '${folder}'`);
  if (depth > DEEPEST) throw new ManifestError(`${file}: cycle detected`);
  const own = parseYaml(await files.read(file));
  if (!isRecord(own)) throw new ManifestError(`${file}: invalid Kustomization`);
  const strange = Object.keys(own).find((key) => !UNDERSTOOD.includes(key));
  if (strange !== undefined) throw new ManifestError(`${file}: the embedded Argo CD does not render ${strange}`);
  const objects: KubeObject[] = [];
  for (const entry of [...list(own, "resources"), ...list(own, "bases")]) {
    const path = inRepo(file, folder, entry);
    if (files.tree.get(path)?.type === "tree") objects.push(...(await renderKustomization(files, path, depth + 1)));
    else objects.push(...objectsIn(path, await files.read(path), true));
  }
  return (await patchesOf(own, files, file, folder)).reduce(patched, objects).map((object) => named(object, own));
}

function list(own: Record<string, unknown>, key: string): unknown[] {
  return Array.isArray(own[key]) ? own[key] : [];
}

function inRepo(file: string, folder: string, entry: unknown): string {
  const path = typeof entry === "string" && !entry.includes("://") ? posix.join(folder, entry).replace(/(?<!\/)\/+$/, "") : "..";
  if (path.startsWith("..")) throw new ManifestError(`${file}: the embedded Argo CD does not read ${JSON.stringify(entry)}`);
  return path === "." ? "" : path;
}

interface Patch {
  /** What it says of what it is for; a strategic merge names its object itself. */
  target: Record<string, unknown>;
  body: unknown;
}

async function patchesOf(own: Record<string, unknown>, files: CommitFiles, file: string, folder: string): Promise<Patch[]> {
  const patches: Patch[] = [];
  const add = (text: string, target: unknown) => {
    const body = parseYaml(text);
    const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
    const named = isRecord(body) ? { kind: body["kind"], name: metadata["name"] } : {};
    patches.push({ target: isRecord(target) ? target : named, body });
  };
  for (const entry of list(own, "patchesStrategicMerge"))
    add(typeof entry === "string" && entry.includes("\n") ? entry : await files.read(inRepo(file, folder, entry)), undefined);
  for (const entry of [...list(own, "patches"), ...list(own, "patchesJson6902")].filter(isRecord))
    add(typeof entry["patch"] === "string" ? entry["patch"] : await files.read(inRepo(file, folder, entry["path"])), entry["target"]);
  return patches;
}

/** Of kinds that kustomize has no schema for, a strategic merge is a plain one: lists are replaced. */
function patched(objects: KubeObject[], { target, body }: Patch): KubeObject[] {
  const isMeant = ({ kind, metadata }: KubeObject) =>
    (target["kind"] === undefined || target["kind"] === kind) && (target["name"] === undefined || target["name"] === metadata.name);
  return objects.map((object) => {
    if (!isMeant(object)) return object;
    const next = Array.isArray(body) ? jsonPatch(object, body) : mergePatch(object, body);
    return next as KubeObject;
  });
}

function named(object: KubeObject, own: Record<string, unknown>): KubeObject {
  const text = (key: string) => (typeof own[key] === "string" ? own[key] : "");
  const more = (key: string) => (isRecord(own[key]) ? (own[key] as Record<string, string>) : undefined);
  const { metadata } = object;
  const pairs = list(own, "labels").map((one) => (isRecord(one) && isRecord(one["pairs"]) ? (one["pairs"] as Record<string, string>) : {}));
  const labels = own["commonLabels"] === undefined && pairs.length === 0 ? undefined : Object.assign({}, more("commonLabels"), ...pairs);
  const annotations = more("commonAnnotations");
  return {
    ...object,
    metadata: {
      ...metadata,
      name: `${text("namePrefix")}${metadata.name}${text("nameSuffix")}`,
      ...(text("namespace") === "" ? {} : { namespace: text("namespace") }),
      ...(labels === undefined ? {} : { labels: { ...metadata.labels, ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...metadata.annotations, ...annotations } }),
    },
  };
}
