import { posix } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import type { GitSource } from "../git/git-source.ts";
import type { ApplicationSource } from "../types.ts";

export interface RolloutStep {
  setWeight?: number;
  pause?: { duration?: string | number };
  [kind: string]: unknown;
}

export interface RolloutSpec {
  replicas?: number;
  paused?: boolean;
  selector?: unknown;
  template?: { spec?: { containers?: { name: string; image?: string; [field: string]: unknown }[] }; [field: string]: unknown };
  strategy?: { canary?: { steps?: RolloutStep[]; [field: string]: unknown }; [field: string]: unknown };
  [field: string]: unknown;
}

/** An Argo Rollout as it stands in Git. */
export interface RolloutManifest {
  namespace: string;
  name: string;
  spec: RolloutSpec;
}

interface ImageOverride {
  name: string;
  newName?: string;
  newTag?: string;
  digest?: string;
}

const KUSTOMIZATION = /^kustomization\.ya?ml$|^Kustomization$/;

/** The Rollouts among the manifests at or below a path, with the images that a kustomization beside them, or the source itself, sets. */
export async function readRollouts(
  git: GitSource,
  commit: string,
  path: string,
  source: ApplicationSource,
  namespace: string,
): Promise<RolloutManifest[]> {
  const prefix = path === "" ? "" : `${path}/`;
  const names: string[] = [];
  for (const [name, { type }] of await git.tree(commit)) {
    if (type === "blob" && name.startsWith(prefix) && /(\.ya?ml|\.json|Kustomization)$/.test(name)) names.push(name);
  }
  const texts = await git.read(commit, names);
  const overrides = [...imagesOf(texts, path), ...sourceImages(source)];
  const found: RolloutManifest[] = [];
  for (const [, text] of texts) {
    if (!/^kind: *Rollout *$/m.test(text)) continue;
    for (const document of parseAllDocuments(text, { logLevel: "silent" })) {
      if (document.errors.length > 0) continue;
      const manifest = rolloutIn(document.toJS({ maxAliasCount: 100 }), namespace, overrides);
      if (manifest !== undefined) found.push(manifest);
    }
  }
  return found;
}

function rolloutIn(value: unknown, namespace: string, overrides: readonly ImageOverride[]): RolloutManifest | undefined {
  const { kind, metadata, spec } = (value ?? {}) as { kind?: string; metadata?: { name?: string; namespace?: string }; spec?: RolloutSpec };
  if (kind !== "Rollout" || metadata?.name === undefined || spec === undefined) return undefined;
  for (const container of spec.template?.spec?.containers ?? []) {
    const image = container.image ?? "";
    const name = image.replace(/@.*$/s, "").replace(/:[^:/]*$/, "");
    const override = overrides.findLast((one) => one.name === name);
    if (override !== undefined) container.image = imageOf(override, image.slice(name.length));
  }
  return { namespace: metadata.namespace ?? namespace, name: metadata.name, spec };
}

function imageOf({ name, newName = name, newTag, digest }: ImageOverride, rest: string): string {
  if (digest !== undefined) return `${newName}@${digest}`;
  return newTag === undefined ? `${newName}${rest}` : `${newName}:${newTag}`;
}

function imagesOf(texts: ReadonlyMap<string, string>, path: string): ImageOverride[] {
  for (const [name, text] of texts) {
    const isOwn = KUSTOMIZATION.test(posix.basename(name)) && (posix.dirname(name) === path || (path === "" && !name.includes("/")));
    if (!isOwn) continue;
    const images = (parse(text) as { images?: unknown } | null)?.images;
    return Array.isArray(images) ? (images as ImageOverride[]) : [];
  }
  return [];
}

/** `name=newName:tag`, `name:tag` of `source.kustomize.images`. */
function sourceImages(source: ApplicationSource): ImageOverride[] {
  const { images = [] } = (source["kustomize"] ?? {}) as { images?: string[] };
  return images.flatMap((text) => {
    const [left = "", right = left] = text.split("=");
    const tag = /:([^:/]*)$/.exec(right)?.[1];
    const newName = right.replace(/:[^:/]*$/, "");
    const name = left.replace(/:[^:/]*$/, "");
    return tag === undefined ? [] : [{ name, newName, newTag: tag }];
  });
}
