import type { RenderedApplication } from "../../core/appset/types.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { isRecord } from "../../core/base/is-record.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { RenderProblem } from "../../core/reasons/render.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Workflow } from "../config-repo/workflow-triggers.ts";
import type { EditedApplication, Sides } from "./edited.ts";
import type { ImageUpdaterRef } from "./image-updaters.ts";
import type { KargoWrite } from "./kargo.ts";
import type { RenovateSettings } from "./renovate.ts";

/** An Application that may be the parent of others: what applies a file of the repo to the cluster. */
export interface ParentApplication {
  name: string;
  sources: readonly SourceView[];
  /** Made by an ApplicationSet: no parent, as a rule. */
  owned: boolean;
  /** It syncs by itself. */
  automated: boolean;
  /** Annotation `argocd.argoproj.io/manifest-generate-paths`. */
  generatePaths?: string | undefined;
  /** It makes others, and Argo CD can be asked what it makes of a batch: the guard does, before each merge. */
  askable?: boolean | undefined;
  /** A kustomization changes it before it is applied, so that it may read another folder than its file says. */
  patched?: boolean | undefined;
}

/** What lint looks at outside the rollout's file. All of it may be missing: then nothing is said of it. */
export interface Gathered {
  rollout: Rollout;
  /** The ApplicationSet as it stands in Git. */
  set?: { file: string; object: Record<string, unknown> };
  /** What it yields; undefined where it cannot be rendered. */
  rendered?: readonly RenderedApplication[];
  /** Why it cannot. */
  unrendered?: RenderProblem;
  /** Pins by Application name, as resolved. */
  edits: ReadonlyMap<string, readonly Edit[]>;
  /** Places of an Application's spec that change with its pins; undefined: not known. */
  pinPaths?: readonly string[];
  /** The targets as another version in their pins would make them; undefined: not known. */
  edited?: { applications: readonly EditedApplication[]; sides: Sides };
  parents: readonly ParentApplication[];
  /** `parents` holds every Application there is. */
  seesAll: boolean;
  /** As Applications name it; undefined: not known. */
  repoURL?: string;
  /** Branch that batches are written to; undefined: not known. */
  base?: string;
  /** Those of `parents` that apply any of the rollout's sets. */
  appliers?: readonly ParentApplication[];
  /** Files with pins that declare Applications of the rollout: whoever applies them is meant to read them. */
  declaring: ReadonlySet<string>;
  /** Folders with a kustomization: whether it passes the set's manifest on. */
  kustomized: ReadonlyMap<string, boolean>;
  /** Files in the repo. */
  files: number;
  /** ImageUpdaters that the repo declares. */
  updaters?: readonly ImageUpdaterRef[];
  /** What Stages and PromotionTasks of Kargo write that the repo declares. */
  kargo?: readonly KargoWrite[];
  /** Renovate's settings in the repo. */
  renovate?: RenovateSettings;
  /** Checks that the base branch requires; undefined: not known. */
  required?: readonly { context: string; app?: number }[];
  /** GitHub's, at the base. */
  workflows?: readonly Workflow[];
}

export const AT_SOURCE = ["spec", "sourceRef", "name"];

export function specOf(object: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const spec = object?.["spec"];
  return isRecord(spec) ? spec : undefined;
}
