import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { compareRenders } from "../../core/appset/compare.ts";
import type { AppSetCluster, RenderResult } from "../../core/appset/types.ts";
import { generatePathsOf } from "../../core/argocd/decode/application.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import type { IsBase } from "../../core/argocd/source-files.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { type Edit, filesOf, type Plan, targetsOf } from "../../core/plan/plan-types.ts";
import type { Rollout, SourceRef } from "../../core/spec/rollout.ts";
import { type ApplicationSetInGit, manifestAt, sourcesOf } from "../config-repo/appset-in-git.ts";
import { kustomizationsIn, takersOf } from "../config-repo/kustomize.ts";
import { isAskable } from "../config-repo/parent-renders.ts";
import { renderAt } from "../config-repo/render-set.ts";
import { noting } from "../config-repo/snapshot.ts";
import { isWorkflow, readWorkflow } from "../config-repo/workflow-triggers.ts";
import { applyEdits } from "../resolve/apply-edits.ts";
import { copiedTexts } from "../resolve/copies.ts";
import { declaredDiffers, type EditedApplication, feedsSet, MARK, takeMarked, withTexts } from "./edited.ts";
import type { Gathered, ParentApplication } from "./gathered.ts";
import { pinsAnImage } from "./ignored-pins.ts";
import { imageUpdatersIn } from "./image-updaters.ts";
import { kargoIn } from "./kargo.ts";
import { isBaseOf } from "./outside-readers.ts";
import { renovateIn } from "./renovate.ts";

export interface GatherInput {
  rollout: Rollout;
  set: ApplicationSetInGit | undefined;
  clusters: readonly AppSetCluster[];
  /** By Application name, as resolved at the same commit. */
  edits: ReadonlyMap<string, readonly Edit[]>;
  parents: readonly ParentApplication[];
  /** Templates of charts that make sets of the rollout which no file declares. */
  templates?: readonly string[];
  seesAll: boolean;
  repoURL: string | undefined;
  /** The repo's default branch, where it is known. */
  defaultBranch: string | undefined;
  /** How this branch takes merges of pull requests; left out: in every way, or it is not known. */
  methods?: readonly string[] | undefined;
  /** Checks that this branch requires; left out: not known. */
  required?: readonly { context: string; app?: number }[] | undefined;
}

/** One of the ApplicationSets that a rollout's Applications come from, and their pins. `set` undefined: Git does not tell. */
export interface SetPart {
  source: SourceRef;
  set: ApplicationSetInGit | undefined;
  edits: GatherInput["edits"];
}

/** What the targets of a plan write, by Application name. */
export function editsOf(plan: Pick<Plan, "stages"> | undefined): Map<string, readonly Edit[]> {
  return new Map(plan === undefined ? [] : targetsOf(plan).map((target) => [target.application, target.edits]));
}

/** An Application as one that may apply others. */
export function parentOf({ name, spec, owner, generatePaths }: ApplicationView): ParentApplication {
  const owned = owner?.kind === "ApplicationSet";
  return { name, sources: committedSources(spec), owned, automated: spec.automated, generatePaths };
}

/** The Applications of a control plane, as those that may apply others; `sets` are of the rollout. */
export function parentsOn(
  plane: ControlPlane,
  base: { repoURL: string; baseBranch: string },
  sets: readonly { ref: { namespace: string; name: string } }[],
): ParentApplication[] {
  const applications = plane.applications();
  const applied = [...sets.map(({ ref }) => ({ ...ref, ...plane.applicationSet(ref.namespace, ref.name) })), ...applications];
  const parents = new Set(applied.flatMap(({ namespace, appliedBy: by }) => (by ? [`${by.namespace ?? namespace}/${by.name}`] : [])));
  return applications.map((view) => {
    const askable = parents.has(`${view.namespace}/${view.name}`) && isAskable(plane, view, base);
    return { ...parentOf(view), askable };
  });
}

const MOST_WORKFLOWS = 500;

