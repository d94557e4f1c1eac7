/** What `stagecoach init` and onboarding propose for a repo: a rollout for each thing that runs in several places. Called by `propose-tried.ts` and `stagecoach init`. */
import { defined } from "../../core/base/defined.ts";
import { madeOnce, readOrNull } from "../../core/base/repo-files.ts";
import type { Objection, PlaceHindrance, Question } from "../../core/reasons/onboarding.ts";
import { printRollout, printSettings, type RolloutParts, rolloutName } from "../../core/report/onboarding/print.ts";
import { versionShown } from "../../core/report/onboarding/show.ts";
import type { Proposal, ProposedRollout, ProposedStage, Undecided } from "../../core/report/onboarding/types.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { groupApplications, selectorOf } from "./application-groups.ts";
import { branchPins } from "./branches.ts";
import { type Chosen, choosePins } from "./choose-pins.ts";
import { type CollectedSet, collectTargets } from "./collect.ts";
import { clusterPair, filePlaces, type RepoView } from "./places-files.ts";
import { generatorPlaces } from "./places-generator.ts";
import { specPlaces } from "./places-spec.ts";
import { areLabelsKnown, asOnOne, planesOf } from "./planes.ts";
import { proveProposal } from "./prove.ts";
import { repoKindBeside } from "./repo-kind.ts";
import { scanRepo } from "./scan.ts";
import { itemsOf } from "./stage-items.ts";
import { afterMost, MOST_ROLLOUTS, partlyStaged, setStagedBy, stagedBy } from "./staged.ts";
import { groupStages } from "./stages.ts";
import type { InitInput, InitTarget, Place } from "./types.ts";
import { branchAmong, isBroken, leftOut, parentsIn, whyAlone, whyUnpinned } from "./unpinned.ts";

/**
 * Looks through a repo and proposes a rollout for each ApplicationSet, and each group of Applications, whose versions it
 * finds. Every rollout that it proposes has passed `input.verify`; what could not be decided is listed with its reason.
 */
export function propose(input: InitInput): Proposal {
  const scan = madeOnce(input.files, scanRepo);
  const view: RepoView = { files: input.files, all: new Set(input.files.paths()), isThisRepo: input.isThisRepo, base: input.defaultBranch };
  const existing = rolloutsOf(input);
  const taken = new Set([...takenNames(input), ...existing.map((rollout) => rollout.name)]);
  const { sets, targets, undecided } = collectTargets(scan, input);
  const given = { input, view, existing, taken, isParent: parentsIn(scan) };
  const draft: Draft = { ...given, all: targets, rollouts: [], undecided: [...scan.undecided, ...undecided] };
  const rest = new Set(targets);
  for (const set of sets) if (proposeSet(draft, set)) for (const target of set.targets) rest.delete(target);
  proposeApplications(draft, sets, [...rest]);
  const clusters = new Set(targets.map(({ cluster }) => cluster.name)).size;
  const known = input.clusters.length > 0;
  return {
    figures: scan.figures,
    fleet: known ? "inventory" : clusters > 0 ? "generators" : "nothing",
    clusters: known ? input.clusters.length : clusters,
    rollouts: draft.rollouts,
    existing: existing.map((rollout) => rollout.name),
    settings: readOrNull(input.files, SETTINGS_FILE) === null ? { file: SETTINGS_FILE, text: printSettings() } : undefined,
    undecided: draft.undecided,
    ...defined({ repoKind: targets.length + sets.length === 0 ? repoKindBeside(draft.undecided, input.files) : undefined }),
  };
}

interface Draft {
  input: InitInput;
  view: RepoView;
  existing: readonly Rollout[];
  all: readonly InitTarget[];
  rollouts: ProposedRollout[];
  undecided: Undecided[];
  taken: Set<string>;
  isParent(target: InitTarget): boolean;
}

/** Nothing that is there is written over. */
function takenNames({ files }: InitInput): string[] {
  return files.paths().flatMap((path) => /^rollouts\/([^/]+)\.ya?ml$/.exec(path)?.[1] ?? []);
}

/** Those that can be read; what is wrong with others is lint's to say. */
function rolloutsOf({ files }: InitInput): Rollout[] {
  return files
    .paths()
    .filter((path) => /^rollouts\/.*\.ya?ml$/.test(path))
    .flatMap((path) => parseRollouts(readOrNull(files, path) ?? "", path).rollouts);
}

interface Subject {
  what: string;
  name: string;
  file: string;
  source: RolloutParts["source"];
  targets: InitTarget[];
}

