import { type AppSetCluster, compareRenders } from "../../core/appset/index.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { type Edit, type Plan, targetsOf } from "../../core/plan/plan-types.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { type ApplicationSetInGit, manifestIn, renderAt } from "../config-repo/appset-in-git.ts";
import { kustomizationsIn, takersOf } from "../config-repo/kustomize.ts";
import { isWorkflow, readWorkflow } from "../config-repo/workflow-triggers.ts";
import { applyEdits } from "../resolve/pin-edit.ts";
import type { Gathered, ParentApplication } from "./gathered.ts";
import { pinsAnImage } from "./ignored-pins.ts";
import { imageUpdatersIn } from "./image-updaters.ts";

export interface GatherInput {
  rollout: Rollout;
  set: ApplicationSetInGit | undefined;
  clusters: readonly AppSetCluster[];
  /** By Application name, as resolved at the same commit. */
  edits: ReadonlyMap<string, readonly Edit[]>;
  parents: readonly ParentApplication[];
  seesAll: boolean;
  repoURL: string | undefined;
  /** The repo's default branch, where it is known. */
  defaultBranch: string | undefined;
  /** Checks that this branch requires; left out: not known. */
  required?: readonly { context: string; app?: number }[] | undefined;
}

/** What the targets of a plan write, by Application name. */
export function editsOf(plan: Pick<Plan, "stages"> | undefined): Map<string, readonly Edit[]> {
  return new Map(plan === undefined ? [] : targetsOf(plan).map((target) => [target.application, target.edits]));
}

/** An Application as one that may apply others. */
export function parentOf({ name, spec, owner }: ApplicationView): ParentApplication {
  return { name, sources: committedSources(spec), owned: owner?.kind === "ApplicationSet", automated: spec.automated };
}

const MOST_WORKFLOWS = 500;

/** No version is like it, so that it is seen wherever it comes out. */
const MARK = "0.0.0-stagecoach-lint";

/** Renders the ApplicationSet once as it is and once with one target's pins changed, and puts together what lint looks at. */
export function gatherOutside(input: GatherInput, files: RepoFiles): Gathered {
  const { rollout, set, clusters, edits, parents, seesAll, repoURL, defaultBranch } = input;
  const base = defaultBranch ?? rollout.delivery.base;
  const before = set === undefined ? undefined : renderAt(set, clusters, files, repoURL ?? "", base ?? "HEAD");
  const rendered = before?.ok === true && before.applications.length > 0 ? before.applications : undefined;
  const pinPaths = set === undefined || rendered === undefined ? undefined : changedPlaces(input, set, files);
  return {
    rollout,
    edits,
    parents,
    seesAll,
    ...defined({ set, rendered, pinPaths, repoURL, base, updaters: pinsAnImage(rollout) ? imageUpdatersIn(files) : undefined }),
    ...defined({ unrendered: before?.problems[0] }),
    declaring: declaringFiles(input, files),
    kustomized: kustomizedFor(set?.file, files),
    files: files.paths().length,
    ...requirements(input, files),
  };
}

function declaringFiles({ rollout, edits }: GatherInput, files: RepoFiles): Set<string> {
  const { kind, name, namespace } = rollout.source;
  const all = new Set([...edits.values()].flatMap((own) => own.flatMap((edit) => (edit.kind === "branch" ? [] : edit.file))));
  const objects = kind === "ApplicationSet" ? [{ name, namespace }] : [...edits.keys()].map((one) => ({ name: one, namespace }));
  return new Set([...all].filter((file) => manifestIn(readOrNull(files, file), kind, objects) !== undefined));
}

function kustomizedFor(file: string | undefined, files: RepoFiles): Map<string, boolean> {
  const kustomizations = kustomizationsIn(files);
  const takers = new Set(file === undefined ? [] : takersOf(kustomizations, file));
  return new Map([...kustomizations.keys()].map((folder) => [folder, takers.has(folder)]));
}

/** Workflows are read only where a check is required. */
function requirements({ required }: GatherInput, files: RepoFiles): Pick<Gathered, "required" | "workflows"> {
  if (required === undefined || required.length === 0) return {};
  const workflows = files
    .paths()
    .filter(isWorkflow)
    .slice(0, MOST_WORKFLOWS)
    .flatMap((path) => readWorkflow(path, readOrNull(files, path) ?? "") ?? []);
  return { required, workflows };
}

/** What of its Application changes with the pins of a target; of the first, for they are alike. */
function changedPlaces(input: GatherInput, set: ApplicationSetInGit, files: RepoFiles): string[] | undefined {
  const { rollout, clusters, edits, repoURL = "" } = input;
  const base = input.defaultBranch ?? rollout.delivery.base ?? "HEAD";
  const [own] = edits.values();
  if (own === undefined) return undefined;
  const marked = own.filter((edit) => edit.kind === "value").map((edit) => ({ ...edit, to: MARK }));
  const changed = applyEdits(marked, (path) => files.read(path));
  if (!changed.ok || changed.files.size === 0) return undefined;
  const after: RepoFiles = { paths: () => files.paths(), read: (path) => changed.files.get(path) ?? files.read(path) };
  const text = after.read(set.file);
  const object = manifestIn(text, "ApplicationSet", [rollout.source]);
  if (object === undefined) return undefined;
  const [one, two] = [renderAt(set, clusters, files, repoURL, base), renderAt({ ...set, object }, clusters, after, repoURL, base)];
  if (!one.ok || !two.ok) return undefined;
  return compareRenders(one, two).changed.flatMap(({ paths }) => paths);
}
