import { defined } from "../../core/base/defined.ts";
import { errorText } from "../../core/base/error-text.ts";
import { plainFolder } from "../../core/base/folder.ts";
import { renderTemplate, type TemplatePart, templateParts } from "../../core/base/template.ts";
import { findPin } from "../../core/pins/find.ts";
import { splice } from "../../core/pins/splice.ts";
import type { PinError } from "../../core/pins/types.ts";
import type { Edit, Release } from "../../core/plan/plan-types.ts";
import type { ProblemReason } from "../../core/reasons/problems/problem.ts";
import type { PinTemplate, Rollout } from "../../core/spec/rollout.ts";
import { type Written, whyOutside } from "../../core/spec/rules/files.ts";
import { VERSION } from "../config-repo/release.ts";
import { isBranchName } from "../round/observe/branch-heads.ts";
import { type BranchPlaces, isReserved } from "./branch-release.ts";
import { readCopies, refuseSharedCopies } from "./copies.ts";
import { type Draft, valuesOf } from "./draft.ts";
import { readGeneratorMove } from "./targets-generator.ts";
import type { ProblemList, TargetProblem } from "./targets-problems.ts";

type Texts = Record<"file" | "path" | "value" | "branch" | "from" | "to", TemplatePart[]>;

/** Fills the templates of every pin in for every target, then reads what stands there now, file by file. */
export function resolvePins(
  rollout: Rollout,
  release: Release,
  drafts: readonly Draft[],
  readFile: (path: string) => string | null,
  problems: ProblemList,
  branches?: BranchPlaces,
): void {
  for (const [i, pin] of rollout.pins.entries()) {
    const texts = partsOf(pin);
    for (const draft of drafts) draft.edits[i] = fill(pin, i, texts, draft, release, problems);
    const place = ["spec", "pins", i, ...(pin.kind === "clusterGenerator" ? ["clusterGenerator"] : [])];
    if (pin.kind === "copy") readCopies(i, drafts, readFile, problems);
    else if (pin.kind !== "branch") readValues(i, place, drafts, readFile, problems);
    else {
      refuseReserved(i, drafts, branches?.reserved, problems);
      if (branches !== undefined) placeBranches(i, drafts, release, branches, problems);
    }
  }
  refuseSharedCopies(drafts, problems);
}

function partsOf(pin: PinTemplate): Texts {
  return {
    file: templateParts("file" in pin ? pin.file : ""),
    path: templateParts(pin.kind === "value" ? pin.path : pin.kind === "clusterGenerator" ? pin.old : ""),
    value: templateParts("value" in pin ? pin.value : ""),
    branch: templateParts(pin.kind === "branch" ? pin.branch : ""),
    from: templateParts(pin.kind === "copy" ? plainFolder(pin.from) : ""),
    to: templateParts(pin.kind === "copy" ? plainFolder(pin.to) : ""),
  };
}

/** File and path of a pin for one target; undefined: a problem was told. `place`: path of the pin in the rollout. */
export function renderPlace(
  pin: { file: string; path: string },
  place: (string | number)[],
  draft: Draft,
  release: Release,
  problems: ProblemList,
): { file: string; path: string } | undefined {
  const values = valuesOf(draft, release);
  const found: string[] = [];
  for (const name of ["file", "path"] as const) {
    const rendered = renderTemplate(templateParts(pin[name]), values, name === "path");
    if (rendered.ok) found.push(rendered.text);
    else
      problems.add(
        { code: "TEMPLATE_VALUE", variable: rendered.missing, near: rendered.near, path: [...place, name] },
        draft.seen.view.name,
      );
  }
  const [file, path] = found;
  if (file === undefined || path === undefined) return undefined;
  return isInside(file, [...place, "file"], draft, problems, { path }) ? { file, path } : undefined;
}

function isInside(file: string, path: (string | number)[], draft: Draft, problems: ProblemList, written?: Written): boolean {
  const fault = whyOutside(file, written);
  if (fault === undefined) return true;
  problems.add({ code: "FILE_OUTSIDE_REPO", given: file, fault, ofPin: true, path, oneCause: true }, draft.seen.view.name);
  return false;
}

function fill(pin: PinTemplate, index: number, texts: Texts, draft: Draft, release: Release, problems: ProblemList): Edit | undefined {
  const { cluster, seen } = draft;
  const values = valuesOf(draft, release);
  const render = (name: keyof Texts): string | undefined => {
    const rendered = renderTemplate(texts[name], values, name === "path");
    if (rendered.ok) return rendered.text;
    const within = pin.kind === "copy" ? ["copy", name] : [pin.kind === "clusterGenerator" && name === "file" ? "clusterGenerator" : name];
    const path = ["spec", "pins", index, ...within];
    problems.add({ code: "TEMPLATE_VALUE", variable: rendered.missing, near: rendered.near, path }, seen.view.name);
    return undefined;
  };
  if (pin.kind === "branch") {
    const branch = render("branch");
    // Replaced by the commits that the two mean where the remote can be asked.
    return branch === undefined
      ? undefined
      : { file: "", path: branch, kind: "branch", ...defined({ forced: pin.forced }), from: null, to: release.values["version"] ?? "" };
  }
  if (pin.kind === "copy") {
    const [from, to] = [render("from"), render("to")];
    if (from === undefined || to === undefined) return undefined;
    const place = ["spec", "pins", index, "copy"];
    if (!isInside(from, [...place, "from"], draft, problems) || !isInside(to, [...place, "to"], draft, problems, "replaced"))
      return undefined;
    return { file: to, path: from, kind: "copy", from: null, to: "" };
  }
  const [file, path, to] = [render("file"), render("path"), render("value")];
  if (file === undefined || path === undefined || to === undefined) return undefined;
  const place = ["spec", "pins", index, ...(pin.kind === "clusterGenerator" ? ["clusterGenerator"] : []), "file"];
  if (!isInside(file, place, draft, problems, pin.kind === "value" ? { path } : {})) return undefined;
  if (pin.kind === "clusterGenerator")
    return { file, path, kind: "clusterGenerator", entry: pin.new, cluster: cluster.name, at: pin.path, from: null, to };
  const create = pin.create ? true : undefined;
  return { file, path, kind: "value", ...defined({ part: pin.part, create }), from: null, to };
}