/** A set that is one thing, an Application each cluster; false: its Applications are to be grouped with all others. */
function proposeSet(draft: Draft, { name, namespace, file, targets }: CollectedSet): boolean {
  const [first] = targets;
  if (setStagedBy(draft.existing, { name, namespace, targets })) return true;
  const clusters = new Set(targets.map((target) => target.cluster.name));
  if (first === undefined || targets.length < 2 || clusters.size < targets.length) return false;
  if (draft.rollouts.length === MOST_ROLLOUTS) {
    draft.undecided.push(afterMost([name]));
    return true;
  }
  const what = `ApplicationSet ${name}`;
  const source = { kind: "ApplicationSet" as const, name, namespace, ...planesOf(targets) };
  const subject: Subject = { what, name, file, source, targets: asOnOne(targets) };
  const pair = first.set?.manifest && clusterPair(first.set.manifest, draft.input.files);
  if (pair !== undefined) {
    const chosen = { pins: [pair.pin], kinds: ["generator field" as const], release: { version: pair.version }, shared: false };
    tryStages(draft, subject, { ...chosen, places: [], guesses: [], questions: [] });
  } else proposePins(draft, subject);
  return true;
}

/** Of what no set stages as a whole: groups of one thing in several environments, whoever makes them. */
function proposeApplications(draft: Draft, sets: readonly CollectedSet[], targets: readonly InitTarget[]): void {
  const groups = groupApplications(targets);
  const tooMany: string[] = [];
  for (const { name, targets: members } of groups) {
    const [first] = members;
    if (first === undefined) continue;
    const whole = sets.find((set) => set.targets.length === members.length && set.targets.every((target) => members.includes(target)));
    const makers = [...new Set(members.flatMap(({ set }) => set?.name ?? []))];
    const of = makers.length === 0 ? "" : ` of ApplicationSet ${makers.join(", ")}`;
    const what = whole === undefined ? `Applications ${name} (${members.length})${of}` : `ApplicationSet ${whole.name}`;
    const file = first.manifest?.file ?? first.set?.manifest?.file ?? "";
    const staged = stagedBy(draft.existing, members);
    if (staged !== undefined) {
      if (staged.rest.length > 0) draft.undecided.push({ what, file, why: partlyStaged(staged) });
      continue;
    }
    if (draft.rollouts.length === MOST_ROLLOUTS) {
      tooMany.push(name);
      continue;
    }
    const source: RolloutParts["source"] =
      whole === undefined
        ? { kind: "Application", namespace: first.namespace, selector: selectorOf(members, draft.all), ...planesOf(members) }
        : { kind: "ApplicationSet", name: whole.name, namespace: whole.namespace, ...planesOf(members) };
    proposePins(draft, { what, name: whole?.name ?? name, file, source, targets: asOnOne(members) });
  }
  if (tooMany.length > 0) draft.undecided.push(afterMost(tooMany));
  const grouped = new Set(groups.flatMap((group) => group.targets));
  const alone = targets.filter((target) => !grouped.has(target));
  draft.undecided.push(...whyAlone(draft.all, sets, alone, draft.input.files.paths()));
}

/** All places of one target, and why there are no others. */
function placesOf({ input, view }: Draft, target: InitTarget): { places: Place[]; why: PlaceHindrance[] } {
  const { files } = input;
  const { set, manifest } = target;
  const generated = set?.manifest === undefined ? { places: [], why: [] } : generatorPlaces(set.manifest, target, files);
  const written =
    set?.manifest === undefined ? [] : specPlaces(set.manifest, templateOf(set.manifest.object), ["spec", "template", "spec"], files);
  const own = manifest === undefined ? [] : specPlaces(manifest, target.spec, ["spec"], files);
  const read = filePlaces(target, view);
  return { places: [...generated.places, ...written, ...own, ...read.places], why: [...generated.why, ...read.why] };
}

/** The template's spec as it is written, templates and all: only what is literal there is a place. */
function templateOf(set: Record<string, unknown>): Record<string, unknown> {
  const spec = (set["spec"] as { template?: { spec?: Record<string, unknown> } } | undefined)?.template?.spec;
  return spec ?? {};
}

