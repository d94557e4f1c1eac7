import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import type { ProposedPin } from "../../core/report/onboarding/types.ts";
import { dig, listAt } from "./scan.ts";
import type { Manifest } from "./types.ts";
import { isVersion, valueAt } from "./versions.ts";

/**
 * Two clusters-generator entries between which clusters can move: equal but for post-selectors `NotIn` and `In` of one list on
 * `name`, and for one value. Looked for where a set begins with such a pair.
 */
export function clusterPair(set: Manifest, files: RepoFiles): { pin: ProposedPin; version: string } | undefined {
  if (set.documents > 1 || set.item !== undefined) return undefined;
  const [old, young] = listAt(set.object, "spec", "generators");
  if (operatorOf(old) !== "NotIn" || operatorOf(young) !== "In") return undefined;
  const text = readOrNull(files, set.file);
  const values = dig(old, "clusters", "values");
  if (text === null || !isRecord(values)) return undefined;
  for (const name of Object.keys(values)) {
    const version = valueAt(text, `spec.generators[0].clusters.values.${name}`);
    const other = valueAt(text, `spec.generators[1].clusters.values.${name}`);
    if (version === undefined || other === undefined || !isVersion(version)) continue;
    return { pin: { clusterGenerator: { file: set.file, path: `values.${name}` } }, version };
  }
  return undefined;
}

function operatorOf(generator: unknown): unknown {
  const expression = listAt(generator, "selector", "matchExpressions").find((one) => dig(one, "key") === "name");
  return isRecord(dig(generator, "clusters")) ? dig(expression, "operator") : undefined;
}
