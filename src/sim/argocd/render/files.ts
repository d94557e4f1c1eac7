/** Files of a commit and the objects in them, for whoever renders here: a plain folder, a kustomization, a chart. */
import { readYamlDocuments } from "../../../core/base/yaml-read.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { GitSource, TreeEntry } from "../git/git-source.ts";
import type { ApplicationSource } from "../types.ts";

/** What stands in Git cannot be rendered or applied. */
export class ManifestError extends Error {
  override name = "ManifestError";
}

export interface CommitFiles {
  tree: ReadonlyMap<string, TreeEntry>;
  /** Throws ManifestError where there is none. */
  read(path: string): Promise<string>;
}

export interface RenderedSource {
  source: ApplicationSource;
  git: GitSource;
  commit: string;
  /** Cleaned; "" is the root. */
  path: string;
  /** Files of other sources, by their `ref`. */
  refs: ReadonlyMap<string, { git: GitSource; commit: string }>;
}

/** Of the Application that it is rendered for. */
export interface RenderedFor {
  name: string;
  namespace: string;
}

export async function filesOf({ git, commit }: { git: GitSource; commit: string }): Promise<CommitFiles> {
  return {
    tree: await git.tree(commit),
    async read(path) {
      const text = (await git.read(commit, [path])).get(path);
      if (text === undefined) throw new ManifestError(`${path}: no such file or directory`);
      return text;
    },
  };
}

export function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** A template of a chart beside the sets is no business of this; a broken set is. */
const ARGO_KIND = /^kind: *(ApplicationSet|Application|AppProject) *$/m;

/** The objects of Kubernetes in a text; what is no YAML is passed over, unless it would be one of Argo CD's. */
export function objectsIn(name: string, text: string, strict = false): KubeObject[] {
  return readYamlDocuments(text).flatMap(({ value, problem, line }) => {
    if (problem !== undefined && (strict || ARGO_KIND.test(text))) throw new ManifestError(`${name}: ${problem} at line ${line}`);
    return isObject(value) ? [value] : [];
  });
}

function isObject(value: unknown): value is KubeObject {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  return typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string";
}
