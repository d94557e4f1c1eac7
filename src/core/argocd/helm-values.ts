/** The values that Helm would take for a source, layer by layer, as far as they stand in the repo and in the Application. */
import { joinPath } from "../base/clean-path.ts";
import { matchesGlob } from "../base/glob.ts";
import { isRecord } from "../base/is-record.ts";
import { type RepoFiles, readOrNull } from "../base/repo-files.ts";
import { readYamlDocuments } from "../base/yaml-read.ts";
import { fileNamed, helmOf, type IsBase, inRepo, isGlob, texts } from "./source-files.ts";
import type { SourceView } from "./views.ts";

export interface ValuesInput {
  /** Of the Application. */
  name: string;
  sources: readonly SourceView[];
  isBase: IsBase;
}

/** The merged values of one source; undefined: one of its layers is no YAML, so that nothing can be said. */
export function helmValues({ name, sources, isBase }: ValuesInput, source: SourceView, files: RepoFiles): unknown {
  const folder = isBase(source) && source.chart === undefined ? inRepo(source.path ?? "") : undefined;
  const helm = { ...helmOf(source), ...overridden(files, folder, name, "helm") };
  const layers = [folder === undefined ? {} : yamlIn(files, joinPath(folder, "values.yaml"))];
  for (const named of texts(helm["valueFiles"])) {
    const file = fileNamed(sources, source, named, isBase);
    // What stands in another repo is the same before and after.
    if (file === undefined) continue;
    const found = isGlob(file) ? [...files.paths()].filter((path) => matchesGlob(file, "doublestar", path)).sort() : [file];
    layers.push(...found.map((path) => yamlIn(files, path)));
  }
  layers.push(isRecord(helm["valuesObject"]) ? helm["valuesObject"] : yaml(typeof helm["values"] === "string" ? helm["values"] : ""));
  if (layers.includes(undefined)) return undefined;
  const merged = layers.reduce(merge, {});
  for (const parameter of Array.isArray(helm["parameters"]) ? helm["parameters"] : []) setParameter(merged, parameter);
  return merged;
}

/** `.argocd-source.yaml` and the Application's own: what stands there takes the place of what the spec says. */
export function overridden(
  files: Pick<RepoFiles, "read">,
  folder: string | undefined,
  name: string,
  kind: "helm" | "kustomize",
): Record<string, unknown> {
  if (folder === undefined) return {};
  const [all, own] = sourceOverrides(folder, name).map((path) => {
    const written = yamlIn(files, path);
    return isRecord(written) && isRecord(written[kind]) ? written[kind] : {};
  });
  return { ...all, ...own };
}

/** Files beside the manifests that override the source of one Application, or of all that read the folder. */
export function sourceOverrides(folder: string, name: string): string[] {
  return [".argocd-source.yaml", `.argocd-source-${name}.yaml`].map((file) => joinPath(folder, file));
}

/** A file that is not there is an empty one. */
export function yamlIn(files: Pick<RepoFiles, "read">, path: string): unknown {
  return yaml(readOrNull(files, path) ?? "");
}

function yaml(text: string): unknown {
  const [document, second] = readYamlDocuments(text);
  if (document?.problem !== undefined || second !== undefined) return undefined;
  return document?.value ?? {};
}

/** As Helm merges values: maps key by key, all else replaced, null takes a key away. */
function merge(base: unknown, over: unknown): unknown {
  if (!isRecord(base) || !isRecord(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === null || key === "__proto__") delete merged[key];
    else merged[key] = Object.hasOwn(merged, key) ? merge(merged[key], value) : value;
  }
  return merged;
}

/** `--set a.b=v`. One that names a place in a list is left out: then a difference below it counts, though it may be overridden. */
function setParameter(values: unknown, parameter: unknown): void {
  if (!isRecord(parameter) || typeof parameter["name"] !== "string" || /[[\]{}\\]|__proto__/.test(parameter["name"])) return;
  const keys = parameter["name"].split(".");
  let at = values;
  for (const key of keys.slice(0, -1)) {
    if (!isRecord(at)) return;
    const inner: unknown = Object.hasOwn(at, key) ? at[key] : undefined;
    at[key] = isRecord(inner) ? { ...inner } : {};
    at = at[key];
  }
  if (isRecord(at)) at[keys.at(-1) ?? ""] = parameter["value"];
}
