/**
 * Proves a proposal by rendering the repo before and after a release: it changes each of its Applications, and no other. Called by `propose.ts`
 * for every rollout before anybody sees it.
 */
import { posix } from "node:path";
import { compareRenders } from "../../core/appset/compare.ts";
import type { RenderResult } from "../../core/appset/types.ts";
import { decodeSource } from "../../core/argocd/decode/source.ts";
import { effectOfFiles } from "../../core/argocd/edit-effect.ts";
import { tidyPath, valuesFilesOf } from "../../core/argocd/source-places.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { dig, isRecord, listAt } from "../../core/base/is-record.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Objection } from "../../core/reasons/onboarding.ts";
import { generatorCluster } from "../config-repo/appset-in-git.ts";
import { kustomizationsIn, takersOf } from "../config-repo/kustomize.ts";
import { renderOnce } from "../config-repo/render-set.ts";
import { documentsAt } from "../config-repo/set-files.ts";
import { foldersOf, keepMarked, MARK, withTexts } from "../lint/edited.ts";
import { applyEdits } from "../resolve/apply-edits.ts";
import { sourcesOf } from "./places-spec.ts";
import type { InitInput, InitTarget, Manifest, Place } from "./types.ts";

interface Proposed {
  targets: readonly InitTarget[];
  /** Of each target, in their order: where a release writes. */
  places: readonly (readonly Place[])[];
}

/** What stands against a proposal; empty: it changes what it is about, and nothing else. `all`: every Application of the repo. */
export function proveProposal({ targets, places }: Proposed, all: readonly InitTarget[], input: InitInput): Objection[] {
  const edits = editsOf(places.flat());
  const after = applyEdits(edits, (path) => input.files.read(path));
  if (!after.ok) return [{ kind: "NotWritten", file: after.problem.file }];
  const written = new Set([...after.files].filter(([file, text]) => text !== input.files.read(file)).map(([file]) => file));
  const own = new Set(targets.map(keyOf));
  const declaring = new Set(targets.flatMap(({ manifest, set }) => [manifest?.file ?? "", set?.manifest?.file ?? ""]));
  const isBase = ({ repoURL }: SourceView) => input.isThisRepo(repoURL);
  const made = [...written].filter((file) => !declaring.has(file));
  const sides = { before: input.files, after: withTexts(input.files, after.files) };
  keepMarked(input.files, { edits, after: sides.after });
  const rendered = renderedDifferently(written, sides.after, all, input);
  const effect = ({ application, spec }: InitTarget, files: readonly string[]) =>
    effectOfFiles({ ...sides, name: application, sources: viewsOf(spec), isBase, files });
  const changed = (target: InitTarget) =>
    rendered.has(keyOf(target)) ||
    effect(
      target,
      made.filter((file) => !feeds(target, file)),
    ) === "differs";
  const untouched = targets.filter((target, i) => {
    const files = [...new Set(places[i]?.map(({ file }) => file))];
    return !files.some((file) => target.manifest?.file === file) && !rendered.has(keyOf(target)) && effect(target, files) === "none";
  });
  const near = nearTo(made, all, input.files);
  const suspects = rendered.size === 0 ? [...near] : all.filter((target) => near.has(target) || rendered.has(keyOf(target)));
  const tooMuch = suspects.filter((target) => !own.has(keyOf(target)) && changed(target));
  return [
    ...(untouched.length === 0 ? [] : [{ kind: "ChangesNothing" as const, applications: namesOf(untouched) }]),
    ...(tooMuch.length === 0 ? [] : [{ kind: "ChangesOthers" as const, applications: namesOf(tooMuch) }]),
  ];
}

/** Each place once. */
function editsOf(places: readonly Place[]): Edit[] {
  const edits = places.map(({ file, path, part, create, value }): [string, Edit] => [
    `${file}\n${path}`,
    { kind: "value", file, path, from: value, to: MARK, ...defined({ part, create: create === true ? create : undefined }) },
  ]);
  return [...new Map(edits).values()].map((edit) =>
    edit.kind === "value" && /digest/.test(`${edit.part ?? ""} ${edit.path}`) ? { ...edit, to: edit.from ?? MARK } : edit,
  );
}