function proposePins(draft: Draft, subject: Subject): void {
  const found = subject.targets.map((target) => placesOf(draft, target));
  const places = found.map((one) => one.places);
  const variables = { params: subject.source.kind === "ApplicationSet", applications: true };
  const chosen = choosePins(subject.targets, places, { name: subject.name, counted: subject.targets.length, variables });
  const elsewhere = found.map((one) => branchAmong(one.why));
  const byBranch = "why" in chosen ? branchPins(subject.targets, draft.all, draft.input, variables) : undefined;
  if (byBranch !== undefined && !("label" in byBranch)) tryStages(draft, subject, byBranch);
  else if ("why" in chosen && !found.some(({ why }) => isBroken(why)) && proposeWithout(draft, subject, places, elsewhere)) return;
  else if ("why" in chosen) {
    // Of hundreds of Applications that are made alike one is told.
    const because = [...new Map(found.flatMap((one) => one.why).map((one) => [JSON.stringify(one), one])).values()];
    draft.undecided.push({
      what: subject.what,
      file: subject.file,
      applications: subject.targets.length,
      why: whyUnpinned(chosen.why, {
        ...{ because, places, areParents: subject.targets.every(draft.isParent), label: byBranch?.label },
        ...{ someReadBase: elsewhere.includes(undefined), targets: subject.targets, files: draft.input.files },
      }),
    });
  } else tryStages(draft, subject, chosen);
}

/** Where some of a group have no version at all, such as previews, the others are proposed alone, by their names. False: they cannot be, either. */
function proposeWithout(
  draft: Draft,
  subject: Subject,
  places: readonly (readonly Place[])[],
  elsewhere: readonly (string | undefined)[],
): boolean {
  const { source } = subject;
  const targets = subject.targets.filter((_, i) => (places[i]?.length ?? 0) > 0);
  const own = places.filter((all) => all.length > 0);
  if (source.kind !== "Application" || targets.length < 2 || targets.length === subject.targets.length) return false;
  const variables = { params: false, applications: true };
  const chosen = choosePins(targets, own, { name: subject.name, counted: targets.length, variables });
  if ("why" in chosen) return false;
  const out = subject.targets.map((target, i) => ({ target, branch: elsewhere[i] })).filter(({ target }) => !targets.includes(target));
  const guesses = [...chosen.guesses, leftOut(out)];
  tryStages(draft, { ...subject, targets, source: { ...source, selector: selectorOf(targets, draft.all) } }, { ...chosen, guesses });
  return true;
}

/** Clusters are counted where each has one Application; else the Applications themselves. */
function targetByOf({ targets }: Subject): "application" | undefined {
  return new Set(targets.map((target) => target.cluster.name)).size === targets.length ? undefined : "application";
}

/** Careful stages first; where targets share a pin, each stage moves as one. */
function tryStages(draft: Draft, subject: Subject, chosen: Chosen): void {
  const targetBy = targetByOf(subject);
  const { items, labelsAreSure } = itemsOf(subject.targets, targetBy, areLabelsKnown(draft.input, subject.targets));
  let against: readonly Objection[] = [];
  if (chosen.places.length > 0) against = proveProposal({ targets: subject.targets, places: chosen.places }, draft.all, draft.input);
  for (const wide of against.length > 0 ? [] : chosen.shared ? [true] : [false, true]) {
    const { stages, guesses } = groupStages(items, { of: targetBy === undefined ? "clusters" : "Applications", labelsAreSure, wide });
    const rollout = rolloutOf(draft, subject, { ...chosen, guesses: [...chosen.guesses, ...guesses] }, stages, targetBy);
    against = draft.input.verify(rollout.file, rollout.text, subject.targets);
    if (against.length > 0) continue;
    draft.taken.add(rollout.name);
    draft.rollouts.push(rollout);
    return;
  }
  const applications = subject.targets.length;
  draft.undecided.push({ what: subject.what, file: subject.file, applications, why: { kind: "Disproved", against } });
}

function rolloutOf(
  draft: Draft,
  subject: Subject,
  chosen: Chosen,
  stages: ProposedStage[],
  targetBy: "application" | undefined,
): ProposedRollout {
  const name = rolloutName(subject.name, draft.taken);
  const { pins, kinds, release, guesses } = chosen;
  const byHand = stages.filter(({ sync }) => sync !== undefined).map((stage) => stage.name);
  const questions: Question[] = [...chosen.questions, ...(byHand.length === 0 ? [] : [{ kind: "WhoSyncs" as const, stages: byHand }])];
  const text = printRollout({ name, source: subject.source, targetBy, release, pins, stages, guesses, questions });
  const source = { kind: subject.source.kind, name: subject.name, file: subject.file };
  const version = versionShown(release);
  const { targets } = subject;
  const clusters = new Set(targets.map((target) => target.cluster.name)).size;
  const counts = { targets: targets.length, clusters, ...defined({ targetBy }) };
  return { name, file: `rollouts/${name}.yaml`, text, source, kinds, pins, stages, ...counts, version, guesses, questions };
}
