import { defined } from "../../core/base/defined.ts";
import type { InitCluster, ProposedStage } from "./types.ts";

interface Grouping {
  stages: ProposedStage[];
  /** What was guessed, one sentence each. */
  guesses: string[];
}

interface GroupingOptions {
  /** Labels are those of cluster Secrets. Otherwise stages name their clusters: labels would be guesses. */
  labelsAreSure: boolean;
  /** One batch for each stage, and no stage that splits another: for pins that several clusters share. */
  wide: boolean;
}

/** Labels that say how far from customers a cluster is, likeliest first. */
const ENVIRONMENTS = ["environment", "env", "stage", "tier", "ring", "wave", "phase", "promotion", "order", "priority"];
/** Labels that say where it is. */
const REGIONS = [
  "region",
  "topology.kubernetes.io/region",
  "location",
  "geo",
  "area",
  "zone",
  "topology.kubernetes.io/zone",
  "country",
  "datacenter",
  "dc",
  "cloud",
  "provider",
];
/** Labels that say it is not to be touched now. */
const AWAY = ["drained", "maintenance", "cordoned"];
/** From furthest from customers to nearest. */
const RANKS: readonly RegExp[] = [
  /^(?:sandbox|sbx|playground|lab|poc|local)/,
  /^(?:dev|develop|development|alpha)/,
  /^(?:ci|int|integration|test|tst|qa|sit|beta)/,
  /^(?:stag|stg|preprod|pre-prod|preproduction|uat|acc|acceptance|demo|perf|nonprod|non-prod)/,
  /^(?:canary|early|pilot)/,
  /^(?:prod|prd|production|live|main|ga)/,
];
const MOST_STAGES = 12;
/** More clusters than this are not named one by one. */
const MOST_NAMES = 60;
const FEW = 3;

/** Groups clusters into stages: by how far from customers they are, then by place, the first few ahead of the others. */
export function groupClusters(clusters: readonly InitCluster[], options: GroupingOptions): Grouping {
  const guesses: string[] = [];
  const key = environmentKey(clusters);
  const parts = key === undefined ? byName(clusters) : byLabel(clusters, key);
  if (key === undefined && parts.length > 1) guesses.push("the order of stages is taken from the clusters' names");
  else if (key !== undefined && parts.some((part) => rankOf(part.value) === undefined))
    guesses.push(`the order of the values of ${key} is a guess`);
  const stages: ProposedStage[] = [];
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1;
    stages.push(...(last && !options.wide ? finalStages(part, clusters, options) : [stageOf(part, clusters, options, last)]));
  }
  const named = stages.some((stage) => stage.selector["matchExpressions"] !== undefined);
  if (named && !options.labelsAreSure)
    guesses.push("no cluster Secret was seen: stages name their clusters; give --inventory to select by labels");
  return { stages, guesses };
}

interface Part {
  /** Label and value that select it; undefined: all of them, or those named. */
  label?: { key: string; value: string };
  value: string;
  clusters: InitCluster[];
}

/** A label that every cluster has, with a handful of values. */
function environmentKey(clusters: readonly InitCluster[]): string | undefined {
  return ENVIRONMENTS.flatMap((name) => [name, ...suffixed(clusters, name)]).find((key) => isGrouping(clusters, key));
}

/** `acme.com/environment` for `environment`. */
function suffixed(clusters: readonly InitCluster[], name: string): string[] {
  return Object.keys(clusters[0]?.labels ?? {}).filter((key) => key.endsWith(`/${name}`));
}

function isGrouping(clusters: readonly InitCluster[], key: string): boolean {
  const values = new Set<string>();
  for (const { labels } of clusters) {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined || value === "") return false;
    values.add(value);
  }
  return values.size > 1 && values.size <= MOST_STAGES;
}

function byLabel(clusters: readonly InitCluster[], key: string): Part[] {
  const parts = Map.groupBy(clusters, ({ labels }) => labels[key] ?? "");
  return [...parts]
    .map(([value, own]) => ({ label: { key, value }, value, clusters: own }))
    .sort((a, b) => compareValues(a.value, b.value));
}

