/** Checks a release, its pins and the texts of its pull requests: in a rollout, and in the settings of the repo. */
import semver from "semver";
import type { z } from "zod";
import { replaceBraces } from "../../base/braces.ts";
import { overlapOf, plainFolder } from "../../base/folder.ts";
import { nearest } from "../../base/nearest.ts";
import { pathMatcher, whyNoGlob } from "../../base/path-glob.ts";
import { parseTemplate, type TemplatePart } from "../../base/template.ts";
import type { Finding, Path, ProblemData } from "../../reasons/problems/problem.ts";
import { parseDeliveryTemplate } from "../delivery-template.ts";
import type { releaseSchema } from "../schema-release.ts";
import type { deliverySchema, pinSchema } from "../schema-spec.ts";
import { checkFile } from "./files.ts";

type Release = z.output<typeof releaseSchema>;
type Pin = z.output<typeof pinSchema>;

const RELEASE_KINDS = ["version", "from", "values", "commit", "tag"] as const;

/** Exactly one way of saying the version; places stay in the repo. */
export function checkRelease(release: Release, path: Path): Finding[] {
  const used = RELEASE_KINDS.filter((kind) => release[kind] !== undefined);
  const findings: Finding[] = [];
  if (used.length === 0) findings.push({ code: "RELEASE_KIND", kind: "None", known: RELEASE_KINDS, path });
  for (const extra of used.slice(1))
    findings.push({ code: "RELEASE_KIND", kind: "Two", first: used[0] ?? "", second: extra, path: [...path, extra], atKey: true });
  findings.push(...checkFound(release, path));
  if (release.from !== undefined) findings.push(...checkFrom(release.from, [...path, "from"]));
  for (const [name, value] of Object.entries(release.values ?? {})) {
    if (typeof value !== "string") findings.push(...checkFile(value.file, [...path, "values", name, "file"]));
  }
  if (release.values !== undefined && Object.keys(release.values).length === 0)
    findings.push({ code: "RELEASE_KIND", kind: "NoValues", field: "values", path: [...path, "values"] });
  return [...findings, ...checkPlacesApart(release, path)];
}

function checkFrom({ file, path: one, paths }: NonNullable<Release["from"]>, path: Path): Finding[] {
  const findings = checkFile(file, [...path, "file"]);
  if (one === undefined && paths === undefined) findings.push({ code: "RELEASE_KIND", kind: "NoPath", path });
  if (one !== undefined && paths !== undefined)
    findings.push({ code: "RELEASE_KIND", kind: "Two", first: "path", second: "paths", path: [...path, "paths"], atKey: true });
  if (paths !== undefined && Object.keys(paths).length === 0)
    findings.push({ code: "RELEASE_KIND", kind: "NoValues", field: "from.paths", path: [...path, "paths"] });
  return findings;
}

/** Names of a release's values; undefined: it has one, without a name. */
function valueNames({ values, from }: Release): string[] | undefined {
  const named = values ?? from?.paths;
  return named && Object.keys(named);
}

/** Two names for one place are one value: what is released as two could only ever be alike. */
function checkPlacesApart({ values = {}, from }: Release, path: Path): Finding[] {
  const listed = Object.entries(values).flatMap(([name, value]) =>
    typeof value === "string" ? [] : [{ name, ...value, at: ["values", name, "path"] }],
  );
  const paths = Object.entries(from?.paths ?? {}).map(([name, one]) => ({
    name,
    file: from?.file ?? "",
    path: one,
    at: ["from", "paths", name],
  }));
  const seen = new Map<string, string>();
  return [...listed, ...paths].flatMap(({ name, file, path: one, at }): Finding[] => {
    const place = `${file}\n${plainPath(one)}`;
    const other = seen.get(place);
    if (other === undefined) seen.set(place, name);
    return other === undefined ? [] : [{ code: "RELEASE_VALUE", kind: "SamePlace", value: name, other, path: [...path, ...at] }];
  });
}

