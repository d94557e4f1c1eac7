import type { KindsOf } from "../../base/reason.ts";
import type { RenderProblem } from "../render.ts";
import type { SyntaxKinds } from "./file.ts";

/** What is wrong with the manifest of an ApplicationSet and with who applies it. */
export interface SetProblems {
  /** The Application that applies the set waits for a person. */
  PARENT_BY_HAND: { parent: string; set: string };
  /** Several files declare it, and which one Argo CD has cannot be told. */
  SET_AMBIGUOUS: { set: string; files: readonly string[] };
  /** Helm makes the set from the file with the pin, by this template. */
  SET_FED: { set: string; template: string; pinned: string };
  /** Kustomizations make others of the Applications than their files say; `by`: the field of the first one's, in `folder`. */
  APPLICATION_CHANGED: { applications: readonly string[]; folder: string; by: string };
  /** What the render guard would say of the plan's first batch, in words. */
  BATCH_REFUSED: { applications: readonly string[]; said: string };
  /** A file with pins that are not per item of it. `others`: how many more read it. */
  READ_OUTSIDE: { changed: string; application: string; others: number };
  PARENT_READS: { changed: string; parent: string };
  SET_BROKEN:
    | { kind: "Yaml" | "Json"; set: string; said: string }
    | { kind: "Slip"; set: string; slip: KindsOf<SyntaxKinds> }
    | { kind: "Render"; set: string; problem: RenderProblem };
  /** Both sets make these. */
  SETS_OVERLAP: { applications: readonly string[]; sets: readonly string[] };
  /** `right`: what it should be, of the first of them. */
  NO_GENERATE_PATHS: { applications: number; files: number; annotation: string; right: string };
  /** `changed`: a file of the first of them that `paths` leave out; `right`: what they should be. */
  PATHS_NOT_COVERED: { applications: readonly string[]; annotation: string; changed: string; paths: string; right: string };
  /** What one pin writes a tag or digest of: each image with the first Application that has it there. */
  PIN_IMAGES_DIFFER: { images: readonly { image: string; application: string }[]; pinPath: string };
  /** `files`: in which the pins of the first of them stand. */
  /** `override`: the file `.argocd-source…` beside its manifests, where there is one. */
  PIN_WITHOUT_EFFECT: { applications: readonly string[]; files: readonly string[]; override?: string | undefined };
}
