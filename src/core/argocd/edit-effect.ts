/**
 * Whether an edit of files changes what Argo CD would render for an Application, as far as that can be told without rendering: which files
 * it reads, and which of several values files wins. Called by the render guard and by lint for every target of a batch.
 */
import { joinPath } from "../base/clean-path.ts";
import { matchesGlob } from "../base/glob.ts";
import { isRecord } from "../base/is-record.ts";
import { type RepoFiles, readOrNull } from "../base/repo-files.ts";
import { readManifests } from "../base/yaml-read.ts";
import { helmValues, overridden, sourceOverrides, type ValuesInput } from "./helm-values.ts";
import { isImageOverridden, kustomizationIn, kustomizeReads } from "./kustomize-reads.ts";
import { sameValue } from "./same.ts";
import { fileNamed, helmFiles, inRepo, parameterFiles, takesFile } from "./source-files.ts";
import type { SourceView } from "./views.ts";

/** unknown: a plugin, or something else that cannot be followed, may read it. */
type Effect = "differs" | "none" | "unknown";

interface EffectInput extends ValuesInput {
  /** Files whose text the edit changes. */
  files: readonly string[];
  before: RepoFiles;
  after: RepoFiles;
}

export function effectOfFiles(input: EffectInput): Effect {
  const effects = input.sources.flatMap((source) => {
    if (source.ref !== undefined && source.path === undefined) return [];
    return isHelm(input, source) ? [ofValues(input, source), ...each(input, source, ofChart)] : each(input, source, ofFolder);
  });
  return effects.includes("differs") ? "differs" : effects.includes("unknown") ? "unknown" : "none";
}

/** Whether a source of the repo reads a file; undefined: that cannot be told. What its values files are is said by `readersOf`. */
export function sourceReads(source: SourceView, file: string, files: RepoFiles): boolean | undefined {
  const folder = inRepo(source.path ?? "");
  return kindOf(source, folder, files) === "kustomize" ? kustomizeReads(files, folder, file) : undefined;
}

/**
 * Whether a source passes a file below its folder by: a chart takes only the values files that it is told of, and a plain folder only
 * the manifests at its top. False where that cannot be told.
 */
export function passesBy(source: SourceView, file: string, { sources, isBase }: Omit<ValuesInput, "name">, files: RepoFiles): boolean {
  if (!isBase(source) || source.chart !== undefined || /(?:^|\/)\.argocd-source/.test(file)) return false;
  const folder = inRepo(source.path ?? "");
  const kind = kindOf(source, folder, files);
  if (kind === "directory" || kind === "found") return isLeftByFolder(source, folder, file, files);
  if (kind !== "helm" || takesFile(sources, source, file, isBase) || file === joinPath(folder, "values.yaml")) return false;
  return ofChart({ name: "", sources, isBase, files: [file], before: files, after: files }, source, folder, file) === "none";
}

/** What Jsonnet asks for cannot be told, nor what a plugin takes where there is no manifest. */
function isLeftByFolder(source: SourceView, folder: string, file: string, files: RepoFiles): boolean {
  const prefix = folder === "" ? "" : `${folder}/`;
  if (!file.startsWith(prefix) || isManifestOf(source, file.slice(prefix.length)) || !holdsManifest(files, prefix)) return false;
  return !files.paths().some((path) => path.startsWith(prefix) && path.endsWith("sonnet"));
}

/** Whether a source of the repo gives the manifests of its folder as they stand there. */
export function isPlainFolder(source: SourceView, files: RepoFiles): boolean {
  const kind = kindOf(source, inRepo(source.path ?? ""), files);
  return kind === "directory" || kind === "found";
}

/** The files beside an Application's manifests that override its source, as Image Updater writes them. */
export function overridesOf({ name, sources, isBase }: ValuesInput, files: Pick<RepoFiles, "read">): string[] {
  const folders = sources.filter((source) => isBase(source) && source.chart === undefined).map(({ path }) => inRepo(path ?? ""));
  return folders.flatMap((folder) => sourceOverrides(folder, name)).filter((file) => readOrNull(files, file) !== null);
}

type OfFile = (input: EffectInput, source: SourceView, folder: string, file: string) => Effect;

/** Only a source of the repo itself has a folder there. */
function each(input: EffectInput, source: SourceView, of: OfFile): Effect[] {
  if (source.chart !== undefined || !input.isBase(source)) return [];
  const folder = inRepo(source.path ?? "");
  const override = sourceOverrides(folder, input.name);
  return input.files.map((file) => (override.includes(file) ? "differs" : of(input, source, folder, file)));
}

type Kind = "helm" | "kustomize" | "directory" | "plugin" | "found";

/** As Argo CD tells: what the source says, else what stands in the folder. found: neither, so that a plugin may take it. */
function kindOf({ rest = {} }: SourceView, folder: string, files: RepoFiles): Kind {
  for (const kind of ["plugin", "helm", "kustomize", "directory"] as const) if (isRecord(rest[kind])) return kind;
  if (files.read(joinPath(folder, "Chart.yaml")) !== null) return "helm";
  return kustomizationIn(files, folder) === undefined ? "found" : "kustomize";
}

