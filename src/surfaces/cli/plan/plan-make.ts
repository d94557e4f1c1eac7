import { render } from "../../../core/appset/render.ts";
import { decodeClusterSecret, SECRET_TYPE } from "../../../core/argocd/decode/cluster.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { compareText } from "../../../core/base/compare-text.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { isRecord, recordOf } from "../../../core/base/is-record.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import { nearPath } from "../../../core/base/slip.ts";
import { variablesIn } from "../../../core/base/template.ts";
import { readManifests } from "../../../core/base/yaml-read.ts";
import { type NextBatch, nextBatch } from "../../../core/plan/next.ts";
import type { Cluster, Plan, Release } from "../../../core/plan/plan-types.ts";
import { keySlips, stageStrangers } from "../../../core/plan/selector-typos.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { RulesNow } from "../../../core/report/plan/rules-data.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { freezesOf, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { otherBase } from "../../../engine/config-repo/base-branch.ts";
import { readRelease } from "../../../engine/config-repo/release.ts";
import { isManifestFile } from "../../../engine/config-repo/set-files.ts";
import type { SeenApplication } from "../../../engine/resolve/draft.ts";
import { locateIn, planOver } from "../../../engine/resolve/plan-over.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { defaultBranchOf } from "../lint/origin.ts";
import { scanCheckout } from "./near-source.ts";
import { fleetOf } from "./plan-inputs.ts";

export interface PlanMade {
  /** Absent where there are errors. */
  plan?: Plan;
  /** Those it was planned over; with the plan. */
  clusters?: readonly Cluster[];
  /** Those that were found of its source. */
  applications?: readonly SeenApplication[];
  /** There are no clusters but these, and all have their names. */
  whole?: boolean;
  next: NextBatch | null;
  /** Errors and warnings; the plan's own warnings are in the plan. */
  problems: Problem[];
}

/** Plans a rollout over a checkout and, where given, an inventory. `to` overrides the release's values by name. */
export function makePlan(
  rollout: Rollout,
  checkout: Checkout,
  inventory: Inventory | undefined,
  to: Readonly<Record<string, string>>,
): PlanMade {
  const problems: Problem[] = otherBase(rollout, defaultBranchOf(checkout));
  const release = releaseOf(rollout, checkout, to, problems);
  const fleet = fleetOf(rollout, checkout, inventory);
  problems.push(...fleet.problems);
  const { applications, clusters } = fleet;
  const made = planOver({ rollout, applications, clusters, files: checkout, ...defined({ release }) });
  problems.push(...strangersIn(rollout, checkout, made.clusters, fleet.whole), ...strangeKeysIn(rollout, checkout, made.clusters));
  const placed = problems.map((problem) => (problem.line > 1 ? problem : locateIn(rollout, checkout, problem)));
  const located = [...placed, ...made.problems];
  if (made.plan === undefined || located.some((problem) => problem.severity === "error"))
    return { applications, next: null, problems: located };
  const next = nextBatch(made.plan, rollout, made.targets, made.clusters);
  return { plan: made.plan, clusters: made.clusters, applications, whole: fleet.whole, next, problems: located };
}

/** A commit or a tag that only Git's history tells: a checkout is planned with a name for it, so that its pins are looked at. */
function standIn({ release }: Rollout): { version: string | undefined } {
  if (release?.kind === "commit") return { version: "merge-commit" };
  return { version: release?.kind === "tag" ? `newest-tag-in ${release.range}` : undefined };
}

function releaseOf(rollout: Rollout, checkout: Checkout, to: Readonly<Record<string, string>>, problems: Problem[]): Release | undefined {
  const given = Object.keys(to).length > 0;
  if (rollout.release === undefined) return given ? { values: { ...to }, attempt: 1 } : undefined;
  if (given && (rollout.release.kind !== "values" || Object.keys(rollout.release.values).every((name) => to[name] !== undefined))) {
    return { values: { ...to }, attempt: rollout.release.attempt };
  }
  try {
    const read = readRelease(rollout, (path) => checkout.read(path), standIn(rollout));
    if (read.ok) return { ...read.release, values: { ...read.release.values, ...to } };
    const { file, why, line, column } = read;
    problems.push({
      code: "RELEASE_NOT_FOUND",
      ...(why.kind === "NoFile" ? { ...why, near: nearPath(why.name, checkout.paths()) } : why),
      severity: "error",
      file: line === undefined ? rollout.file : file,
      line: line ?? 1,
      column: column ?? 1,
      path: ["spec", "release"],
    });
  } catch (error) {
    problems.push({
      code: "RELEASE_NOT_FOUND",
      kind: "Unreadable",
      said: errorText(error),
      severity: "error",
      file: rollout.file,
      line: 1,
      column: 1,
      path: ["spec", "release"],
    });
  }
  return undefined;
}

/** As the checkout has them; what the base branch asks of a pull request only GitHub knows. */
export function rulesNow(checkout: Checkout): RulesNow {
  const { limits, freezes } = parseRepoConfig(readOrNull(checkout, SETTINGS_FILE), SETTINGS_FILE).bounds;
  return defined({ now: Date.now(), limits, freezes: freezesOf(freezes) });
}

// Names of clusters that stages ask for and nobody has, as far as a checkout can tell.

/** Nobody reads on. */
const MOST_KNOWN = 5;
/** Larger ones were not written by a person. */
const LARGEST_FILE = 1024 * 1024;
const MOST_SETS = 200;

/** `whole`: there are no clusters but these, so that a name that none of them has is nobody's. */
function strangersIn(rollout: Rollout, checkout: Checkout, clusters: readonly Cluster[], whole: boolean): Problem[] {
  if (stageStrangers(rollout, [...clusters, NOBODY]).length === 0) return [];
  const known = whole ? clusters : [...clusters, ...madeOnce(checkout, namedInRepo)];
  const names = [...new Set(known.map(({ name }) => name))].toSorted(compareText);
  const shown = { known: names.slice(0, MOST_KNOWN), of: names.length };
  const kind = whole ? "Fleet" : "Git";
  return stageStrangers(rollout, known, { some: !whole }).map(({ stage, name, near, path }) => {
    const at = { file: rollout.file, line: 1, column: 1, path };
    return { code: "UNKNOWN_NAME", kind, stage, name, near, ...shown, severity: "warning", ...at };
  });
}

/** Keys of labels that stages go by and nothing in the repo names, where no cluster's labels are known. A like one is named for sure. */
function strangeKeysIn(rollout: Rollout, checkout: Checkout, clusters: readonly Cluster[]): Problem[] {
  if (clusters.some(({ labels }) => Object.keys(labels).length > 0)) return [];
  return keySlips(rollout, new Set([...keysOfPins(rollout), ...madeOnce(checkout, keysInRepo)])).map(
    ({ stage, key, near, path, atKey }) => {
      const at = { file: rollout.file, line: 1, column: 1, path, atKey };
      return { code: "UNKNOWN_LABEL", git: true, stage, key, near, severity: "warning", ...at };
    },
  );
}

function keysOfPins({ pins }: Rollout): string[] {
  const texts = pins.flatMap((pin) => Object.values(pin).filter((text) => typeof text === "string"));
  return texts.flatMap((text) => variablesIn(text).flatMap((one) => (one.root === "cluster.labels" ? [one.key] : [])));
}

/** Labels of clusters that the repo knows for sure: of Secrets, and those by which generators select clusters. */
function keysInRepo(files: RepoFiles): string[] {
  const secrets = files.paths().flatMap((path) => secretsIn(files, path));
  const selectors = scanCheckout(files).sets.flatMap(({ object }) => selectorsIn(object["spec"]));
  return [...secrets.flatMap(({ labels }) => Object.keys(labels)), ...selectors];
}

/** Keys of the selectors of every `clusters` generator, however deep it stands. */
function selectorsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(selectorsIn);
  if (!isRecord(value)) return [];
  const { matchLabels, matchExpressions } = recordOf(recordOf(value["clusters"])["selector"]);
  const expressions = Array.isArray(matchExpressions) ? matchExpressions.map((one) => recordOf(one)["key"]) : [];
  const own = [...Object.keys(recordOf(matchLabels)), ...expressions.filter((key): key is string => typeof key === "string")];
  return [...own, ...Object.values(value).flatMap(selectorsIn)];
}