/** Reads what stands in the place of a pin now, file by file. `place`: path of the pin in the rollout. */
export function readValues(
  index: number,
  place: (string | number)[],
  drafts: readonly Draft[],
  readFile: (path: string) => string | null,
  problems: ProblemList,
): void {
  const byFile = Map.groupBy(
    drafts.filter((draft) => draft.edits[index] !== undefined),
    (draft) => draft.edits[index]?.file ?? "",
  );
  for (const [file, group] of byFile) {
    const fail = (reason: ProblemReason) => {
      for (const draft of group) {
        draft.edits[index] = undefined;
        problems.add({ ...reason, path: [...place, "file"], oneCause: true }, draft.seen.view.name);
      }
    };
    const text = tryRead(file, readFile, (said) => fail({ code: "PIN_FILE_UNREADABLE", pinFile: file, said }));
    if (text === null) fail({ code: "PIN_FILE_MISSING", pinFile: file });
    if (typeof text === "string") readFrom(text, file, index, group, place, problems);
  }
}

function tryRead(file: string, readFile: (path: string) => string | null, failed: (why: string) => void): string | null | undefined {
  try {
    return readFile(file);
  } catch (error) {
    failed(errorText(error));
    return undefined;
  }
}

function readFrom(
  text: string,
  file: string,
  index: number,
  group: readonly Draft[],
  place: (string | number)[],
  problems: ProblemList,
): void {
  const edits = group.flatMap((draft) => draft.edits[index] ?? []);
  const moves = edits[0]?.kind === "clusterGenerator" ? readGeneratorMove(text, edits) : undefined;
  let shared: PinError | undefined;
  for (const [i, edit] of edits.entries()) {
    const draft = group[i];
    const result = moves === undefined ? findPin(text, edit) : moves[i];
    if (draft === undefined || result === undefined) continue;
    // Who has it, too, is looked for once: in a file of thousands that takes long.
    if (result.ok && result.found.isShared === true && edit.create !== true) shared ??= whyShared(text, edit);
    else if (result.ok) {
      const { value: from, made } = result.found;
      draft.edits[index] = made === undefined ? { ...edit, from } : { ...edit, from, made };
      continue;
    }
    const error = result.ok ? shared : result.error;
    if (error === undefined) continue;
    draft.edits[index] = undefined;
    const { line, column, ...reason } = error;
    const seenAt = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
    problems.add({ ...reason, seenAt, path: [...place, "path"], oneCause: true }, draft.seen.view.name);
  }
}

function whyShared(text: string, edit: Edit): PinError | undefined {
  const tried = splice(text, [{ ...edit, value: edit.to }]);
  return tried.ok ? undefined : tried.error;
}

/** `reserved`: what is known of the repo; other names are reserved everywhere. */
function refuseReserved(
  index: number,
  drafts: readonly Draft[],
  reserved: BranchPlaces["reserved"] | undefined,
  problems: ProblemList,
): void {
  for (const draft of drafts) {
    const branch = draft.edits[index]?.path;
    if (branch === undefined || !isReserved(branch, reserved)) continue;
    problems.add({ code: "BRANCH_NAME", branch, ours: true, path: ["spec", "pins", index, "branch"] }, draft.seen.view.name);
    draft.edits[index] = undefined;
  }
}

/** Puts the commits into branch edits: where each branch is, and the release commit. A pin without either is a problem. */
function placeBranches(
  index: number,
  drafts: readonly Draft[],
  release: Release,
  { release: to, heads }: BranchPlaces,
  problems: ProblemList,
): void {
  for (const draft of drafts) {
    const edit = draft.edits[index];
    if (edit === undefined) continue;
    const from = heads.get(edit.path);
    const problem = to === undefined ? noCommit(release) : from === undefined ? noBranch(edit.path, index) : undefined;
    if (problem !== undefined) problems.add(problem, draft.seen.view.name);
    draft.edits[index] = to === undefined || from === undefined ? undefined : { ...edit, from, to };
  }
}

function noCommit({ values }: Release): TargetProblem {
  return { code: "RELEASE_COMMIT", version: values[VERSION], path: ["spec", "release"] };
}

function noBranch(branch: string, index: number): TargetProblem {
  const path = ["spec", "pins", index, "branch"];
  return isBranchName(branch) ? { code: "BRANCH_MISSING", branch, path } : { code: "BRANCH_NAME", branch, path };
}