/** Puts together what lint looks at: what the set makes, and who else writes and checks the repo. */
export function gatherOutside(input: GatherInput, files: RepoFiles): Gathered {
  const updaters = pinsAnImage(input.rollout) ? imageUpdatersIn(files) : undefined;
  const others = defined({ updaters, kargo: kargoIn(files), renovate: renovateIn(files) });
  return { ...gatherSet(input, files), ...others, ...requirements(input, files) };
}

/** Renders the ApplicationSet once as it is and once with another version in every pin. */
export function gatherSet(input: GatherInput, files: RepoFiles): Gathered {
  const { rollout, set, edits, parents, seesAll, repoURL, defaultBranch } = input;
  const base = defaultBranch ?? rollout.delivery.base;
  const madeFrom = new Set(set === undefined ? [] : [set.file]);
  const before = set === undefined ? undefined : renderOf(input, set, noting(files, madeFrom));
  const rendered = before?.ok === true && before.applications.length > 0 ? before.applications : undefined;
  const after = withPinsMarked(edits, files);
  const marked = set === undefined || after === undefined ? undefined : renderMarked(input, set, after, madeFrom);
  const difference = before?.ok === true && marked?.ok === true ? compareRenders(before, marked) : undefined;
  const pinPaths = difference && [...new Set(difference.changed.flatMap(({ paths }) => paths))];
  const isBase: IsBase = repoURL === undefined ? () => true : isBaseOf({ repoURL, baseBranch: base ?? "HEAD" });
  const applications = editedOf(input, { rendered: marked?.ok === true ? marked : before, difference, madeFrom }, files, after);
  return {
    rollout,
    edits,
    parents,
    seesAll,
    ...defined({ set, rendered, pinPaths, repoURL, base }),
    ...defined({ edited: after && { applications, sides: { before: files, after, isBase } } }),
    ...defined({ unrendered: before?.problems[0] }),
    declaring: declaringFiles(input, files),
    kustomized: kustomizedFor(set?.file, files),
    files: files.paths().length,
  };
}

function declaringFiles({ rollout, edits }: GatherInput, files: RepoFiles): Set<string> {
  const { kind, name, namespace } = rollout.source;
  const all = new Set([...edits.values()].flatMap((own) => own.flatMap(filesOf)));
  const objects = kind === "ApplicationSet" ? [{ name, namespace }] : [...edits.keys()].map((one) => ({ name: one, namespace }));
  return new Set([...all].filter((file) => manifestAt(files, file, kind, objects) !== undefined));
}

function kustomizedFor(file: string | undefined, files: RepoFiles): Map<string, boolean> {
  const kustomizations = kustomizationsIn(files);
  const takers = new Set(file === undefined ? [] : takersOf(kustomizations, file));
  return new Map([...kustomizations.keys()].map((folder) => [folder, takers.has(folder)]));
}

