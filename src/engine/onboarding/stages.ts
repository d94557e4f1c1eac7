/** Makes stages of clusters, or of the Applications that a rollout counts in their place. Called by `propose.ts`. */
import { defined } from "../../core/base/defined.ts";
import { compareEnvironments, environmentIn, rankIn } from "../../core/base/environments.ts";
import type { Guess } from "../../core/reasons/onboarding.ts";
import type { ProposedStage } from "../../core/report/onboarding/types.ts";

/** What stages take: a cluster, or an Application with its cluster's labels under its own. */
export interface StageItem {
  name: string;
  labels: Readonly<Record<string, string>>;
  /** Texts that may hold the environment's name, likeliest first, by what they are. */
  texts: Readonly<Record<string, string>>;
  /** Automated sync is off, for one of its Applications at least. */
  byHand?: boolean;
}

interface Grouping {
  stages: ProposedStage[];
  guesses: Guess[];
}

interface GroupingOptions {
  of: "clusters" | "Applications";
  /** Labels are known. Otherwise stages name their clusters: labels would be guesses. */
  labelsAreSure: boolean;
  /** One batch for each stage, and no stage that splits another: for pins that several of them share. */
  wide: boolean;
}

/** Labels that say how far from customers something is, likeliest first. */
const ENVIRONMENTS = [
  "environment",
  "env",
  "stage",
  "app.kubernetes.io/environment",
  "tier",
  "ring",
  "wave",
  "phase",
  "promotion",
  "order",
  "priority",
];
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
/** Labels of what is counted that tell where it is: they may tell one environment's Applications from another's. */
const PLACES = ["stagecoach.dev/namespace", "stagecoach.dev/project", "stagecoach.dev/cluster"];
/** Labels that say it is not to be touched now. */
const AWAY = ["drained", "maintenance", "cordoned"];
const MOST_STAGES = 12;
/** More than this are not named one by one. */
const MOST_NAMES = 60;
const FEW = 3;

/** Groups items into stages: by how far from customers they are, then by place, the first few ahead of the others. */
export function groupStages(items: readonly StageItem[], options: GroupingOptions): Grouping {
  const guesses: Guess[] = [];
  const key = environmentKey(items);
  const parts = key === undefined ? byText(items, options) : byLabel(items, key);
  if (key === undefined && parts.length > 1) guesses.push({ kind: "OrderByText", of: options.of, text: parts[0]?.by ?? "name" });
  else if (key !== undefined && parts.some((part) => rankIn(part.value) === undefined)) guesses.push({ kind: "OrderOfLabel", label: key });
  const unnamed = parts.find((part) => part.unnamed === true);
  if (unnamed !== undefined) guesses.push({ kind: "TakenForProduction", applications: unnamed.items.map(({ name }) => name) });
  if (parts.length === 1 && items.length > 1 && options.of === "Applications") guesses.push({ kind: "OneEnvironment" });
  const stages: ProposedStage[] = [];
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1;
    stages.push(...(last && !options.wide ? finalStages(part, items, options) : [stageOf(part, items, options, last)]));
  }
  guesses.push(...namesNoted(stages, options));
  return { stages, guesses };
}

/** Names are frozen: what joins later is in no stage. */
function namesNoted(stages: readonly ProposedStage[], { of, labelsAreSure }: GroupingOptions): Guess[] {
  const keys = new Set(stages.flatMap(({ selector }) => expressionKeys(selector)));
  if (!keys.has("name")) return [];
  return [of === "clusters" && !labelsAreSure ? { kind: "LabelsUnknown" } : { kind: "NamesOnly", of }];
}

function expressionKeys(selector: Record<string, unknown>): string[] {
  const list = selector["matchExpressions"];
  return Array.isArray(list) ? list.flatMap((one: { key?: unknown }) => (typeof one.key === "string" ? [one.key] : [])) : [];
}

interface Part {
  /** Label and value that select it; undefined: all of them, or those named. */
  label?: { key: string; value: string };
  value: string;
  /** Which text told it. */
  by?: string;
  /** Nothing told it: all others are before production. */
  unnamed?: boolean;
  items: StageItem[];
}

/** A label that every item has, with a handful of values. */
function environmentKey(items: readonly StageItem[]): string | undefined {
  return ENVIRONMENTS.flatMap((name) => [name, ...suffixed(items, name)]).find((key) => isGrouping(items, key));
}

/** `acme.com/environment` for `environment`. */
function suffixed(items: readonly StageItem[], name: string): string[] {
  return Object.keys(items[0]?.labels ?? {}).filter((key) => key.endsWith(`/${name}`));
}

function isGrouping(items: readonly StageItem[], key: string): boolean {
  const values = new Set<string>();
  for (const { labels } of items) {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined || value === "") return false;
    values.add(value);
  }
  return values.size > 1 && values.size <= MOST_STAGES;
}

