import { readOrNull } from "../../core/base/repo-files.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { groupApplications } from "./application-groups.ts";
import { choosePins } from "./choose-pins.ts";
import { clusterPair } from "./cluster-pair.ts";
import { filePlaces, type RepoView } from "./places-files.ts";
import { generatorPlaces } from "./places-generator.ts";
import { specPlaces } from "./places-spec.ts";
import { printRollout, printSettings, type RolloutParts, rolloutName } from "./print.ts";
import { type Scan, scanRepo, textAt } from "./scan.ts";
import { partlyStaged, stagedBy } from "./staged.ts";
import { groupClusters } from "./stages.ts";
import { targetOfManifest, targetsOfSet } from "./targets.ts";
import type { InitCluster, InitInput, InitTarget, Manifest, Place, Proposal, ProposedRollout, ProposedStage, Undecided } from "./types.ts";

/** A repo of thousands of sets gets rollouts for the first of them, and is told so. */
const MOST_ROLLOUTS = 100;

/**
 * Looks through a repo and proposes a rollout for each ApplicationSet, and each group of Applications, whose versions it
 * finds. Every rollout that it proposes has passed `input.verify`; what could not be decided is listed with its reason.
 */
export function propose(input: InitInput): Proposal {
  const scan = scanRepo(input.files);
  const view: RepoView = { files: input.files, all: new Set(input.files.paths()), isThisRepo: input.isThisRepo };
  const existing = rolloutsOf(input);
  const taken = new Set([...takenNames(input), ...existing.map((rollout) => rollout.name)]);
  const draft: Draft = { input, view, existing, rollouts: [], undecided: [...scan.undecided], taken, clusters: new Map() };
  for (const set of scan.sets) proposeSet(draft, set);
  proposeApplications(draft, scan);
  const known = input.clusters.length > 0;
  return {
    figures: scan.figures,
    fleet: known ? "inventory" : draft.clusters.size > 0 ? "generators" : "nothing",
    clusters: known ? input.clusters.length : draft.clusters.size,
    rollouts: draft.rollouts,
    existing: existing.map((rollout) => rollout.name),
    settings: readOrNull(input.files, SETTINGS_FILE) === null ? { file: SETTINGS_FILE, text: printSettings() } : undefined,
    undecided: draft.undecided,
  };
}

interface Draft {
  input: InitInput;
  view: RepoView;
  existing: readonly Rollout[];
  rollouts: ProposedRollout[];
  undecided: Undecided[];
  taken: Set<string>;
  clusters: Map<string, InitCluster>;
}

/** Nothing that is there is written over. */
function takenNames({ files }: InitInput): Set<string> {
  const names = files.paths().flatMap((path) => /^rollouts\/([^/]+)\.ya?ml$/.exec(path)?.[1] ?? []);
  return new Set(names);
}

const ROLLOUT = /^rollouts\/.*\.ya?ml$/;

/** Those that can be read; what is wrong with others is lint's to say. */
function rolloutsOf({ files }: InitInput): Rollout[] {
  return files
    .paths()
    .filter((path) => ROLLOUT.test(path))
    .flatMap((path) => parseRollouts(readOrNull(files, path) ?? "", path).rollouts);
}

interface Subject {
  what: string;
  name: string;
  file: string;
  source: RolloutParts["source"];
  targets: InitTarget[];
}

function proposeSet(draft: Draft, set: Manifest): void {
  if (hasRollout(draft, set)) return;
  const subject = readSet(draft, set);
  if ("why" in subject) {
    draft.undecided.push(subject);
    return;
  }
  const pair = clusterPair(set, draft.input.files);
  if (pair !== undefined) {
    tryStages(draft, subject, { pins: [pair.pin], kinds: ["generator field"], version: pair.version, shared: false, guesses: [] });
    return;
  }
  const why: string[] = [];
  const template = templateOf(set);
  const places = subject.targets.map((target) => {
    const generated = generatorPlaces(set, target, draft.input.files);
    why.push(...generated.why);
    return [
      ...generated.places,
      ...specPlaces(set, template, ["spec", "template", "spec"], draft.input.files),
      ...filePlaces(target, draft.view),
    ];
  });
  proposePins(draft, subject, places, [...new Set(why)]);
}

function hasRollout({ existing }: Draft, { object }: Manifest): boolean {
  const namespace = textAt(object, "metadata", "namespace");
  return existing.some(
    ({ source }) =>
      source.kind === "ApplicationSet" &&
      source.name === textAt(object, "metadata", "name") &&
      (namespace === undefined || namespace === source.namespace),
  );
}

function readSet(draft: Draft, set: Manifest): Subject | Undecided {
  const name = textAt(set.object, "metadata", "name");
  const { file } = set;
  const what = `ApplicationSet ${name ?? "without a name"}`;
  if (name === undefined || name.includes("{{")) return { what, file, why: "it has no name of its own", hint: "give it one" };
  const found = targetsOfSet(set, draft.input);
  if (!found.ok) return { what, file, why: found.why, hint: found.hint };
  remember(draft, found.targets);
  const alone = whyNothingToStage(found.targets);
  if (alone !== undefined) return { what, file, why: alone, hint: "nothing is to be done, unless more clusters join" };
  const namespace = textAt(set.object, "metadata", "namespace") ?? "argocd";
  return { what, name, file, source: { kind: "ApplicationSet", name, namespace }, targets: found.targets };
}