/** What a generator reads is no manifest: what comes of it is seen in the rendering. */
function feeds({ params }: InitTarget, file: string): boolean {
  const folder = params["path.path"] ?? params["path"] ?? "";
  return params["path.filename"] !== undefined && posix.join(folder, params["path.filename"]) === file;
}

/** The Applications that could read one of these files at all: the others need no closer look. */
function nearTo(written: readonly string[], all: readonly InitTarget[], files: RepoFiles): ReadonlySet<InitTarget> {
  const kustomizations = kustomizationsIn(files);
  const takers = written.flatMap((file) => [...takersOf(kustomizations, posix.dirname(file)), ...takersOf(kustomizations, file)]);
  const readers = READERS.get(all) ?? readersOf(all);
  READERS.set(all, readers);
  const places = new Set(["", ...takers, ...written.flatMap((file) => [file, ...foldersOf(file)])]);
  return new Set([...places].flatMap((place) => readers.get(place) ?? []));
}

/** Each rollout of a repo is proven against all of its Applications. */
const READERS = new WeakMap<readonly InitTarget[], Map<string, InitTarget[]>>();

/** Applications by the folders they are made from, and the values files they name. */
function readersOf(all: readonly InitTarget[]): Map<string, InitTarget[]> {
  const readers = new Map<string, InitTarget[]>();
  for (const target of all) {
    const places = viewsOf(target.spec).flatMap((source) => [
      ...(source.path === undefined ? [] : [tidyPath(source.path)]),
      ...valuesFilesOf(source),
    ]);
    for (const place of new Set(places)) {
      const own = readers.get(place);
      if (own === undefined) readers.set(place, [target]);
      else own.push(target);
    }
  }
  return readers;
}

const VIEWS = new WeakMap<object, SourceView[]>();

function viewsOf(spec: Record<string, unknown>): SourceView[] {
  const views = VIEWS.get(spec) ?? sourcesOf(spec).map(({ source }) => decodeSource(source));
  VIEWS.set(spec, views);
  return views;
}

/** Keys of Applications that their ApplicationSets make otherwise once the edits are made, come or go. */
function renderedDifferently(written: ReadonlySet<string>, after: RepoFiles, all: readonly InitTarget[], input: InitInput): Set<string> {
  const found = new Set<string>();
  const manifests = new Set(all.flatMap(({ set }) => set?.manifest ?? []));
  for (const manifest of manifests) {
    // Of folders only the names count, and an edit makes none.
    if (!written.has(manifest.file) && !readsFiles(dig(manifest.object, "spec", "generators"))) continue;
    const [old, fresh] = [rendering(manifest.object, input.files, input), rendering(objectIn(manifest, after), after, input)];
    if (old?.ok !== true || fresh?.ok !== true) continue;
    const { removed, added, changed } = compareRenders(old, fresh);
    const namespace = old.applications[0]?.metadata.namespace ?? "argocd";
    for (const name of [...removed, ...added, ...changed.map((one) => one.name)]) found.add(`${namespace}/${name}`);
  }
  return found;
}

/** Whether a generator takes parameters from files, on any level. */
function readsFiles(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(readsFiles);
  if (!isRecord(node)) return false;
  return listAt(node, "git", "files").length > 0 || ["matrix", "merge"].some((kind) => readsFiles(dig(node, kind, "generators")));
}

function rendering(object: unknown, files: RepoFiles, { clusters, isThisRepo }: InitInput): RenderResult | undefined {
  if (object === undefined) return undefined;
  return renderOnce(object as Record<string, unknown>, {
    clusters: clusters.map((cluster) => generatorCluster(cluster)),
    repo: (url) => (isThisRepo(url) ? files : undefined),
  });
}

function objectIn({ file, document, item }: Manifest, files: RepoFiles): unknown {
  const whole = documentsAt(files, file, files.read(file) ?? "")[document - 1]?.value;
  return item === undefined ? whole : listAt(whole, "items")[item];
}

function keyOf({ namespace, application, controlPlane }: InitTarget): string {
  return `${controlPlane === undefined ? "" : `${controlPlane.name}/`}${namespace}/${application}`;
}

function namesOf(targets: readonly InitTarget[]): string[] {
  return targets.map(({ application }) => application);
}
