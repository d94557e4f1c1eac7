import type { ApplicationView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { nearest } from "../../core/base/nearest.ts";
import { readOrNull } from "../../core/base/repo-files.ts";
import { renderTemplate, type TemplatePart, type TemplateValues, templateParts } from "../../core/base/template.ts";
import { findPin } from "../../core/pins/find.ts";
import type { Cluster, Edit, Release, Target, WeightPart } from "../../core/plan/plan-types.ts";
import { replicasAt, weightValue } from "../../core/plan/weigh.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import type { Rollout, WeightPin } from "../../core/spec/rollout.ts";
import type { BranchPlaces } from "./branch-release.ts";
import { countedOf } from "./counted.ts";
import { applicationsOf, type Draft, type SeenApplication, valuesOf } from "./draft.ts";
import { readValues, renderPlace, resolvePins } from "./resolve-pins.ts";
import { collectProblems, type ProblemList, type TargetProblem } from "./targets-problems.ts";

export interface ResolveInput {
  rollout: Rollout;
  release: Release;
  /** Of every control plane; those that are not the rollout's are left out. */
  applications: readonly SeenApplication[];
  clusters: readonly Cluster[];
  /** For branch pins: undefined where only a checkout is at hand, and heads are not known. */
  branches?: BranchPlaces | undefined;
  /** Text of a file of the repo; null: not there. It may throw where a file must not be read (a symlink); that is a problem. */
  readFile(path: string): string | null;
}

export interface Resolved {
  /** With every pin resolved; without edits where the rollout has no pins. Targets with an error are left out. */
  targets: Target[];
  /** Those given, and those that only an Application's destination tells of; or what the rollout counts in their place. */
  clusters: Cluster[];
  /** The clusters themselves, where it counts something else. */
  fleet?: Cluster[];
  problems: Problem[];
}

/**
 * docs/spec.md §2.1: the Applications of a rollout's source, joined with their clusters, each with its pins filled in and read.
 * Never throws for what is in the repo or the fleet: what cannot be resolved is a problem with its place.
 */
export function resolveTargets({ rollout, release, applications, clusters, branches, readFile }: ResolveInput): Resolved {
  const problems = collectProblems(rollout, (file) => readOrNull({ read: readFile }, file));
  const own = applicationsOf(rollout, applications);
  const counted = countedOf(rollout, clusters, own);
  const drafts: Draft[] = [];
  for (const seen of own) {
    const place = counted.find(seen);
    if ("missing" in place) {
      problems.add(unknownCluster(rollout, seen.controlPlane, place.missing, clusters), seen.view.name);
      continue;
    }
    drafts.push({ seen, ...place, edits: [] });
  }
  resolvePins(rollout, release, drafts, readFile, problems, branches);
  checkDigests(drafts, (file) => readOrNull({ read: readFile }, file), problems);
  resolveWeights(rollout, release, drafts, readFile, problems);
  const count = rollout.pins.length + (rollout.weightPins ?? []).length;
  const targets = drafts.flatMap((draft) => toTarget(draft, count));
  const fleet = rollout.targetBy === undefined ? undefined : counted.clusters();
  return {
    targets,
    clusters: counted.all(),
    ...defined({ fleet }),
    problems: problems.all().map((problem) => withServer(problem, drafts)),
  };
}

/** Says with what comes of a cluster's name or labels that nobody knows them, and by which server it goes. */
function withServer(problem: Problem, drafts: readonly Draft[]): Problem {
  if (!/^(PIN_|TEMPLATE_VALUE)/.test(problem.code)) return problem;
  const named = drafts.find(({ seen, cluster }) => cluster.byServer === true && problem.targets?.names.includes(seen.view.name) === true);
  return named === undefined ? problem : { ...problem, byServer: named.cluster.server };
}

function unknownCluster({ inventory }: Rollout, plane: string, missing: string, clusters: readonly Cluster[]): TargetProblem {
  const code = "UNKNOWN_CLUSTER";
  const file = inventory?.files === undefined ? inventory?.file : inventory.files[plane];
  if (file === undefined) return { code, kind: "Destination", destination: missing, path: ["spec", "sourceRef"] };
  const near = nearest(
    missing,
    clusters.flatMap(({ name, server }) => [name, server]),
  );
  const data = { kind: "Undeclared", destination: missing, inventory: file, near } as const;
  return { code, ...data, path: ["spec", "inventory", ...(inventory?.files === undefined ? ["file"] : ["files", plane])] };
}

function toTarget({ seen, counted, edits }: Draft, pins: number): Target[] {
  const whole = edits.filter((edit): edit is Edit => edit !== undefined);
  if (whole.length < pins) return [];
  const { view, controlPlane } = seen;
  const status = statusOf(view);
  return [
    {
      key: `${controlPlane}/${view.namespace}/${view.name}`,
      application: view.name,
      namespace: view.namespace,
      controlPlane,
      cluster: counted.key,
      edits: whole,
      ...defined({ status, on: counted.on?.key }),
    },
  ];
}

/** undefined: it says nothing of itself. A status that was computed for another spec is not synced, whatever it says. */
function statusOf({ spec, status }: ApplicationView): Target["status"] {
  if (status.sync.status === undefined && status.health.status === undefined) return undefined;
  const { comparedTo } = status.sync;
  const other = comparedTo?.sources.some((source, i) => source.targetRevision !== spec.sources[i]?.targetRevision) === true;
  const stale = other || status.hydrator?.current?.ofSpec === false;
  return { healthy: status.health.status === "Healthy", synced: status.sync.status === "Synced" && !stale };
}

/**
 * Resolves the weight pins of every target, in the order of the rollout, after its pins. What a step writes is left to
 * planning, which knows the stage and, for a share of replicas, the batch.
 */
function resolveWeights(
  rollout: Rollout,
  release: Release,
  drafts: readonly Draft[],
  readFile: (path: string) => string | null,
  problems: ProblemList,
): void {
  for (const [i, pin] of (rollout.weightPins ?? []).entries()) {
    const index = rollout.pins.length + i;
    const place = ["spec", "weightPins", i];
    const value = templateParts(pin.value, true);
    for (const draft of drafts) draft.edits[index] = fill(pin, value, place, draft, release, problems);
    readValues(index, place, drafts, readFile, problems);
  }
}

function fill(
  pin: WeightPin,
  value: readonly TemplatePart[],
  place: (string | number)[],
  draft: Draft,
  release: Release,
  problems: ProblemList,
): Edit | undefined {
  const where = renderPlace(pin, place, draft, release, problems);
  const parts = where === undefined ? undefined : weightParts(value, valuesOf(draft, release));
  if (where === undefined || parts === undefined) return undefined;
  if ("missing" in parts) {
    problems.add({ code: "TEMPLATE_VALUE", variable: parts.missing, near: parts.near, path: [...place, "value"] }, draft.seen.view.name);
    return undefined;
  }
  const weigh = defined({ value: parts.value, replicas: pin.replicas });
  const to = weightValue(parts.value, 100, replicasAt(pin.replicas ?? 0, 100));
  return { ...where, kind: "value", from: null, to, weigh };
}

/** What can be filled in now is; what a step says stays open. */
function weightParts(
  parts: readonly TemplatePart[],
  values: TemplateValues,
): { value: WeightPart[] } | { missing: string; near: string | undefined } {
  const value: WeightPart[] = [];
  for (const part of parts) {
    if ("variable" in part && part.variable.root === "step.weight") value.push({ step: "weight" });
    else if ("variable" in part && part.variable.root === "step.replicas") value.push({ step: "replicas" });
    else {
      const rendered = renderTemplate([part], values);
      if (!rendered.ok) return rendered;
      value.push(rendered.text);
    }
  }
  return { value };
}

// Finds tags with a digest beside them that no pin writes, and digests with such a tag. A digest wins over a tag wherever both stand: the
// batch would look live, and the old image would run on.

const BESIDE: Readonly<Record<string, readonly string[]>> = { newTag: ["digest"], tag: ["digest"], digest: ["newTag", "tag"] };

export function checkDigests(drafts: readonly Draft[], read: (file: string) => string | null, problems: ProblemList): void {
  const most = Math.max(0, ...drafts.map(({ edits }) => edits.length));
  // Pin by pin, since those of one pin are mostly of one file.
  for (let pin = 0; pin < most; pin++)
    for (const { edits, seen } of drafts) {
      const edit = edits[pin];
      // A pin that cannot be filled in is told already: it may be the one that writes what is beside.
      const left = edit && !edits.includes(undefined) ? leftBeside(edit, edits, read) : undefined;
      if (edit === undefined || left === undefined) continue;
      const isTag = left.key !== "digest";
      const data = {
        kind: isTag ? "Tag" : "Digest",
        pinPath: edit.path,
        pinFile: edit.file,
        beside: left.path,
        value: left.value,
      } as const;
      // What a chart makes of its values nobody knows here; kustomize takes the digest.
      const isSure = !isTag && edit.path.endsWith(".newTag") && edit.from !== edit.to;
      problems.add(
        {
          code: "DIGEST_BESIDE_TAG",
          ...data,
          ...defined({ severity: isSure ? undefined : ("warning" as const) }),
          path: ["spec", "pins", pin, "path"],
          oneCause: true,
        },
        seen.view.name,
      );
    }
}

/** What stands beside a value, and stays as it is when that is changed. */
function leftBeside(
  edit: Edit,
  all: readonly (Edit | undefined)[],
  read: (file: string) => string | null,
): { key: string; path: string; value: string } | undefined {
  const [, above = "", last = ""] = /^(.*\.)(newTag|tag|digest)$/s.exec(edit.path) ?? [];
  if (edit.kind !== "value" || last === "") return undefined;
  const text = read(edit.file);
  if (text === null) return undefined;
  for (const key of BESIDE[last] ?? []) {
    const path = `${above}${key}`;
    if (all.some((other) => other?.file === edit.file && other.path === path)) continue;
    const found = findPin(text, { path });
    if (found.ok && found.found.value !== null && found.found.value !== "") return { key, path, value: found.found.value };
  }
  return undefined;
}
