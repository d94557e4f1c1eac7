import { GENERATE_PATHS } from "../../core/argocd/generate-paths.ts";
import type { Finding } from "../../core/reasons/problem.ts";
import { isWithoutEffect, missedPaths } from "./edited.ts";
import type { Gathered } from "./gathered.ts";

/** docs/spec.md §9.2: targets whose pins could hold any version, and Argo CD would render the same. */
export function pinsWithoutEffect({ edited }: Gathered): Finding[] {
  if (edited === undefined) return [];
  const without = edited.applications.filter((one) => isWithoutEffect(one, edited.sides));
  const [first] = without;
  if (first === undefined) return [];
  const applications = without.map(({ name }) => name);
  return [{ code: "PIN_WITHOUT_EFFECT", applications, files: first.files, path: ["spec", "pins"] }];
}

/** docs/spec.md §9.2: targets for which Argo CD would render nothing anew. */
export function pathsNotCovered({ edited }: Gathered): Finding[] {
  if (edited === undefined) return [];
  const missed = edited.applications.flatMap((one) => {
    const found = missedPaths(one, edited.sides);
    return found === undefined ? [] : [{ name: one.name, ...found }];
  });
  const [first] = missed;
  if (first === undefined) return [];
  const { changed, paths, right } = first;
  const data = { applications: missed.map(({ name }) => name), annotation: GENERATE_PATHS, changed, paths, right };
  return [{ code: "PATHS_NOT_COVERED", ...data, path: ["spec", "pins"] }];
}
