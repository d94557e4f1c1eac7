import { createHash } from "node:crypto";
import { posix } from "node:path";
import { parse } from "yaml";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { GitSource, TreeEntry } from "../git/git-source.ts";
import { RepoError, type Repositories } from "../git/repositories.ts";
import type { RenderedFor } from "../render/files.ts";
import { renderAll } from "../render/render-source.ts";
import { type RolloutManifest, readRollouts } from "../rollouts/manifest.ts";
import { type ApplicationSource, type ApplicationSpec, sourcesOf } from "../types.ts";
import { createManifestNames, type Located, type Naming } from "./manifest-names.ts";
import { type MadeFrom, objectOf } from "./objects.ts";

/** What an Application should look like in its cluster, as far as a simulator needs to know: one hash that changes when it changes. */
export interface Desired {
  /** In the order of the sources. */
  revisions: string[];
  content: string;
  /** Whether a text (a revision, an image tag) stands in this version. Texts to be asked for are looked up beforehand. */
  mentions: ReadonlySet<string>;
  /** Argo Rollouts among the manifests. */
  rollouts: readonly RolloutManifest[];
  /** What stands for its objects, as JSON. */
  objects(): Promise<string[]>;
  /** What it renders to where it is applied to Argo CD's own cluster. Throws ManifestError. */
  rendered(application: RenderedFor): Promise<KubeObject[]>;
}

interface ManifestInput {
  spec: ApplicationSpec;
  /** Instead of the targetRevisions, in the order of the sources; "" keeps one. */
  revisions?: readonly string[];
  force: boolean;
  /** Texts that faults ask about. */
  texts: readonly string[];
  /** Left out: nothing is kept of it under other names. */
  naming?: Naming;
}

type Tree = ReadonlyMap<string, TreeEntry>;

const clean = (path: string | undefined) =>
  posix
    .normalize(path ?? ".")
    .replace(/^\/+|(?<!\/)\/+$/g, "")
    .replace(/^\.$/, "");
const isManifest = (path: string) => /\.(ya?ml|json)$/.test(path);

function below(tree: Tree, path: string): [string, TreeEntry][] {
  const prefix = path === "" ? "" : `${path}/`;
  return [...tree].filter(([name]) => name.startsWith(prefix));
}

/** A plain directory is read at its top only, unless it recurses; charts and kustomizations with all they hold. */
function directoryFiles(tree: Tree, path: string, source: ApplicationSource): string[] {
  const recurse = (source["directory"] as { recurse?: boolean } | undefined)?.recurse === true;
  const depth = path === "" ? 0 : path.split("/").length;
  const isOwn = (name: string) => isManifest(name) && (recurse || name.split("/").length === depth + 1);
  return below(tree, path).flatMap(([name, { type }]) => (type === "blob" && isOwn(name) ? [name] : []));
}

function hasFile(tree: Tree, path: string, names: readonly string[]): string | undefined {
  return names.map((name) => posix.join(path, name)).find((name) => tree.has(name));
}

const KUSTOMIZATIONS = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Folders and files outside its own that a kustomization takes in, transitively. */
async function kustomizeRefs(git: GitSource, commit: string, tree: Tree, start: string): Promise<string[]> {
  const seen = new Set([start]);
  const outside: string[] = [];
  for (const path of seen) {
    const file = hasFile(tree, path, KUSTOMIZATIONS);
    if (file === undefined) continue;
    const parsed = parse((await git.read(commit, [file])).get(file) ?? "") as Record<string, unknown> | null;
    for (const field of ["resources", "bases", "components"]) {
      const list = parsed?.[field];
      for (const entry of Array.isArray(list) ? list : []) {
        if (typeof entry !== "string" || entry.includes("://")) continue;
        const target = posix.join(path, entry).replace(/\/$/, "");
        if (!tree.has(target) || seen.has(target)) continue;
        seen.add(target);
        if (!target.startsWith(`${start}/`)) outside.push(target);
      }
    }
  }
  return outside;
}

/** Values files by what they are given as: relative to the chart, from the root of the repo (`/x`), or of another source (`$ref/x`). */
async function valueFilesOf(
  source: ApplicationSource,
  path: string,
  own: { git: GitSource; commit: string } | undefined,
  all: readonly Located[],
): Promise<Piece[]> {
  const helm = source["helm"] as { valueFiles?: string[]; ignoreMissingValueFiles?: boolean } | undefined;
  const pieces: Piece[] = [];
  for (const file of helm?.valueFiles ?? []) {
    if (file.includes("://")) continue;
    const ref = /^\$([^/]+)\/(.*)$/.exec(file);
    const other = ref === null ? undefined : all.find((located) => located.source.ref === ref[1]);
    if (ref !== null && other?.git === undefined) {
      pieces.push({ id: `${file} ${other?.revision ?? ""}` });
      continue;
    }
    const from = other?.git === undefined ? own : { git: other.git, commit: other.revision };
    if (from === undefined) {
      pieces.push({ id: file });
      continue;
    }
    const name = ref !== null ? clean(ref[2]) : file.startsWith("/") ? clean(file) : posix.join(path, file);
    const entry = (await from.git.tree(from.commit)).get(name);
    if (entry === undefined && helm?.ignoreMissingValueFiles !== true) {
      throw new RepoError(`rpc error: code = Unknown desc = error resolving helm value files: ${name}: no such file or directory`);
    }
    pieces.push({ id: `${file} ${entry?.oid ?? ""}`, from: entry && { git: from.git, commit: from.commit, name } });
  }
  return pieces;
}

