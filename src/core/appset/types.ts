import type { RepoFiles } from "../base/repo-files.ts";
import type { RenderProblem } from "../reasons/render.ts";

/** A cluster as the clusters generator sees its Secret. `labels` include `argocd.argoproj.io/secret-type: cluster`. */
export interface AppSetCluster {
  name: string;
  server: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  project?: string;
  /** Labels and annotations are not its Secret's: nothing may be made of them. */
  derived?: unknown;
}

/** All that rendering may look at. */
export interface RenderContext {
  clusters: readonly AppSetCluster[];
  /** What a git generator reads; undefined: that repository or revision is not available. */
  repo?(repoURL: string, revision: string): RepoFiles | undefined;
  /** Argo CD's `applicationsetcontroller.enable.new.git.file.globbing`: `*` stops at `/`. Default false, as there. */
  newGitFileGlobbing?: boolean;
}

/** Parameters of one Application: flat text keys (`path.basename`) in the default mode, nested data with `goTemplate`. */
export type ParamSet = Record<string, unknown>;

export interface RenderedApplication {
  apiVersion: "argoproj.io/v1alpha1";
  kind: "Application";
  metadata: {
    name: string;
    namespace: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: Record<string, unknown>[];
  };
  spec: Record<string, unknown>;
}

/** One entry of `spec.generators`. */
export interface RenderedGenerator {
  index: number;
  /** `list`, `clusters`, `git`, `matrix`, `merge`, …; several joined by `+` where an entry holds several. */
  kind: string;
  /** Empty where there is a problem. */
  params: ParamSet[];
  problem?: RenderProblem | undefined;
  /** How often Argo CD looks again by itself, in seconds; absent: never. */
  requeueAfterSeconds?: number | undefined;
}

export interface RenderResult {
  /** False: Argo CD would change nothing, or this program cannot know; `applications` is empty then. */
  ok: boolean;
  applications: RenderedApplication[];
  generators: RenderedGenerator[];
  problems: RenderProblem[];
}
