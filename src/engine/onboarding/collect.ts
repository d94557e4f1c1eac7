/** Brings together every Application that a repo yields: generated, written by hand, or seen live. Called by `propose.ts`. */
import { dig, isRecord, textAt } from "../../core/base/is-record.ts";
import type { Undecided } from "../../core/report/onboarding/types.ts";
import { type Kustomizations, kustomizationsIn, takersOf } from "../config-repo/kustomize.ts";
import { changeOf } from "../config-repo/kustomize-changes.ts";
import { targetsOnPlanes } from "./planes.ts";
import type { Scan } from "./scan.ts";
import { targetOfLive, targetOfManifest, targetsOfSet } from "./targets.ts";
import type { InitInput, InitTarget, Manifest } from "./types.ts";

/** An ApplicationSet with all that it yields. */
export interface CollectedSet {
  name: string;
  namespace: string;
  file: string;
  targets: InitTarget[];
}

interface Collected {
  sets: CollectedSet[];
  /** All of them, those of sets too, each once. */
  targets: InitTarget[];
  undecided: Undecided[];
}

export function collectTargets(scan: Scan, input: InitInput): Collected {
  // Of several control planes nothing but what lives on each says which manifest is whose.
  const onPlanes = targetsOnPlanes(input.planes ?? [], scan, input);
  if (onPlanes.length > 0) return { sets: setsOnlyLive(onPlanes), targets: onPlanes, undecided: [] };
  const live = liveTargets(input);
  const collected: Collected = { sets: [], targets: [], undecided: [] };
  const taken = new Set<string>();
  const take = (targets: readonly InitTarget[]) => {
    const fresh = targets.filter((target) => !taken.has(keyOf(target)));
    for (const target of fresh) taken.add(keyOf(target));
    collected.targets.push(...fresh);
  };
  const kustomizations = kustomizationsIn(input.files);
  const patches = new Set([...kustomizations.values()].flatMap(({ others }) => others));
  for (const set of scan.sets) {
    // A patch has the kind and name of what it patches, and not the rest.
    if (patches.has(set.file) || dig(set.object, "$patch") !== undefined) continue;
    const found = collectSet(set, input, live, kustomizations);
    if ("why" in found) collected.undecided.push(found);
    else if (found.targets.every((target) => taken.has(keyOf(target)))) collected.undecided.push(sameAgain(found));
    else {
      collected.sets.push(found);
      take(found.targets);
    }
  }
  const found = scan.applications.flatMap((manifest) => {
    const target = targetOfManifest(manifest, input);
    return target === undefined || patches.has(manifest.file)
      ? []
      : [{ target, change: changeOf(input.files, manifest.file, manifest.object) }];
  });
  const written = found.flatMap(({ target, change }) => (change === undefined ? [target] : []));
  collected.undecided.push(...twice(written), ...changed(found, live));
  const once = Map.groupBy(written, keyOf);
  take([...once.values()].flatMap((same) => (same.length === 1 ? same : [])));
  const others = live.filter((target) => !taken.has(keyOf(target)) && !once.has(keyOf(target)));
  collected.sets.push(...setsOnlyLive(others));
  take(others);
  return collected;
}

/** What a kustomization makes others of: no file says what lives then, and those that live are told of by themselves. */
function changed(found: readonly { target: InitTarget; change: ReturnType<typeof changeOf> }[], live: readonly InitTarget[]): Undecided[] {
  const unknown = found.flatMap(({ target, change }) => {
    const isSeen = live.some(({ application }) => application.includes(target.application));
    return change === undefined || isSeen ? [] : [{ ...change, target }];
  });
  return [...Map.groupBy(unknown, ({ folder, by }) => `${folder} ${by}`).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { folder, by } = first;
    const applications = same.map(({ target }) => target.application);
    const what = same.length === 1 ? `Application ${first.target.application}` : `${same.length} Applications`;
    const file = first.target.manifest?.file ?? "";
    return [{ what, file, applications: same.length, why: { kind: "Changed" as const, folder, by, applications } }];
  });
}

function sameAgain({ name, file, targets }: CollectedSet): Undecided {
  return {
    what: `ApplicationSet ${name}`,
    file,
    why: { kind: "DeclaredTwice", application: targets[0]?.application ?? "" },
  };
}

function keyOf({ namespace, application }: InitTarget): string {
  return `${namespace}/${application}`;
}

function collectSet(
  set: Manifest,
  input: InitInput,
  live: readonly InitTarget[],
  kustomizations: Kustomizations,
): CollectedSet | Undecided {
  const name = textAt(set.object, "metadata", "name");
  const { file } = set;
  const what = `ApplicationSet ${name ?? "without a name"}`;
  if (name === undefined || name.includes("{{")) return { what, file, why: { kind: "NoName" } };
  const namespace = textAt(set.object, "metadata", "namespace") ?? "argocd";
  const judged = judgeSet(set, input, kustomizations);
  const own = { name, namespace, manifest: set };
  if ("targets" in judged) return { name, namespace, file, targets: judged.targets.map((target) => ({ ...target, set: own })) };
  const seen = live.filter((target) => target.set?.name === name && target.namespace === namespace);
  if (seen.length > 0) return { name, namespace, file, targets: seen.map((target) => ({ ...target, set: own })) };
  return { what, file, why: judged.why };
}

/** What a set makes as it stands, where it is applied so. */
function judgeSet(set: Manifest, input: InitInput, kustomizations: Kustomizations): { targets: InitTarget[] } | Pick<Undecided, "why"> {
  const { file, object } = set;
  const found = targetsOfSet(set, input);
  if (!found.ok) {
    const patched = takersOf(kustomizations, file).find((folder) => kustomizations.get(folder)?.patches === true);
    return { why: patched === undefined ? found.why : { kind: "Patched", folder: patched, plain: found.why } };
  }
  const change = changeOf(input.files, file, object);
  if (change === undefined) return { targets: found.targets };
  return { why: { kind: "Changed", ...change, applications: found.targets.map(({ application }) => application) } };
}

function liveTargets(input: InitInput): InitTarget[] {
  return input.applications.flatMap((object) => {
    if (!isRecord(object) || dig(object, "metadata", "deletionTimestamp") !== undefined) return [];
    return targetOfLive(object, input) ?? [];
  });
}

/** Sets that no file of the repo declares as they are: a chart or a kustomization makes them. */
function setsOnlyLive(targets: readonly InitTarget[]): CollectedSet[] {
  const owned = targets.filter(({ set }) => set !== undefined);
  const sets = Map.groupBy(owned, ({ set, namespace }) => `${namespace}/${set?.name ?? ""}`);
  return [...sets.values()].map((own) => ({ name: own[0]?.set?.name ?? "", namespace: own[0]?.namespace ?? "", file: "", targets: own }));
}

/** One name in several files: several Argo CDs, or several overlays, and nothing here says whose is whose. */
function twice(written: readonly InitTarget[]): Undecided[] {
  const same = [...Map.groupBy(written, keyOf).values()].filter((one) => one.length > 1);
  const [first] = same;
  if (first === undefined) return [];
  const files = first.map(({ manifest }) => manifest?.file ?? "");
  const name = first[0]?.application ?? "";
  return [
    {
      what: same.length === 1 ? `Application ${name}` : `${same.length} Applications`,
      file: files[0] ?? "",
      applications: same.length,
      why: { kind: "SameName", application: name, files },
    },
  ];
}
