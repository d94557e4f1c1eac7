/** Why Applications that run one thing get no pin, as plainly as it can be told. Called by `propose.ts`. */
import { tidyPath } from "../../core/argocd/source-places.ts";
import { foldersAbove } from "../../core/base/clean-path.ts";
import { defined } from "../../core/base/defined.ts";
import { textAt } from "../../core/base/is-record.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Guess, Hindrance, PlaceHindrance } from "../../core/reasons/onboarding.ts";
import type { Undecided } from "../../core/report/onboarding/types.ts";
import { kustomizationsIn, takersOf } from "../config-repo/kustomize.ts";
import type { CollectedSet } from "./collect.ts";
import { sourcesOf } from "./places-spec.ts";
import type { Scan } from "./scan.ts";
import type { InitTarget, Place } from "./types.ts";

interface Unpinned {
  because: readonly PlaceHindrance[];
  /** Of each of them. */
  places: readonly (readonly Place[])[];
  areParents: boolean;
  targets: readonly InitTarget[];
  files: RepoFiles;
  /** Not all of them read other branches. */
  someReadBase: boolean;
  /** Would tell their branches apart. */
  label?: { values: string[]; text: string } | undefined;
}

/** Of several reasons the first is told: that without which the others would not matter. */
const PLACES: readonly PlaceHindrance["kind"][] = ["BrokenFile", "OtherRepo", "OfSecret", "OtherBranch", "Floating", "NothingThere"];

/** What is read elsewhere has no place here, whatever the others have; and a parent has none of its own. */
export function whyUnpinned(
  why: Hindrance,
  { because: all, places, areParents, targets, files, someReadBase, label }: Unpinned,
): Hindrance {
  const because = all
    .toSorted((a, b) => PLACES.indexOf(a.kind) - PLACES.indexOf(b.kind))
    .map((one) => (one.kind === "OtherBranch" && someReadBase ? { ...one, some: true } : one));
  // What cannot be read may hold any version: nothing else is known then.
  if (because[0]?.kind === "BrokenFile") return { kind: "NoVersion", anywhere: false, because };
  if (label !== undefined) return { kind: "NoPin", slots: [{ kind: "NotToldApart", slot: "branch", texts: label.values, label }] };
  if (why.kind === "OneVersionForAll" && targets.every(({ set }) => set === undefined))
    return { ...why, overlays: overlaysOver(why.file, files) };
  if (why.kind !== "NoVersion" && why.kind !== "NoPin") return why;
  const [first] = because;
  if (areParents && places.every((own) => own.length === 0)) return { kind: "Parents" };
  if (first !== undefined && places.some((own) => own.length === 0)) return { kind: "NoVersion", anywhere: false, because };
  return why.kind === "NoVersion" ? { ...why, because } : why;
}

/** Folders that a file's kustomization is passed on by: each could be one Application's. */
function overlaysOver(file: string, files: RepoFiles): string[] {
  const kustomizations = kustomizationsIn(files);
  const folder = file.split("/").slice(0, -1).join("/") || ".";
  return takersOf(kustomizations, kustomizations.has(folder) ? folder : file);
}

/** Something that one of them is made of cannot be read. */
export function isBroken(why: readonly PlaceHindrance[]): boolean {
  return why.some(({ kind }) => kind === "BrokenFile");
}

/** The branch that is read instead of the default one; undefined: none. */
export function branchAmong(why: readonly PlaceHindrance[]): string | undefined {
  return why.find((one) => one.kind === "OtherBranch")?.branch;
}

/** Applications that a rollout of the others leaves out, with the branch that all of them read. */
export function leftOut(out: readonly { target: InitTarget; branch: string | undefined }[]): Guess {
  const [first] = out;
  const branch = out.every((one) => one.branch === first?.branch) ? first?.branch : undefined;
  return { kind: "LeftOut", applications: out.map(({ target }) => target.application), ...defined({ branch }) };
}

/** Tells Applications whose folder holds other Applications, or sets of them. */
export function parentsIn({ applications, sets }: Scan): (target: InitTarget) => boolean {
  const folders = new Set([...applications, ...sets].flatMap(({ file }) => foldersAbove(file)));
  return ({ spec }) => sourcesOf(spec).some(({ source }) => folders.has(tidyPath(textAt(source, "path") ?? "")));
}

/** Applications of which no other runs the same: those of one set by the set, the others together. */
export function whyAlone(
  all: readonly InitTarget[],
  sets: readonly CollectedSet[],
  alone: readonly InitTarget[],
  paths: readonly string[],
): Undecided[] {
  const among = new Set(alone);
  const told = sets.flatMap(({ name, file, targets }): Undecided[] => {
    const own = targets.filter((target) => among.has(target));
    if (own.length === 0 && targets.length > 0) return [];
    const why: Hindrance =
      targets.length === 1
        ? { kind: "OneApplication", cluster: targets[0]?.cluster.name }
        : { kind: "NothingAlike", alone: own.length, applications: targets.length };
    return [{ what: `ApplicationSet ${name}`, file, applications: targets.length, why }];
  });
  const byHand = all.filter((target) => target.manifest !== undefined);
  const rendered = alone.flatMap((target) => jsonnetOf(target, paths) ?? []);
  const others = alone.filter((target) => target.set === undefined && byHand.includes(target) && jsonnetOf(target, paths) === undefined);
  const [first] = others;
  if (first === undefined) return [...told, ...rendered];
  const own = { file: first.manifest?.file ?? ".", applications: others.length };
  const what = others.length === 1 ? `Application ${first.application}` : `${others.length} of ${byHand.length} Applications`;
  const why: Hindrance = byHand.length === 1 ? { kind: "OnlyOne" } : { kind: "EachAlone", applications: others.length };
  return [...told, ...rendered, { what, ...own, why }];
}

/** What Jsonnet makes of a folder, often other Applications, is known to Argo CD alone. */
function jsonnetOf({ spec, manifest, application }: InitTarget, paths: readonly string[]): Undecided | undefined {
  if (manifest === undefined) return undefined;
  const folders = sourcesOf(spec).map(({ source }) => tidyPath(textAt(source, "path") ?? ""));
  const folder = folders.find((one) => one !== "" && paths.some((path) => path.startsWith(`${one}/`) && path.endsWith(".jsonnet")));
  if (folder === undefined) return undefined;
  return { what: `Application ${application}`, file: manifest.file, applications: 1, why: { kind: "Jsonnet", folder } };
}