function isHelm(input: EffectInput, source: SourceView): boolean {
  if (source.chart !== undefined || !input.isBase(source)) return helmFiles(source).length > 0;
  return kindOf(source, inRepo(source.path ?? ""), input.after) === "helm";
}

function ofValues(input: EffectInput, source: SourceView): Effect {
  const [before, after] = [input.before, input.after].map((files) => helmValues(input, source, files));
  if (before !== undefined && after !== undefined) return sameValue({ valuesObject: before }, { valuesObject: after }) ? "none" : "differs";
  return input.files.some((file) => takesFile(input.sources, source, file, input.isBase)) ? "unknown" : "none";
}

const OF_CHART = /^(Chart\.(yaml|lock)|requirements\.(yaml|lock)|values\.schema\.json|(templates|charts|crds)\/.*)$/;

/** What of a chart is not values: Helm takes some files by their names, and others only where a template asks for them. */
function ofChart({ sources, isBase, after }: EffectInput, source: SourceView, folder: string, file: string): Effect {
  if (parameterFiles(source).some((name) => fileNamed(sources, source, name, isBase) === file)) return "differs";
  const prefix = folder === "" ? "" : `${folder}/`;
  if (!file.startsWith(prefix)) return "none";
  const inside = file.slice(prefix.length);
  if (OF_CHART.test(inside)) return "differs";
  const isValues = inside === "values.yaml" || takesFile(sources, source, file, isBase);
  return isValues || !asksForFiles(after, `${prefix}templates/`) ? "none" : "unknown";
}

function asksForFiles(files: RepoFiles, templates: string): boolean {
  const paths = files.paths().filter((path) => path.startsWith(templates));
  // Asks for every file in one pass, so that they come in one read.
  return paths.map((path) => readOrNull(files, path) ?? "").some((text) => text.includes(".Files"));
}

function ofFolder({ before, after, name }: EffectInput, source: SourceView, folder: string, file: string): Effect {
  const kind = kindOf(source, folder, after);
  if (kind === "plugin") return "unknown";
  if (kind === "kustomize") return ofKustomization(before, after, { source, folder, file, name });
  const prefix = folder === "" ? "" : `${folder}/`;
  const inside = file.startsWith(prefix) ? file.slice(prefix.length) : undefined;
  if (inside !== undefined && isManifestOf(source, inside)) return "differs";
  // A folder without a manifest is a plugin's, which may read anything.
  return kind === "directory" || holdsManifest(after, prefix) ? "none" : "unknown";
}

function ofKustomization(
  before: RepoFiles,
  after: RepoFiles,
  { source, folder, file, name }: { source: SourceView; folder: string; file: string; name: string },
): Effect {
  const reads = kustomizeReads(after, folder, file);
  if (reads === undefined) return "unknown";
  if (!reads) return "none";
  const own = source.rest?.["kustomize"];
  const given = { ...(isRecord(own) ? own : {}), ...overridden(after, folder, name, "kustomize") };
  return isImageOverridden(before, after, { top: folder, file, given }) ? "none" : "differs";
}

/** A plain folder is read at its top, unless it recurses, by the patterns that its source names. */
function isManifestOf({ rest }: SourceView, inside: string): boolean {
  const directory = isRecord(rest?.["directory"]) ? rest["directory"] : {};
  if (!/\.(ya?ml|json|jsonnet|libsonnet)$/.test(inside)) return false;
  const { recurse, include, exclude } = directory;
  if (recurse !== true && inside.includes("/")) return false;
  if (typeof exclude === "string" && exclude !== "" && matchesGlob(exclude, "gobwas", inside)) return false;
  return typeof include !== "string" || include === "" || matchesGlob(include, "gobwas", inside);
}

/** The manifests that a source of the repo gives as they stand in its folder; undefined: something renders it, or that cannot be told. */
export function plainManifests(source: SourceView, files: RepoFiles): string[] | undefined {
  if (source.ref !== undefined || source.chart !== undefined || !isPlainFolder(source, files)) return undefined;
  const folder = inRepo(source.path ?? "");
  const prefix = folder === "" ? "" : `${folder}/`;
  const own = files.paths().filter((path) => path.startsWith(prefix) && isManifestOf(source, path.slice(prefix.length)));
  return own.some((path) => path.endsWith("sonnet")) ? undefined : own;
}

const MOST_LOOKED_AT = 50;

function holdsManifest(files: RepoFiles, prefix: string): boolean {
  const own = files.paths().filter((path) => path.startsWith(prefix) && /^[^/]+\.(ya?ml|json)$/.test(path.slice(prefix.length)));
  const texts = own.slice(0, MOST_LOOKED_AT).map((path) => readOrNull(files, path) ?? "");
  return texts.some((text) => readManifests(text).some((object) => typeof object["apiVersion"] === "string" && "kind" in object));
}
