import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { pinsOf } from "../../core/plan/steps.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { applicationsOf, type SeenApplication } from "../resolve/draft.ts";
import { setRef } from "../resolve/source-sets.ts";
import { generatorClusters } from "./appset-in-git.ts";
import { setsByPlane } from "./plane-sets.ts";
import { renderApart } from "./render-set.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * Gives Applications the parameters that their generator gave them, for pins that say `{{ params.X }}`: they are known only
 * where the ApplicationSet stands in this repo and can be rendered. Otherwise the pin's own problem says so.
 */
export async function withGeneratorParams(
  { repoURL }: { repoURL: string },
  rollout: Rollout,
  applications: readonly SeenApplication[],
  planes: readonly ControlPlane[],
  snapshot: Snapshot,
  baseBranch: string,
): Promise<readonly SeenApplication[]> {
  if (rollout.source.kind !== "ApplicationSet" || !JSON.stringify(pinsOf(rollout)).includes("params")) return applications;
  const files = rollout.pins.flatMap((pin) => ("file" in pin ? [pin.file] : []));
  const byPlace = new Map<string, Record<string, string>>();
  const own = applicationsOf(rollout, applications);
  for (const name of new Set(own.flatMap(({ view }) => view.owner?.name ?? []))) {
    const at = planes.filter((plane) => own.some(({ controlPlane, view }) => controlPlane === plane.name && view.owner?.name === name));
    const ref = setRef(rollout.source, name, rollout.source.namespace);
    const sets = await setsByPlane(snapshot, { ref, likely: files, planes: at, edits: [] });
    for (const plane of at) {
      const set = sets.get(plane.name);
      if (set === undefined) continue;
      const rendered = await snapshot.with((sync) => renderApart(set, generatorClusters([plane]), sync, repoURL, baseBranch));
      const given = rendered.generators.flatMap((generator) => generator.params);
      if (!rendered.ok || given.length !== rendered.applications.length) continue;
      for (const [i, { metadata }] of rendered.applications.entries())
        byPlace.set(`${plane.name}/${name}/${metadata.name}`, flat(given[i] ?? {}));
    }
  }
  return applications.map((one) => {
    const params = byPlace.get(`${one.controlPlane}/${one.view.owner?.name}/${one.view.name}`);
    return params === undefined ? one : { ...one, params };
  });
}

/** `a.b` for nested ones, as pins name them; those given, where they are flat texts already. */
export function flat(params: Readonly<Record<string, unknown>>, prefix = ""): Readonly<Record<string, string>> {
  if (prefix === "" && isFlat(params)) return params;
  const found: Record<string, string> = {};
  for (const key of Object.keys(params)) {
    const value = params[key];
    if (isRecord(value)) Object.assign(found, flat(value, `${prefix}${key}.`));
    else if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") found[prefix + key] = String(value);
  }
  return found;
}

function isFlat(params: Readonly<Record<string, unknown>>): params is Record<string, string> {
  return Object.values(params).every((value) => typeof value === "string");
}