function renderOf({ rollout, clusters, repoURL = "", defaultBranch }: GatherInput, set: ApplicationSetInGit, files: RepoFiles) {
  return renderAt(set, clusters, files, repoURL, defaultBranch ?? rollout.delivery.base ?? "HEAD");
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

/** The ApplicationSet as it would stand with them; undefined: it would stand there no more. */
function renderMarked(input: GatherInput, set: ApplicationSetInGit, after: RepoFiles, madeFrom: Set<string>): RenderResult | undefined {
  // What a kustomization or a chart makes of an edit is not seen in what Git declares.
  // Marks make a file that was read a little longer than what is read.
  const object =
    set.made === undefined ? manifestAt(after, set.file, "ApplicationSet", [input.rollout.source], Number.POSITIVE_INFINITY) : undefined;
  return object && renderOf(input, { ...set, object }, noting(after, madeFrom));
}

/** The repo with another version in every pin; where a pin takes none such, with what is to be written. undefined: nothing would change. */
function withPinsMarked(edits: GatherInput["edits"], files: RepoFiles): RepoFiles | undefined {
  const values = eachOnce([...edits.values()].flatMap((own) => own.filter(({ kind }) => kind === "value")));
  const copied = copiedTexts([...edits.values()].flat(), files);
  const kept = copied.size === 0 ? takeMarked(files, values) : undefined;
  if (kept !== undefined) return kept;
  const marked = applyEdits(
    values,
    (path) => files.read(path),
    () => MARK,
  );
  const changed = marked.ok ? marked : applyEdits(values, (path) => files.read(path));
  if (!changed.ok) return undefined;
  const texts = new Map([...changed.files, ...copied]);
  return texts.size > 0 ? withTexts(files, texts) : undefined;
}

/** One edit a place. By path first: where a path names one place, no long key is made. */
function eachOnce(edits: readonly Edit[]): Edit[] {
  const byPath = new Map<string, { first: Edit; others?: Set<string> }>();
  const keyOf = ({ file, part }: Edit) => `${file}\n${part ?? ""}`;
  return edits.filter((edit) => {
    const known = byPath.get(edit.path);
    if (known === undefined) {
      byPath.set(edit.path, { first: edit });
      return true;
    }
    known.others ??= new Set([keyOf(known.first)]);
    const { size } = known.others;
    return known.others.add(keyOf(edit)).size > size;
  });
}

interface Rendering {
  rendered: RenderResult | undefined;
  difference: ReturnType<typeof compareRenders> | undefined;
  madeFrom: ReadonlySet<string>;
}

/** Each target as its pins would make it. One of which neither the manifest nor the Application is known is left out. */
function editedOf(
  { rollout, set, edits, parents }: GatherInput,
  { rendered, difference, madeFrom }: Rendering,
  before: RepoFiles,
  after: RepoFiles | undefined,
): EditedApplication[] {
  if (after === undefined) return [];
  const yielded = new Map(rendered?.ok === true ? rendered.applications.map((one) => [one.metadata.name, one]) : []);
  const changed = new Set(difference?.changed.map(({ name }) => name));
  const { namespace, kind } = rollout.source;
  // A patch of the set, or another hub's: what Git declares here does not tell what becomes of it.
  const isApart = (file: string) =>
    set === undefined ||
    (file !== set.file && (manifestAt(before, file, "ApplicationSet", [rollout.source]) !== undefined || feedsSet(before, set.file, file)));
  const seen = new Map(parents.toReversed().map((one) => [one.name, one]));
  const differing = differingFiles(before, after);
  return [...edits].flatMap(([name, own]): EditedApplication[] => {
    const manifest = yielded.get(name);
    const live = seen.get(name);
    const files = differing(own.filter((edit) => edit.kind === "value" || edit.kind === "copy").flatMap(filesOf));
    if (files.length === 0 || (manifest === undefined && live === undefined)) return [];
    const annotations = [live?.generatePaths, manifest && generatePathsOf(manifest.metadata.annotations ?? {})];
    const sources = manifest === undefined ? (live?.sources ?? []) : sourcesOf(manifest.spec);
    const known = difference !== undefined && manifest !== undefined && (changed.has(name) || !files.some(isApart));
    const bySet = known ? changed.has(name) : undefined;
    const specDiffers = kind === "ApplicationSet" ? bySet : declaredDiffers({ name, namespace }, files, { before, after });
    return [{ name, sources, annotations, files, specDiffers, madeFrom }];
  });
}

/** Those of some files that differ between two sides, as one list wherever it is the same. */
function differingFiles(before: RepoFiles, after: RepoFiles): (written: readonly string[]) => string[] {
  const differ = new Map<string, boolean>();
  const lists = new Map<string, string[]>();
  return (written) => {
    const files = [...new Set(written)].filter((file) => {
      const known = differ.get(file) ?? readOrNull(before, file) !== readOrNull(after, file);
      differ.set(file, known);
      return known;
    });
    const key = files.join("\n");
    const list = lists.get(key) ?? files;
    lists.set(key, list);
    return list;
  };
}