/** `payments-dev-1`, `prod-eu`: told apart where every name has such a word. */
function byName(clusters: readonly InitCluster[]): Part[] {
  const all: Part[] = [{ value: "", clusters: [...clusters] }];
  const parts = new Map<string, InitCluster[]>();
  for (const cluster of clusters) {
    const word = cluster.name
      .toLowerCase()
      .split(/[^a-z]+/)
      .find((part) => part.length > 2 && rankOf(part) !== undefined);
    if (word === undefined) return all;
    parts.set(word, [...(parts.get(word) ?? []), cluster]);
  }
  if (parts.size < 2 || parts.size > MOST_STAGES) return all;
  return [...parts].map(([value, own]) => ({ value, clusters: own })).sort((a, b) => compareValues(a.value, b.value));
}

function rankOf(value: string): number | undefined {
  const rank = RANKS.findIndex((pattern) => pattern.test(value.toLowerCase()));
  return rank < 0 ? undefined : rank;
}

/** By distance from customers; numbers (`wave-2`) as numbers; what says nothing comes after what is known to be early. */
function compareValues(a: string, b: string): number {
  const [first, second] = [rankOf(a), rankOf(b)];
  const unknown = RANKS.length - 2.5;
  if (first !== undefined || second !== undefined) {
    const difference = (first ?? unknown) - (second ?? unknown);
    if (difference !== 0) return difference;
  }
  return a.localeCompare(b, "en", { numeric: true });
}

function select(part: Part, all: readonly InitCluster[], { labelsAreSure }: GroupingOptions): Record<string, unknown> {
  if (part.clusters.length === all.length) return {};
  if (part.label !== undefined && (labelsAreSure || part.clusters.length > MOST_NAMES))
    return { matchLabels: { [part.label.key]: part.label.value } };
  return { matchExpressions: [{ key: "name", operator: "In", values: part.clusters.map((cluster) => cluster.name).sort() }] };
}

function stageOf(part: Part, all: readonly InitCluster[], options: GroupingOptions, last: boolean): ProposedStage {
  const topologyKey = options.wide ? undefined : regionKey(part.clusters, options);
  const many = part.clusters.length > FEW;
  return {
    name: stageName(part.value === "" ? "all" : part.value),
    selector: select(part, all, options),
    maxUnavailable: options.wide || !last ? "100%" : many ? "25%" : 1,
    ...defined({ topologyKey: last ? topologyKey : undefined }),
    bake: last ? "5m" : "10m",
    ...away(part.clusters, options),
    clusters: part.clusters.length,
  };
}

/** The clusters nearest to customers: a few first, then place by place. */
function finalStages(part: Part, all: readonly InitCluster[], options: GroupingOptions): ProposedStage[] {
  const region = regionKey(part.clusters, options);
  const rest = stageOf(part, all, options, true);
  if (part.clusters.length <= FEW) return [{ ...rest, maxUnavailable: 1 }];
  const places = region === undefined ? 1 : new Set(part.clusters.map(({ labels }) => labels[region])).size;
  const canary: ProposedStage = {
    ...rest,
    name: stageName(part.value === "" ? "canary" : `canary in ${part.value}`),
    maxClusters: 1,
    maxUnavailable: 1,
    bake: "15m",
    clusters: 1,
  };
  delete canary.topologyKey;
  const name = part.value === "" ? "everywhere else" : `rest of ${part.value}`;
  const { topologyKey: _, ...plain } = rest;
  const spread = region !== undefined && places >= 2 ? { topologyKey: region } : {};
  return [canary, { ...plain, ...spread, name: stageName(name), clusters: part.clusters.length - 1 }];
}

function regionKey(clusters: readonly InitCluster[], { labelsAreSure }: GroupingOptions): string | undefined {
  if (!labelsAreSure) return undefined;
  return REGIONS.find((key) => isGrouping(clusters, key));
}

function away(clusters: readonly InitCluster[], { labelsAreSure }: GroupingOptions): Pick<ProposedStage, "requeue"> {
  if (!labelsAreSure) return {};
  const key = AWAY.find((name) => clusters.some(({ labels }) => labels[name] === "true"));
  return key === undefined ? {} : { requeue: { selector: { matchLabels: { [key]: "true" } }, attempts: 5, interval: "30m" } };
}

function stageName(text: string): string {
  return text.slice(0, 63);
}
