import type { z } from "zod";
import type { Finding } from "../../base/problem.ts";
import { parseTemplate } from "../../base/template.ts";
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
  if (used.length === 0)
    findings.push({
      code: "RELEASE_KIND",
      message: "release says no version",
      hint: `set exactly one of ${RELEASE_KINDS.join(", ")}`,
      path,
    });
  for (const extra of used.slice(1)) {
    findings.push({
      code: "RELEASE_KIND",
      message: `release has both ${used[0]} and ${extra}`,
      hint: "keep exactly one",
      path: [...path, extra],
      atKey: true,
    });
  }
  findings.push(...checkFound(release, path));
  if (release.from !== undefined) findings.push(...checkFile(release.from.file, [...path, "from", "file"]));
  for (const [name, value] of Object.entries(release.values ?? {})) {
    if (typeof value !== "string") findings.push(...checkFile(value.file, [...path, "values", name, "file"]));
  }
  if (release.values !== undefined && Object.keys(release.values).length === 0) {
    findings.push({ code: "RELEASE_KIND", message: "release.values names no value", hint: "name at least one", path: [...path, "values"] });
  }
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
    if (pin.value === undefined && pin.branch === undefined && release?.values !== undefined && !Object.hasOwn(release.values, "version")) {
      findings.push({
        code: "PIN_VALUE",
        message: "this pin writes {{ release.version }}, but the release has values by name",
        hint: `set value, such as "{{ release.values.${Object.keys(release.values)[0] ?? "NAME"} }}"`,
        path: place,
      });
    }
  }
  return findings;
}

function checkKind(pin: Pin, place: Path): Finding[] {
  const value = pin.file !== undefined || pin.path !== undefined || pin.part !== undefined || pin.create !== undefined;
  const kinds = [value, pin.clusterGenerator !== undefined, pin.branch !== undefined].filter(Boolean).length;
  const hint = "a pin has file and path, or clusterGenerator, or branch";
  if (kinds === 0) return [{ code: "PIN_KIND", message: "the pin names no place", hint, path: place }];
  if (kinds > 1) return [{ code: "PIN_KIND", message: "the pin is of two kinds at once", hint, path: place }];
  if (value && pin.file === undefined) return [{ code: "PIN_KIND", message: "the pin has no file", hint, path: place }];
  if (value && pin.path === undefined) return [{ code: "PIN_KIND", message: "the pin has no path", hint, path: place }];
  if (pin.branch !== undefined && pin.value !== undefined)
    return [
      {
        code: "PIN_KIND",
        message: "a branch pin has no value",
        hint: "remove value: the branch is moved to the release commit",
        path: [...place, "value"],
      },
    ];
  if (pin.create === true && pin.part !== undefined)
    return [
      {
        code: "PIN_KIND",
        message: "create and part do not go together",
        hint: "a part needs a value to be part of; remove one",
        path: [...place, "create"],
      },
    ];
  return [];
}

function checkStrategy(pin: Pin, strategy: string, place: Path): Finding[] {
  if (pin.branch !== undefined && strategy !== "Commit") {
    return [
      {
        code: "BRANCH_NEEDS_COMMIT",
        message: "a branch pin needs delivery.strategy: Commit",
        hint: "set delivery.strategy: Commit; a branch is moved, not merged by a pull request",
        path: [...place, "branch"],
      },
    ];
  }
  if (pin.branch === undefined && strategy === "Commit") {
    return [
      {
        code: "NOT_BUILT_YET",
        message: "delivery.strategy: Commit for a pin in a file is not available in this version",
        hint: "use strategy: PullRequest, or branch pins only",
        path: place,
      },
    ];
  }
  return [];
}

/** A file of the repo: relative, and not out of it. Templates are checked again once filled in. */
export function checkFile(file: string, path: Path): Finding[] {
  const why = whyOutside(file);
  return why === undefined
    ? []
    : [{ code: "FILE_OUTSIDE_REPO", message: `"${file}" ${why}`, hint: "name a file of the config repo, from its root", path }];
}

/** Why a path does not name a file inside the repo; undefined where it does. */
export function whyOutside(file: string): string | undefined {
  if (file === "") return "is empty";
  if (file.startsWith("/") || /^[A-Za-z]:/.test(file)) return "is absolute";
  if (file.includes("\\")) return "has a backslash";
  if (file.includes("\0")) return "has a NUL character";
  const steps = file.split("/");
  if (steps.includes("..")) return 'leads out of the repo by ".."';
  if (steps[0] === ".git") return "is inside .git";
  if (steps.some((step) => step === "" || step === ".")) return 'has an empty or "." step';
  return undefined;
}

/** `ofSteps`: it is the value of a weight pin. */
export function checkTemplate(text: string, release: Release | undefined, path: Path, ofSteps = false): Finding[] {
  const parsed = parseTemplate(text, ofSteps);
  if (!parsed.ok) return [{ code: "BAD_TEMPLATE", message: parsed.message, hint: parsed.hint, path }];
  const findings: Finding[] = [];
  for (const part of parsed.parts) {
    if (!("variable" in part) || release === undefined) continue;
    const { variable } = part;
    const names = Object.keys(release.values ?? {});
    if (variable.root === "release.values" && !names.includes(variable.key)) {
      const hint = names.length === 0 ? "use {{ release.version }}" : `the release has ${names.join(", ")}`;
      findings.push({ code: "PIN_VALUE", message: `the release has no value "${variable.key}"`, hint, path });
    }
    if (variable.root === "release.version" && release.values !== undefined && !names.includes("version")) {
      findings.push({
        code: "PIN_VALUE",
        message: "the release has values by name, no version",
        hint: `use {{ release.values.${names[0] ?? "NAME"} }}`,
        path,
      });
    }
  }
  return findings;
}