function byLabel(items: readonly StageItem[], key: string): Part[] {
  const parts = Map.groupBy(items, ({ labels }) => labels[key] ?? "");
  return [...parts]
    .map(([value, own]) => ({ label: { key, value }, value, items: own }))
    .sort((a, b) => compareEnvironments(a.value, b.value));
}

/** `payments-dev-1`, `prod-eu`: told apart where every item has such a word at the same place. */
function byText(items: readonly StageItem[], { of }: GroupingOptions): Part[] {
  for (const by of Object.keys(items[0]?.texts ?? {})) {
    const parts = Map.groupBy(items, ({ texts }) => environmentIn(texts[by] ?? ""));
    if (parts.has(undefined) || parts.size < 2 || parts.size > MOST_STAGES) continue;
    const found = [...parts].map(([value = "", own]) => ({ value, by, items: own }));
    return found
      .sort((a, b) => compareEnvironments(a.value, b.value))
      .map((part) => ({ ...part, ...(of === "clusters" ? {} : placeLabel(part, items)) }));
  }
  return (of === "Applications" ? besideProduction(items) : undefined) ?? [{ value: "", items: [...items] }];
}

/** `shop-stage` and `shop`: what bears no word of an environment is production, where all that do come before it. */
function besideProduction(items: readonly StageItem[]): Part[] | undefined {
  const parts = Map.groupBy(items, ({ texts }) => environmentIn(texts["name"] ?? ""));
  const named = [...parts.keys()].filter((word) => word !== undefined);
  if (!parts.has(undefined) || named.length === 0 || parts.size > MOST_STAGES || named.some((word) => rankIn(word) === rankIn(PRODUCTION)))
    return undefined;
  return [...parts]
    .map(
      ([value, own]): Part => ({ value: value ?? PRODUCTION, by: "name", items: own, ...(value === undefined ? { unnamed: true } : {}) }),
    )
    .sort((a, b) => compareEnvironments(a.value, b.value))
    .map((part) => ({ ...part, ...placeLabel(part, items) }));
}

const PRODUCTION = "production";

/** A label of the place that this part alone has, with one value. */
function placeLabel(part: Part, items: readonly StageItem[]): Pick<Part, "label"> {
  for (const key of PLACES) {
    const value = part.items[0]?.labels[key];
    if (value === undefined || part.items.some(({ labels }) => labels[key] !== value)) continue;
    if (items.filter(({ labels }) => labels[key] === value).length === part.items.length) return { label: { key, value } };
  }
  return {};
}

function select(part: Part, all: readonly StageItem[], { labelsAreSure }: GroupingOptions): Record<string, unknown> {
  if (part.items.length === all.length) return {};
  if (part.label !== undefined && (labelsAreSure || part.items.length > MOST_NAMES))
    return { matchLabels: { [part.label.key]: part.label.value } };
  return { matchExpressions: [{ key: "name", operator: "In", values: part.items.map(({ name }) => name).sort() }] };
}

function stageOf(part: Part, all: readonly StageItem[], options: GroupingOptions, last: boolean): ProposedStage {
  const topologyKey = options.wide ? undefined : regionKey(part.items, options);
  const many = part.items.length > FEW;
  return {
    name: stageName(part.value === "" ? "all" : part.value),
    selector: select(part, all, options),
    maxUnavailable: options.wide || !last ? "100%" : many ? "25%" : 1,
    ...defined({ topologyKey: last ? topologyKey : undefined }),
    bake: "10m",
    ...(part.items.some(({ byHand }) => byHand === true) ? { sync: "Wait" as const } : {}),
    ...away(part.items, options),
    clusters: part.items.length,
  };
}

/** Those nearest to customers: a few first, then place by place. */
function finalStages(part: Part, all: readonly StageItem[], options: GroupingOptions): ProposedStage[] {
  const region = regionKey(part.items, options);
  const rest = stageOf(part, all, options, true);
  if (part.items.length <= FEW) return [{ ...rest, maxUnavailable: 1 }];
  const places = region === undefined ? 1 : new Set(part.items.map(({ labels }) => labels[region])).size;
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
  return [canary, { ...plain, ...spread, name: stageName(name), clusters: part.items.length - 1 }];
}

function regionKey(items: readonly StageItem[], { labelsAreSure }: GroupingOptions): string | undefined {
  if (!labelsAreSure) return undefined;
  return REGIONS.find((key) => isGrouping(items, key));
}

function away(items: readonly StageItem[], { labelsAreSure }: GroupingOptions): Pick<ProposedStage, "requeue"> {
  if (!labelsAreSure) return {};
  const key = AWAY.find((name) => items.some(({ labels }) => labels[name] === "true"));
  return key === undefined ? {} : { requeue: { selector: { matchLabels: { [key]: "true" } }, attempts: 5, interval: "30m" } };
}

function stageName(text: string): string {
  return text.slice(0, 63);
}