/** The template's spec as it is written, templates and all: only what is literal there is a place. */
function templateOf(set: Manifest): Record<string, unknown> {
  const spec = (set.object["spec"] as { template?: { spec?: Record<string, unknown> } } | undefined)?.template?.spec;
  return spec ?? {};
}

function proposeApplications(draft: Draft, scan: Scan): void {
  const targets = scan.applications.flatMap((manifest) => targetOfManifest(manifest, draft.input) ?? []);
  remember(draft, targets);
  const groups = groupApplications(targets);
  for (const { name, targets: members, selector } of groups) {
    const [first] = members;
    if (first?.manifest === undefined) continue;
    const what = `Applications ${name} (${members.length})`;
    const staged = stagedBy(draft.existing, members);
    if (staged !== undefined) {
      if (staged.rest.length > 0) draft.undecided.push({ what, file: first.manifest.file, ...partlyStaged(staged) });
      continue;
    }
    const places = members.map((target) => [
      ...(target.manifest === undefined ? [] : specPlaces(target.manifest, target.spec, ["spec"], draft.input.files)),
      ...filePlaces(target, draft.view),
    ]);
    const source = { kind: "Application" as const, namespace: first.namespace, selector };
    proposePins(draft, { what, name, file: first.manifest.file, source, targets: members }, places, []);
  }
  const grouped = groups.reduce((sum, group) => sum + group.targets.length, 0);
  const alone = scan.applications.length - grouped;
  if (alone > 0) {
    draft.undecided.push({
      what: `${alone} of ${scan.applications.length} Applications`,
      file: scan.applications[0]?.file ?? ".",
      why: "each runs something that no other one runs on another cluster, so there is nothing to stage",
      hint: "where several belong together, write a rollout with sourceRef.kind: Application and a selector",
    });
  }
}

function remember(draft: Draft, targets: readonly InitTarget[]): void {
  for (const { cluster } of targets) draft.clusters.set(cluster.name, cluster);
}

function whyNothingToStage(targets: readonly InitTarget[]): string | undefined {
  const clusters = new Set(targets.map((target) => target.cluster.name));
  if (clusters.size > 1) return undefined;
  return `all its Applications are on one cluster, ${[...clusters][0] ?? ""}: there is nothing to stage`;
}

function proposePins(draft: Draft, subject: Subject, places: readonly (readonly Place[])[], why: readonly string[]): void {
  const chosen = choosePins(subject.name, subject.targets, places);
  if ("why" in chosen) {
    const said = why.length > 0 && places.every((all) => all.length === 0) ? why.slice(0, 3).join("; ") : chosen.why;
    draft.undecided.push({ what: subject.what, file: subject.file, why: said, hint: chosen.hint });
    return;
  }
  tryStages(draft, subject, chosen);
}

type Chosen = Exclude<ReturnType<typeof choosePins>, { why: string }>;

/** Careful stages first; where clusters share a pin, each stage moves as one. */
function tryStages(draft: Draft, subject: Subject, chosen: Chosen): void {
  const clusters = [...new Map(subject.targets.map((target) => [target.cluster.name, target.cluster])).values()];
  const labelsAreSure = draft.input.clusters.length > 0;
  let against: readonly string[] = [];
  if (draft.rollouts.length === MOST_ROLLOUTS) against = [`${MOST_ROLLOUTS} rollouts are proposed already`];
  for (const wide of against.length > 0 ? [] : chosen.shared ? [true] : [false, true]) {
    const { stages, guesses } = groupClusters(clusters, { labelsAreSure, wide });
    const rollout = rolloutOf(draft, subject, chosen, stages, [...chosen.guesses, ...guesses]);
    against = draft.input.verify(rollout.file, rollout.text, subject.targets);
    if (against.length > 0) continue;
    draft.taken.add(rollout.name);
    draft.rollouts.push({ ...rollout, clusters: clusters.length });
    return;
  }
  const hint = "correct what it names, then run init again; or write the rollout by hand";
  draft.undecided.push({ what: subject.what, file: subject.file, why: against.slice(0, 3).join("; "), hint });
}

function rolloutOf(draft: Draft, subject: Subject, chosen: Chosen, stages: ProposedStage[], guesses: string[]): ProposedRollout {
  const name = rolloutName(subject.name, draft.taken);
  const { pins, version, kinds } = chosen;
  const text = printRollout({ name, source: subject.source, version, pins, stages, guesses });
  const source = { kind: subject.source.kind, name: subject.name, file: subject.file };
  const file = `rollouts/${name}.yaml`;
  return { name, file, text, source, kinds, pins, stages, targets: subject.targets.length, clusters: 0, version, guesses };
}
