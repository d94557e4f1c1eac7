/** Names of clusters that stages ask for and nobody has, as far as a checkout can tell. Called by `plan-make.ts`. */
import { render } from "../../../core/appset/render.ts";
import { decodeClusterSecret, SECRET_TYPE } from "../../../core/argocd/decode/cluster.ts";
import { compareText } from "../../../core/base/compare-text.ts";
import { isRecord, recordOf } from "../../../core/base/is-record.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import { variablesIn } from "../../../core/base/template.ts";
import { readManifests } from "../../../core/base/yaml-read.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import { keySlips, stageStrangers } from "../../../core/plan/selector-typos.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { isManifestFile } from "../../../engine/config-repo/set-files.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { scanCheckout } from "./near-source.ts";

/** Nobody reads on. */
const MOST_KNOWN = 5;
/** Larger ones were not written by a person. */
const LARGEST_FILE = 1024 * 1024;
const MOST_SETS = 200;

/** `whole`: there are no clusters but these, so that a name that none of them has is nobody's. */
export function strangersIn(rollout: Rollout, checkout: Checkout, clusters: readonly Cluster[], whole: boolean): Problem[] {
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
export function strangeKeysIn(rollout: Rollout, checkout: Checkout, clusters: readonly Cluster[]): Problem[] {
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
