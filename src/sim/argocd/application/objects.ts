/**
 * What stands for the objects of an Application where its manifests are asked for: one a source, which holds the texts of all files that it
 * is made from, and what the Application says of it itself. Nothing is rendered. Called by `manifests.ts`.
 */
import type { GitSource } from "../git/git-source.ts";
import type { Located } from "./manifest-names.ts";

/** A file that a source is made from. */
export interface MadeFrom {
  git: GitSource;
  commit: string;
  name: string;
}

export async function objectOf({ source, revision }: Located, files: readonly MadeFrom[]): Promise<string> {
  const data: Record<string, string> = {};
  for (const { git, commit, name } of files) data[name] = (await git.read(commit, [name])).get(name) ?? "";
  const { repoURL: _url, targetRevision: _revision, ...inline } = source;
  const chart = source.chart === undefined ? undefined : `${source.chart}-${revision}`;
  const metadata = { name: source.chart ?? source.path ?? source.ref ?? "objects", labels: { "helm.sh/chart": chart } };
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, inline, data });
}
