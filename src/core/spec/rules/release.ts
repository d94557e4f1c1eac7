import semver from "semver";
import type { z } from "zod";
import { pathMatcher, whyNoGlob } from "../../base/path-glob.ts";
import { parseTemplate } from "../../base/template.ts";
import type { Finding } from "../../reasons/problem.ts";
import { parseDeliveryTemplate } from "../delivery-template.ts";
import type { deliverySchema, pinSchema, releaseSchema } from "../schema-spec.ts";

type Path = (string | number)[];
type Release = z.output<typeof releaseSchema>;

/** What a release by `commit` or `tag` says must be usable. */
export function checkFound(release: Release, path: Path): Finding[] {
  const findings: Finding[] = [];
  for (const [i, glob] of (release.commit?.paths ?? []).entries()) {
    const fault = whyNoGlob(glob);
    if (fault !== undefined) findings.push({ code: "BAD_GLOB", given: glob, fault, path: [...path, "commit", "paths", i] });
  }
  if (release.tag !== undefined) {
    const range = typeof release.tag === "string" ? release.tag : release.tag.range;
    const where = typeof release.tag === "string" ? [...path, "tag"] : [...path, "tag", "range"];
    if (semver.validRange(range) === null) findings.push({ code: "BAD_RANGE", given: range, path: where });
  }
  return findings;
}

/** docs/spec.md §9.7: a batch's own merge would be a release where a pin's file is among the paths, and no run would ever end. */
export function checkCommitPaths(release: Release | undefined, pins: readonly z.output<typeof pinSchema>[], path: Path): Finding[] {
  const globs = release?.commit?.paths;
  if (globs === undefined) return [];
  const matches = pathMatcher(globs);
  return pins.flatMap((pin, i): Finding[] => {
    const file = pin.file ?? pin.clusterGenerator?.file;
    if (file === undefined || !matches(anyOf(file))) return [];
    const place = pin.clusterGenerator === undefined ? "file" : "clusterGenerator";
    return [{ code: "COMMIT_PATHS", pinFile: file, glob: file.replace(/\{\{.*?\}\}/g, "*"), path: [...path, i, place] }];
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
  const known = Object.keys(release.values ?? { version: "" });
  const wanted = parts.flatMap((part) => ("value" in part && typeof part.value === "string" ? [part.value] : []));
  return wanted.filter((value) => !known.includes(value)).map((value) => ({ code: "BAD_TEMPLATE", kind: "NoValue", value, known, path }));
}