/** Something that a source is made from: its id, and the file where it is one that is there. */
interface Piece {
  id: string;
  from?: MadeFrom | undefined;
}

/** Everything a source in Git is made from. */
async function contentOfGit(located: Located & { git: GitSource }, all: readonly Located[]): Promise<Piece[]> {
  const { source, revision: commit, git } = located;
  if (source.path === undefined && source.ref !== undefined) return [];
  const path = clean(source.path);
  const tree = await git.tree(commit);
  if (path !== "" && tree.get(path)?.type !== "tree") {
    throw new RepoError(`rpc error: code = Unknown desc = ${source.path}: app path does not exist`);
  }
  const piece = (name: string): Piece => {
    const { type, oid } = tree.get(name) ?? {};
    return { id: `${name} ${oid}`, from: type === "blob" ? { git, commit, name } : undefined };
  };
  const inside = () => below(tree, path).map(([name]) => piece(name));
  if (hasFile(tree, path, ["Chart.yaml"]) !== undefined || source["helm"] !== undefined)
    return [...inside(), ...(await valueFilesOf(source, path, { git, commit }, all))];
  if (hasFile(tree, path, KUSTOMIZATIONS) === undefined) return directoryFiles(tree, path, source).map(piece);
  const refs = await kustomizeRefs(git, commit, tree, path);
  return [...inside(), ...refs.map(piece)];
}

/** The part of a source that stands in the Application itself: parameters, images, but not where and at which revision. */
function inline(source: ApplicationSource): Record<string, unknown> {
  const { repoURL: _url, targetRevision: _revision, ...rest } = source;
  return rest;
}

export interface Manifests {
  /** Throws RepoError where a revision, path or values file is not there. */
  desired(input: ManifestInput): Promise<Desired>;
}

/** Ten thousand Applications of one path and commit are looked up once. */
function known<T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = cache.get(key);
  if (found !== undefined) return found;
  const made = make();
  cache.set(key, made);
  made.catch(() => cache.delete(key));
  if (cache.size > 20_000) for (const old of cache.keys()) if (cache.size > 15_000) cache.delete(old);
  return made;
}

export function createManifests(repositories: Repositories): Manifests {
  const contents = new Map<string, Promise<string>>();
  const rollouts = new Map<string, Promise<RolloutManifest[]>>();
  const renderedFrom = createManifestNames();
  return {
    async desired({ spec, revisions, force, texts, naming }) {
      const located: Located[] = [];
      for (const [index, source] of sourcesOf(spec).entries()) {
        const wanted = revisions?.[index] || source.targetRevision || "HEAD";
        located.push({ source, ...(await repositories.resolve(source, wanted, force && revisions === undefined)) });
      }
      const views: (readonly Located[])[] = [];
      for (const index of located.keys()) views.push(naming === undefined ? located : await renderedFrom(located, index, naming));
      const made = views.flatMap((view, index) => view[index] ?? []);
      const parts = views.map((view) => view.map(({ source, revision }) => [inline(source), source.repoURL, revision]));
      const key = JSON.stringify([spec.destination.namespace, parts]);
      return {
        revisions: located.map(({ revision }) => revision),
        content: await known(contents, key, () => contentOf(views)),
        rollouts: await known(rollouts, key, () => rolloutsOf(made, spec)),
        mentions: await mentionsOf(made, spec, texts),
        objects: () => objectsOf(views),
        rendered: (application) => renderAll(made, application),
      };
    },
  };
}

/** Each source as what it was rendered from shows it, with those that it refers to. */
async function contentOf(views: readonly (readonly Located[])[]): Promise<string> {
  const parts: string[] = [];
  for (const [index, located] of views.entries()) {
    const one = located[index];
    if (one === undefined) continue;
    const { source, revision, git } = one;
    const ids = (await piecesOf(one, located)).map(({ id }) => id);
    parts.push(sha256(JSON.stringify([inline(source), git === undefined ? [source.repoURL, revision, ...ids] : ids])));
  }
  return sha256(parts.join(" "));
}

function piecesOf(one: Located, all: readonly Located[]): Promise<Piece[]> {
  const { git, source } = one;
  return git === undefined ? valueFilesOf(source, "", undefined, all) : contentOfGit({ ...one, git }, all);
}

async function objectsOf(views: readonly (readonly Located[])[]): Promise<string[]> {
  const own = views.flatMap((located, index) => located[index] ?? []);
  const files = async (one: Located, index: number) => (await piecesOf(one, views[index] ?? [])).flatMap(({ from }) => from ?? []);
  return await Promise.all(own.map(async (one, index) => await objectOf(one, await files(one, index))));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function rolloutsOf(located: readonly Located[], spec: ApplicationSpec): Promise<RolloutManifest[]> {
  const all: RolloutManifest[] = [];
  for (const { git, revision, source } of located) {
    if (git === undefined || source.path === undefined) continue;
    all.push(...(await readRollouts(git, revision, clean(source.path), source, spec.destination.namespace ?? "default")));
  }
  return all;
}

async function mentionsOf(located: readonly Located[], spec: ApplicationSpec, texts: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  if (texts.length === 0) return found;
  const written = JSON.stringify(sourcesOf(spec));
  for (const text of texts) {
    if (written.includes(text) || located.some(({ revision }) => revision === text)) found.add(text);
    for (const { git, revision, source } of located) {
      if (!found.has(text) && git !== undefined && (await git.contains(revision, clean(source.path), text))) found.add(text);
    }
  }
  return found;
}