/** So that a stage that asks for a name is found where no cluster is known, too. */
const NOBODY = { name: "", labels: {} };

type Named = Pick<Cluster, "name" | "labels">;

/** Clusters that the repo names for sure: by Secrets, and as the destination of Applications, hand-written or of lists and files. */
function namedInRepo(files: RepoFiles): Named[] {
  const { applications, sets } = scanCheckout(files);
  const rendered = sets.slice(0, MOST_SETS).flatMap(({ object }) => render(object, { clusters: [], repo: () => files }).applications);
  const destinations = [...applications.map(({ object }) => object), ...rendered].map((object) => recordOf(object)["spec"]);
  const names = destinations.map((spec) => recordOf(recordOf(spec)["destination"])["name"]);
  const sure = names.filter((name): name is string => typeof name === "string" && !/\{\{|^in-cluster$|^$/.test(name));
  return [...sure.map((name) => ({ name, labels: {} })), ...files.paths().flatMap((path) => secretsIn(files, path))];
}

function secretsIn(files: RepoFiles, path: string): Named[] {
  const text = isManifestFile(path) ? readOrNull(files, path) : null;
  if (text === null || text.length > LARGEST_FILE || !text.includes(SECRET_TYPE)) return [];
  return readManifests(text).flatMap((object) => {
    const { labels } = recordOf(object["metadata"]);
    if (object["kind"] !== "Secret" || recordOf(labels)[SECRET_TYPE] !== "cluster") return [];
    const view = decodeClusterSecret(object);
    return view === undefined || view.name.includes("{{") ? [] : [view];
  });
}
