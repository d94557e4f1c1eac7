/** The onboarding pull request is opened once, where a repository has no rollouts; a closed one means no. Called after every round. */
import type { Pull } from "../../../adapters/forge/port.ts";
import { applicationManifest } from "../../../core/argocd/manifest.ts";
import { defined } from "../../../core/base/defined.ts";
import { GATE } from "../../../core/report/batch/gate-check.ts";
import { onboardingBody } from "../../../core/report/onboarding/body.ts";
import { proposedFiles } from "../../../core/report/onboarding/show.ts";
import type { Proposal } from "../../../core/report/onboarding/types.ts";
import { generatorClusters } from "../../../engine/config-repo/appset-in-git.ts";
import { isRolloutFile } from "../../../engine/config-repo/project.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import { isManifestFile } from "../../../engine/config-repo/set-files.ts";
import { openSnapshot, type Snapshot } from "../../../engine/config-repo/snapshot.ts";
import { type ProposeInput, proposeApart } from "../../../engine/onboarding/propose-tried.ts";
import type { InitPlane } from "../../../engine/onboarding/types.ts";
import { clustersOf } from "../../../engine/resolve/fleet.ts";
import { openRules } from "../../../engine/round/branch-rules.ts";
import type { RepoContext } from "../../../engine/round/context.ts";
import { foreseeAll } from "../../../simulate/plan/foresee.ts";

export const ONBOARDING_BRANCH = "stagecoach/onboarding";
const TITLE = "Configure Stagecoach";
const MESSAGE = `Configure Stagecoach

Rollouts proposed for what this repository holds. Nothing moves until a release is merged.

Stagecoach-Onboarding: true`;
/** Argo CD knows the clusters' labels: it is waited for this long, and then gone on without. */
const WAIT_FOR_PLANES_MS = 10 * 60_000;

type OnboardingOutcome =
  /** There are rollouts: nothing is to be done. */
  | "not wanted"
  /** There is nothing to write a rollout for; another commit may bring it. */
  | "nothing yet"
  /** It was opened before: open, merged, or closed, which means no. */
  | "asked before"
  | "opened"
  /** Looked at again in a while. */
  | "later";

/** Since when each repo waits for Argo CD. */
const waiting = new WeakMap<RepoContext, number>();

/**
 * Opens the onboarding pull request where one is wanted. Level-triggered: it may be called at every look, and whatever it did
 * in an earlier try (pushed the branch, opened the PR) it finds again. Never throws.
 */
export async function onboard(context: RepoContext, baseBranch: string): Promise<OnboardingOutcome> {
  try {
    const base = await context.mirror.head(baseBranch);
    if (base === undefined) return "nothing yet";
    const snapshot = openSnapshot(context.mirror, base, context.readingCell);
    if ((await snapshot.paths()).some(isRolloutFile)) return "not wanted";
    // One question to GitHub, and none where there are rollouts: a closed one is found by its branch though that is deleted.
    const before = await context.forge.findPull(ONBOARDING_BRANCH);
    if (before !== null) return "asked before";
    if (mustWait(context)) return "later";
    return await open(context, baseBranch, base, snapshot);
  } catch (error) {
    context.log.warn({ repository: context.repository, error: String(error) }, "onboarding failed; trying again");
    return "later";
  }
}

function mustWait(context: RepoContext): boolean {
  const unseen = [...context.planes.values()].some((plane) => !plane.state().fresh);
  if (!unseen) return false;
  const since = waiting.get(context) ?? context.clock.now();
  waiting.set(context, since);
  return context.clock.now() - since < WAIT_FOR_PLANES_MS;
}

async function open(context: RepoContext, baseBranch: string, base: string, snapshot: Snapshot): Promise<OnboardingOutcome> {
  const input = inputOf(context, baseBranch);
  const proposed = await snapshot.with((files) => proposeApart(input, files, foreseeAll));
  if (proposed === undefined) {
    context.log.warn({ repository: context.repository }, "looking through the repository takes too long: no rollout is proposed");
    return "nothing yet";
  }
  const { proposal, previews } = proposed;
  const { applicationSets, applications } = proposal.figures;
  if (applicationSets + applications + proposal.rollouts.length === 0) {
    context.log.info({ repository: context.repository }, "no ApplicationSet and no Application: there is nothing to onboard");
    return "nothing yet";
  }
  if (!(await pushBranch(context, base, proposal))) return "asked before";
  const { login } = await context.forge.identity();
  const appId = await context.forge.appId?.();
  const body = onboardingBody(proposal, {
    ...defined({ appId, ...(await rulesNow(context, baseBranch, proposal)) }),
    repository: context.repository,
    baseBranch,
    journalBranch: context.journalBranch,
    login,
    previews,
  });
  const pull: Pull = await context.forge.createPull({ branch: ONBOARDING_BRANCH, base: baseBranch, title: TITLE, body, labels: [] });
  context.log.info(
    { repository: context.repository, pull: pull.number, rollouts: proposal.rollouts.length },
    "the onboarding pull request is open",
  );
  return "opened";
}

/** Which of the rules that are wanted are there. What GitHub does not say is proposed. */
async function rulesNow({ forge, clock, journalBranch, log }: RepoContext, baseBranch: string, { rollouts }: Proposal) {
  const rules = openRules({ forge, clock, journalBranch, log });
  const bare = forge.rulesOn === undefined ? undefined : await rules.bare(rollouts[0]?.name ?? "any");
  const base = await rules.of(baseBranch).catch(() => undefined);
  const required = base?.requiredChecks.find(({ context }) => context === GATE);
  const gate = base && (required === undefined ? "none" : required.app === undefined ? "unbound" : "bound");
  return { bare, gate } as const;
}

