/**
 * What an Application that is applied to Argo CD's own cluster renders to: a plain folder, a kustomization or a chart, as far as sets and
 * Applications are made by them. ../../README.md says what is left out; what is met of that is an error, never a guess.
 *
 * Called where such an Application is synced (`own-cluster.ts`) and where its manifests are asked for (`application/manifests.ts`).
 */
import { inRepo } from "../../../core/argocd/source-files.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { Located } from "../application/manifest-names.ts";
import type { GitSource } from "../git/git-source.ts";
import { below, filesOf, objectsIn, type RenderedFor, type RenderedSource } from "./files.ts";
import { renderChart } from "./helm.ts";
import { kustomizationOf, renderKustomization } from "./kustomize.ts";

async function renderSource(one: RenderedSource, application: RenderedFor): Promise<KubeObject[]> {
  const files = await filesOf(one);
  // What the source says of itself goes before what stands in its folder.
  const isPlain = one.source["directory"] !== undefined;
  if (!isPlain && files.tree.has(below(one.path, "Chart.yaml"))) return renderChart(one, files, application);
  if (!isPlain && kustomizationOf(files.tree, one.path) !== undefined) return renderKustomization(files, one.path);
  const recurse = (one.source["directory"] as { recurse?: boolean } | undefined)?.recurse === true;
  const prefix = one.path === "" ? "" : `${one.path}/`;
  const objects: KubeObject[] = [];
  for (const [name, { type }] of files.tree) {
    const isOwn = name.startsWith(prefix) && (recurse || !name.slice(prefix.length).includes("/"));
    if (type === "blob" && isOwn && /\.(ya?ml|json)$/.test(name)) objects.push(...objectsIn(name, await files.read(name)));
  }
  return objects;
}

/** Of every source with files of its own, in their order. */
export async function renderAll(located: readonly Located[], application: RenderedFor): Promise<KubeObject[]> {
  const refs = new Map<string, { git: GitSource; commit: string }>();
  for (const { source, git, revision } of located)
    if (source.ref !== undefined && git !== undefined) refs.set(source.ref, { git, commit: revision });
  const objects: KubeObject[] = [];
  for (const { source, git, revision } of located)
    if (git !== undefined && source.path !== undefined)
      objects.push(...(await renderSource({ source, git, commit: revision, path: inRepo(source.path), refs }, application)));
  return objects;
}
