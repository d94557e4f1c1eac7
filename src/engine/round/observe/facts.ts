/** What may be asked while targets are judged. Answered by `mirror-facts.ts`. */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { AppSetCluster } from "../../../core/appset/types.ts";
import type { Ancestry, HydratedFiles, Intended } from "../../../core/argocd/liveness/types.ts";
import type { ApplicationSetView, ApplicationView, SourceView, SyncWindowsView } from "../../../core/argocd/views.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";

/** What judging a target may ask of our own mirror and of Argo CD, answered at once or in the next pass. */
export interface Facts {
  /** Whether a revision that Argo CD has seen contains a commit. */
  ancestry(seen: string, commit: string): Ancestry;
  /** The commit that a tag of the config repo means; undefined: none, or of another repo. */
  resolve(repoURL: string, revision: string): string | undefined;
  /**
   * The commit up to `seen` that gave a pin of the target another value than this run set, or a file beside its manifests that takes the
   * pin's place (`override`); undefined: none did. unknown: it cannot be read.
   */
  pinDiffers(batch: Batch, target: BatchTarget, seen: string, application: ApplicationView | undefined): PinDiffers | "unknown" | undefined;
  /** The images that a target's edits have written; undefined: none. */
  images(batch: Batch, target: BatchTarget): readonly string[] | undefined;
  /** What stands beside the hydrated manifests of a source at a revision. */
  hydrated(source: SourceView, seen: string): HydratedFiles;
  /** What a live set whose generators read the config repo yields, by name: at the base's head, or at a commit that it lacks yet. */
  renderedNow(set: ApplicationSetView, clusters: readonly AppSetCluster[], commit: string): SetNow | "unread" | undefined;
  /** undefined: they cannot be seen. */
  windows(plane: ControlPlane, namespace: string, name: string): SyncWindowsView | undefined;
  /** What a parent made of the Application before a merge. undefined: it cannot be told, or makes of the merge another than lives. */
  madeBefore(plane: ControlPlane, application: ApplicationView, merge: Merge): readonly SourceView[] | undefined;
}

export interface PinDiffers {
  commit: string;
  override?: string | undefined;
}

/** A commit of the config repo, and its first parent. */
export interface Merge {
  commit: string;
  parent: string;
}

export type SetNow = ReadonlyMap<string, Intended>;

/** Runs a synchronous judgement; what it asks and nobody knows yet is found out, and it is run again. */
export type WithFacts = <T>(judge: (facts: Facts) => T) => Promise<T>;