function inputOf(context: RepoContext, baseBranch: string): ProposeInput {
  const several = context.planes.size > 1;
  const { clusters } = clustersOf(context, several ? [...context.planes.keys()] : []);
  const registered = clusters.length === 0 ? [] : generatorClusters(context.planes.values());
  const planes = planesHere(context);
  const applications = planes.flatMap((plane) => plane.applications);
  return { clusters, registered, applications, planes: several ? planes : undefined, repoURL: context.repoURL, baseBranch };
}

/** False: a branch of that name is there that we did not make. Ours, from a try that broke off, is gone on with. */
async function pushBranch(context: RepoContext, base: string, proposal: Proposal): Promise<boolean> {
  const { mirror, writer, clock } = context;
  const changes = proposedFiles(proposal);
  const there = await mirror.remoteHead(ONBOARDING_BRANCH);
  if (there !== undefined) return isOurs(context, there);
  if (writer !== undefined) {
    const written = await writer.write({
      branch: ONBOARDING_BRANCH,
      head: undefined,
      from: base,
      changes,
      message: MESSAGE,
      at: clock.now(),
    });
    if (written.kind === "written") return true;
  } else {
    const commit = await mirror.commit({ parent: base, changes, message: MESSAGE, author: context.author, at: clock.now() });
    if ((await mirror.push([{ ref: `refs/heads/${ONBOARDING_BRANCH}`, old: undefined, new: commit }])) === "ok") return true;
  }
  // Another replica, or a person, was faster.
  const now = await mirror.remoteHead(ONBOARDING_BRANCH);
  return now !== undefined && isOurs(context, now);
}

async function isOurs(context: RepoContext, head: string): Promise<boolean> {
  await context.mirror.fetch([ONBOARDING_BRANCH]);
  const info = await context.mirror.commitInfo(head);
  const ours = info?.body.includes("Stagecoach-Onboarding: true") === true && info.author === context.author.name;
  if (!ours) {
    context.log.warn(
      { repository: context.repository, branch: ONBOARDING_BRANCH },
      "a branch of the onboarding's name was made by somebody else",
    );
  }
  return ours;
}

/** What could not be decided is looked at again after this. */
const LATER_MS = 30_000;
/** Between two looks at a repo that has nothing to onboard: at first soon, since whoever installs often pushes right after. */
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 10 * 60_000;
interface Nothing {
  /** Undefined: there was no commit. */
  base: string | undefined;
  /** Epoch milliseconds of the last look, and the wait until there may be another. */
  at: number;
  waitMs: number;
}

const nothing = new WeakMap<RepoContext, Nothing>();

/** `settled`: this process asks no more. `wakeAt`: to be called again then, in epoch milliseconds; absent: with the next change. */
interface Onboarding {
  settled: boolean;
  wakeAt?: number;
}

/**
 * Whether the repo wants to be onboarded, each time it may want to anew: one that had nothing of Argo CD's (it was empty, or its
 * ApplicationSets were not pushed yet) is looked through again when its base has moved in files that matter, at most every ten
 * minutes. Never throws.
 */
export async function onboardOnceWanted(context: RepoContext, baseBranch: string): Promise<Onboarding> {
  try {
    const before = nothing.get(context);
    const base = await context.mirror.head(baseBranch);
    if (before !== undefined) {
      if (before.base === base) return { settled: false };
      const due = before.at + before.waitMs;
      if (context.clock.now() < due) return { settled: false, wakeAt: due };
      if (!(await mattered(context, before.base, base))) {
        before.base = base;
        return { settled: false };
      }
    }
    return noted(context, base, before, await onboard(context, baseBranch));
  } catch (error) {
    context.log.warn({ repository: context.repository, error: String(error) }, "onboarding failed; trying again");
    return { settled: false, wakeAt: context.clock.now() + LATER_MS };
  }
}

function noted(context: RepoContext, base: string | undefined, before: Nothing | undefined, outcome: OnboardingOutcome): Onboarding {
  const now = context.clock.now();
  if (outcome === "later") return { settled: false, wakeAt: now + LATER_MS };
  if (outcome !== "nothing yet") return { settled: true };
  const waitMs = before === undefined ? FIRST_WAIT_MS : Math.min(2 * before.waitMs, LONGEST_WAIT_MS);
  nothing.set(context, { base, at: now, waitMs });
  return { settled: false };
}

/** Where it cannot be told what changed, it is looked at. */
async function mattered(context: RepoContext, from: string | undefined, to: string | undefined): Promise<boolean> {
  if (to === undefined) return false;
  if (from === undefined) return true;
  try {
    return (await context.mirror.changedPaths(from, to)).some(isManifestFile);
  } catch {
    return true;
  }
}

// What onboarding sees of Argo CD: what charts and kustomizations make of a repo is known there alone.

/** A cell is told of so many. */
const MOST_APPLICATIONS = 5_000;

/** Gives the control planes that can be read now, each with the Applications on it that are made of this repo. */
function planesHere({ planes, repoURL }: RepoContext): InitPlane[] {
  let left = MOST_APPLICATIONS;
  return [...planes.values()].flatMap((plane) => {
    if (!plane.state().fresh) return [];
    const own = plane.applications().filter(({ spec }) => spec.sources.some((source) => sameRepo(source.repoURL, repoURL)));
    const applications = own.slice(0, left).map(applicationManifest);
    left -= applications.length;
    return [{ name: plane.name, labels: plane.labels ?? {}, clusters: generatorClusters([plane]), applications }];
  });
}