/** `a["b"].c`, `a.b.c` and `#1/a.b.c` are one place. */
function plainPath(path: string): string {
  return path.replace(/^#1\//, "").replace(/\.?\[\s*(?:"([\w-]+)"|'([\w-]+)')\s*\]/g, (_, a?: string, b?: string) => `.${a ?? b ?? ""}`);
}

/** A value that no pin writes: a change of it alone would start a run that moves nothing. */
function checkAllWritten(pins: readonly Pin[], release: Release | undefined, root: Path): Finding[] {
  const names = release && valueNames(release);
  if (names === undefined || release === undefined || pins.length === 0) return [];
  const templates = pins
    .flatMap(({ value = "{{ release.version }}", file = "", path = "" }) => [value, file, path])
    .map((one) => parseTemplate(one));
  const used = new Set(templates.flatMap((one) => (one.ok ? one.parts.flatMap(valueUsed) : [])));
  return names
    .filter((name) => !used.has(name))
    .map((name) => ({
      code: "RELEASE_VALUE",
      kind: "Unused",
      value: name,
      severity: "warning",
      path: [...root, "release", ...(release.values === undefined ? ["from", "paths"] : ["values"]), name],
      atKey: true,
    }));
}

function valueUsed(part: TemplatePart): string[] {
  if (!("variable" in part)) return [];
  const { variable } = part;
  if (variable.root === "release.version") return ["version"];
  return variable.root === "release.values" ? [variable.key] : [];
}

/** Checks that each pin is of one kind, can be filled in from the release, and names a file of the repo. */
export function checkPins(pins: readonly Pin[], release: Release | undefined, strategy: string, path: Path): Finding[] {
  const findings: Finding[] = [...checkCommitPaths(release, pins, path), ...checkAllWritten(pins, release, path.slice(0, -1))];
  const names = release && valueNames(release);
  for (const [i, pin] of pins.entries()) {
    const place = [...path, i];
    findings.push(...checkKind(pin, place), ...checkStrategy(pin, strategy, place));
    const file = pin.file ?? pin.clusterGenerator?.file;
    const filePath = pin.clusterGenerator === undefined ? [...place, "file"] : [...place, "clusterGenerator", "file"];
    if (file !== undefined) findings.push(...checkFile(file, filePath, { path: pin.path }), ...checkTemplate(file, release, filePath));
    if (pin.copy !== undefined) findings.push(...checkCopy(pin.copy, release, [...place, "copy"]));
    for (const name of ["path", "branch", "tag", "value"] as const) {
      const text = pin[name];
      if (text !== undefined) findings.push(...checkTemplate(text, release, [...place, name]));
    }
    if (pin.value === undefined && refKey(pin) === undefined && pin.copy === undefined && names !== undefined && !names.includes("version"))
      findings.push({ code: "PIN_VALUE", kind: "Default", first: names[0], path: place });
  }
  return findings;
}

function checkKind(pin: Pin, place: Path): Finding[] {
  const value = pin.file !== undefined || pin.path !== undefined || pin.part !== undefined || pin.create !== undefined;
  const kinds = [value, pin.clusterGenerator !== undefined, pin.copy !== undefined, pin.branch !== undefined, pin.tag !== undefined].filter(
    Boolean,
  ).length;
  const fault = (kind: ProblemData<"PIN_KIND">["kind"], path: Path = place): Finding[] => [{ code: "PIN_KIND", kind, path }];
  if (kinds === 0) return fault("NoPlace");
  if (kinds > 1) return fault("TwoKinds");
  if (value && pin.file === undefined) return fault("NoFile");
  if (value && pin.path === undefined) return fault("NoPath");
  if (refKey(pin) !== undefined && pin.value !== undefined) return fault("BranchValue", [...place, "value"]);
  if (refKey(pin) === undefined && pin.fastForward !== undefined) return fault("FastForward", [...place, "fastForward"]);
  if (pin.copy !== undefined && pin.value !== undefined) return fault("CopyValue", [...place, "value"]);
  if (pin.create === true && pin.part !== undefined) return fault("CreatePart", [...place, "create"]);
  return [];
}

function checkStrategy(pin: Pin, strategy: string, place: Path): Finding[] {
  const own = refKey(pin);
  if (own !== undefined && strategy !== "Commit") return [{ code: "BRANCH_NEEDS_COMMIT", path: [...place, own] }];
  if (own === undefined && strategy === "Commit") return [{ code: "NOT_BUILT_YET", kind: "CommitOfFile", path: place }];
  return [];
}

/** The field that names what a pin moves; undefined: it writes files. */
function refKey({ branch, tag }: Pin): "branch" | "tag" | undefined {
  return branch !== undefined ? "branch" : tag !== undefined ? "tag" : undefined;
}

/** Two directories, neither of them in the other: a copy that holds itself would grow with every release. */
function checkCopy({ from, to }: NonNullable<Pin["copy"]>, release: Release | undefined, place: Path): Finding[] {
  const ends = Object.entries({ from, to }).flatMap(([name, folder]) => {
    const path = [...place, name];
    return [...checkFile(plainFolder(folder), path, name === "to" ? "replaced" : undefined), ...checkTemplate(folder, release, path)];
  });
  const kind = overlapOf(plainFolder(from), plainFolder(to));
  return kind === undefined ? ends : [...ends, { code: "COPY_OVERLAP", kind, from, to, path: [...place, "to"] }];
}

/** `ofSteps`: it is the value of a weight pin. */
export function checkTemplate(text: string, release: Release | undefined, path: Path, ofSteps = false): Finding[] {
  const parsed = parseTemplate(text, ofSteps);
  if (!parsed.ok) return [{ code: "BAD_TEMPLATE", ...parsed.fault, path }];
  const findings: Finding[] = [];
  for (const part of parsed.parts) {
    if (!("variable" in part) || release === undefined) continue;
    const { variable } = part;
    const named = valueNames(release);
    const names = named ?? [];
    if (variable.root === "release.values" && !names.includes(variable.key))
      findings.push({ code: "PIN_VALUE", kind: "NoValue", value: variable.key, known: names, near: nearest(variable.key, names), path });
    if (variable.root === "release.version" && named !== undefined && !names.includes("version"))
      findings.push({ code: "PIN_VALUE", kind: "NoVersion", first: names[0], path });
  }
  return findings;
}

/** What a release by `commit` or `tag` says must be usable. */
function checkFound(release: Release, path: Path): Finding[] {
  const findings: Finding[] = [];
  for (const [i, glob] of (release.commit?.paths ?? []).entries()) {
    const fault = whyNoGlob(glob);
    if (fault !== undefined) findings.push({ code: "BAD_GLOB", given: glob, fault, path: [...path, "commit", "paths", i] });
  }
  const { tag } = release;
  const [range, where] = typeof tag === "object" ? [tag.range, [...path, "tag", "range"]] : [tag, [...path, "tag"]];
  if (range !== undefined && semver.validRange(range) === null) findings.push({ code: "BAD_RANGE", given: range, path: where });
  return findings;
}

/** docs/spec.md §9.7: a batch's own merge would be a release where a pin's file is among the paths, and no run would ever end. */
export function checkCommitPaths(release: Release | undefined, pins: readonly Pin[], path: Path): Finding[] {
  const globs = release?.commit?.paths;
  if (globs === undefined) return [];
  const matches = pathMatcher(globs);
  return pins.flatMap((pin, i): Finding[] => {
    const file = pin.file ?? pin.clusterGenerator?.file ?? pin.copy?.to;
    if (file === undefined || !matches(pin.copy === undefined ? anyOf(file) : `${anyOf(plainFolder(file))}/x`)) return [];
    const place = pin.clusterGenerator !== undefined ? "clusterGenerator" : pin.copy === undefined ? "file" : "copy";
    return [{ code: "COMMIT_PATHS", pinFile: file, glob: replaceBraces(file, "*"), path: [...path, i, place] }];
  });
}

/** A path as the template may give it. The files it really gives are looked at again in the plan. */
function anyOf(file: string): string {
  const parsed = parseTemplate(file);
  return parsed.ok ? parsed.parts.map((part) => ("text" in part ? part.text : "x")).join("") : file;
}

/** Templates of `delivery` can be filled in, with values that the release has. */
export function checkDelivery(delivery: z.output<typeof deliverySchema>, release: Release | undefined, path: Path): Finding[] {
  const findings: Finding[] = [];
  for (const name of ["title", "body", "commitMessage"] as const) {
    const template = delivery[name];
    if (template === undefined) continue;
    const parsed = parseDeliveryTemplate(template);
    if (!parsed.ok) {
      findings.push({ code: "BAD_TEMPLATE", ...parsed.fault, path: [...path, name] });
      continue;
    }
    if (name === "title" && /[\r\n]/.test(template.trim()))
      findings.push({ code: "BAD_TEMPLATE", kind: "TitleLines", path: [...path, name] });
    findings.push(...unknownValues(parsed.parts, release, [...path, name]));
  }
  return findings;
}

function unknownValues(parts: readonly object[], release: Release | undefined, path: Path): Finding[] {
  if (release === undefined) return [];
  const known = valueNames(release) ?? ["version"];
  const wanted = parts.flatMap((part) => ("value" in part && typeof part.value === "string" ? [part.value] : []));
  return wanted
    .filter((value) => !known.includes(value))
    .map((value) => ({ code: "BAD_TEMPLATE", kind: "NoValue", value, known, near: nearest(value, known), path }));
}
