import type { z } from "zod";
import { parseTemplate } from "../../base/template.ts";
import type { Finding, ProblemData } from "../../reasons/problem.ts";
import type { OutsideFault } from "../../reasons/problems-rules.ts";
import type { pinSchema, releaseSchema } from "../schema-spec.ts";
import { checkCommitPaths, checkFound } from "./release.ts";

type Path = (string | number)[];
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
  if (release.from !== undefined) findings.push(...checkFile(release.from.file, [...path, "from", "file"]));
  for (const [name, value] of Object.entries(release.values ?? {})) {
    if (typeof value !== "string") findings.push(...checkFile(value.file, [...path, "values", name, "file"]));
  }
  if (release.values !== undefined && Object.keys(release.values).length === 0)
    findings.push({ code: "RELEASE_KIND", kind: "NoValues", path: [...path, "values"] });
  return findings;
}

/** Each pin is of exactly one kind, its templates can be filled in from this release, and its file is in the repo. */
export function checkPins(pins: readonly Pin[], release: Release | undefined, strategy: string, path: Path): Finding[] {
  const findings: Finding[] = [...checkCommitPaths(release, pins, path)];
  for (const [i, pin] of pins.entries()) {
    const place = [...path, i];
    findings.push(...checkKind(pin, place), ...checkStrategy(pin, strategy, place));
    const file = pin.file ?? pin.clusterGenerator?.file;
    const filePath = pin.clusterGenerator === undefined ? [...place, "file"] : [...place, "clusterGenerator", "file"];
    if (file !== undefined) findings.push(...checkFile(file, filePath), ...checkTemplate(file, release, filePath));
    for (const name of ["path", "branch", "value"] as const) {
      const text = pin[name];
      if (text !== undefined) findings.push(...checkTemplate(text, release, [...place, name]));
    }
    if (pin.value === undefined && pin.branch === undefined && release?.values !== undefined && !Object.hasOwn(release.values, "version"))
      findings.push({ code: "PIN_VALUE", kind: "Default", first: Object.keys(release.values)[0], path: place });
  }
  return findings;
}

function checkKind(pin: Pin, place: Path): Finding[] {
  const value = pin.file !== undefined || pin.path !== undefined || pin.part !== undefined || pin.create !== undefined;
  const kinds = [value, pin.clusterGenerator !== undefined, pin.branch !== undefined].filter(Boolean).length;
  const fault = (kind: ProblemData<"PIN_KIND">["kind"], path: Path = place): Finding[] => [{ code: "PIN_KIND", kind, path }];
  if (kinds === 0) return fault("NoPlace");
  if (kinds > 1) return fault("TwoKinds");
  if (value && pin.file === undefined) return fault("NoFile");
  if (value && pin.path === undefined) return fault("NoPath");
  if (pin.branch !== undefined && pin.value !== undefined) return fault("BranchValue", [...place, "value"]);
  if (pin.create === true && pin.part !== undefined) return fault("CreatePart", [...place, "create"]);
  return [];
}

function checkStrategy(pin: Pin, strategy: string, place: Path): Finding[] {
  if (pin.branch !== undefined && strategy !== "Commit") return [{ code: "BRANCH_NEEDS_COMMIT", path: [...place, "branch"] }];
  if (pin.branch === undefined && strategy === "Commit") return [{ code: "NOT_BUILT_YET", kind: "CommitOfFile", path: place }];
  return [];
}

/** A file of the repo: relative, and not out of it. Templates are checked again once filled in. */
export function checkFile(file: string, path: Path): Finding[] {
  const fault = whyOutside(file);
  return fault === undefined ? [] : [{ code: "FILE_OUTSIDE_REPO", given: file, fault, ofPin: false, path }];
}

/** Why a path does not name a file inside the repo; undefined where it does. */
export function whyOutside(file: string): OutsideFault | undefined {
  if (file === "") return "Empty";
  if (file.startsWith("/") || /^[A-Za-z]:/.test(file)) return "Absolute";
  if (file.includes("\\")) return "Backslash";
  if (file.includes("\0")) return "Nul";
  const steps = file.split("/");
  if (steps.includes("..")) return "Dots";
  if (steps[0] === ".git") return "Git";
  if (steps.some((step) => step === "" || step === ".")) return "Steps";
  return undefined;
}

/** `ofSteps`: it is the value of a weight pin. */
export function checkTemplate(text: string, release: Release | undefined, path: Path, ofSteps = false): Finding[] {
  const parsed = parseTemplate(text, ofSteps);
  if (!parsed.ok) return [{ code: "BAD_TEMPLATE", ...parsed.fault, path }];
  const findings: Finding[] = [];
  for (const part of parsed.parts) {
    if (!("variable" in part) || release === undefined) continue;
    const { variable } = part;
    const names = Object.keys(release.values ?? {});
    if (variable.root === "release.values" && !names.includes(variable.key))
      findings.push({ code: "PIN_VALUE", kind: "NoValue", value: variable.key, known: names, path });
    if (variable.root === "release.version" && release.values !== undefined && !names.includes("version"))
      findings.push({ code: "PIN_VALUE", kind: "NoVersion", first: names[0], path });
  }
  return findings;
}
