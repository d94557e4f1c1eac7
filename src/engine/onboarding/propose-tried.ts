/**
 * What the onboarding pull request proposes, each rollout tried by the bot's own means: planned and linted before anybody sees it. Made inside of
 * a cell: a template of the repository has a part in it.
 */
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import { apart } from "../../core/base/pass.ts";
import type { Cluster, Plan } from "../../core/plan/plan-types.ts";
import type { Objection } from "../../core/reasons/onboarding.ts";
import type { OwnWords, ProblemReason } from "../../core/reasons/problems/problem.ts";
import type { ProposalPreview } from "../../core/report/onboarding/body.ts";
import { NEXT_VERSION } from "../../core/report/onboarding/show.ts";
import type { Proposal } from "../../core/report/onboarding/types.ts";
import { planComment } from "../../core/report/plan/plan-comment.ts";
import { parseRepoConfig } from "../../core/spec/parse/config.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { findApplicationSetIn, generatorCluster } from "../config-repo/appset-in-git.ts";
import { readRelease } from "../config-repo/release.ts";
import { sameRepo } from "../config-repo/repo-url.ts";
import type { SyncFiles } from "../config-repo/snapshot.ts";
import { editsOf } from "../lint/gather.ts";
import { lintOutside } from "../lint/lint-outside.ts";
import type { SeenApplication } from "../resolve/draft.ts";
import { planOver } from "../resolve/plan-over.ts";
import { propose } from "./propose.ts";
import type { Foresee, InitCluster, InitPlane, InitTarget, Planned } from "./types.ts";

/** Plain data: it is told to a cell. */
export interface ProposeInput {
  /** As Argo CD knows them, and the same as generators see them; empty: not known. */
  clusters: readonly Cluster[];
  registered: readonly InitCluster[];
  /** As they live on the control planes that are asked, those of this repo. */
  applications: readonly Record<string, unknown>[];
  /** The same of each, where there are several. */
  planes?: readonly InitPlane[] | undefined;
  repoURL: string;
  baseBranch: string;
}

interface Proposed {
  proposal: Proposal;
  /** By the rollout's name. */
  previews: ReadonlyMap<string, ProposalPreview>;
}

/** How the work is called inside of a cell. */
export const PROPOSE = "propose";

/** Proposes what a snapshot's files hold, in a cell where there is one. undefined: it takes too long. */
export function proposeApart(input: ProposeInput, files: SyncFiles, foresee: Foresee): Proposed | undefined {
  const steps = Number.POSITIVE_INFINITY;
  const here = () => proposeTried(input, files, foresee);
  return apart<Proposed | undefined>({ name: PROPOSE, text: "", rest: input, steps, here, empty: undefined, tooMuch: undefined });
}

export function proposeTried(
  { clusters, registered, applications, planes, repoURL, baseBranch }: ProposeInput,
  files: SyncFiles,
  foresee: Foresee,
): Proposed {
  const tries = new Map<string, Planned & { preview: string }>();
  const proposal = propose({
    files,
    clusters: registered,
    applications,
    planes,
    isThisRepo: (url) => sameRepo(url, repoURL),
    defaultBranch: baseBranch,
    verify(file, text, targets) {
      const tried = tryRollout({ file, text, targets, clusters, registered, files, repoURL, baseBranch });
      if (tried.ok) tries.set(tried.rollout.name, tried);
      return tried.ok ? [] : tried.against;
    },
  });
  const shown = proposal.rollouts.flatMap(({ name }) => tries.get(name) ?? []);
  const foreseen = foresee(shown);
  const previews = shown.map(({ rollout: { name }, preview }, at) => [name, { plan: preview, simulated: foreseen[at] }] as const);
  return { proposal, previews: new Map(previews) };
}

interface TryInput extends Pick<ProposeInput, "clusters" | "registered" | "repoURL" | "baseBranch"> {
  file: string;
  text: string;
  targets: readonly InitTarget[];
  files: SyncFiles;
}

export type Tried = ({ ok: true; preview: string } & Planned) | { ok: false; against: Objection[] };

/** Parses, resolves, plans and lints a proposed rollout by the bot's own means, over the Applications it would be about. */
export function tryRollout(input: TryInput): Tried {
  const { file, text, targets, clusters } = input;
  const read = (path: string) => input.files.read(path);
  const { rollouts, problems } = parseRollouts(text, file);
  const [rollout] = rollouts;
  const faults = problems.filter((problem) => problem.severity === "error");
  if (rollout === undefined || faults.length > 0) return disproved(faults);
  // Which commit it would be nobody knows yet.
  const release = readRelease(rollout, read, rollout.release?.kind === "commit" ? { version: "0".repeat(40) } : undefined);
  if (!release.ok) return disproved([{ code: "RELEASE_NOT_FOUND", ...release.why }]);
  const controlPlane = clusters[0]?.controlPlane ?? "argocd";
  const applications = targets.flatMap((target) => asSeen(target, rollout, target.controlPlane?.name ?? controlPlane));
  const known = clusters.length > 0 ? clusters : guessed(targets, controlPlane);
  const made = planOver({ rollout, release: release.release, applications, clusters: known, files: input.files });
  const errors = made.problems.filter((problem) => problem.severity === "error");
  if (made.plan === undefined) return disproved(errors);
  const outside = lintedOutside(input, rollout, made.plan);
  if (outside.length > 0) return disproved(outside);
  // What stands there already would move nothing: what people want to see is what the next version does.
  const next = rollout.release?.kind === "commit" ? release.release : { ...release.release, values: nextOf(release.release.values) };
  const plan = planOver({ rollout, release: next, applications, clusters: known, files: input.files }).plan ?? made.plan;
  const { bounds } = parseRepoConfig(read(SETTINGS_FILE), SETTINGS_FILE);
  return { ok: true, preview: planComment(rollout, plan, undefined), rollout, plan, clusters: known, bounds };
}

/** Nobody knows the next version yet. */
function nextOf(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, NEXT_VERSION]));
}

function disproved(problems: readonly (ProblemReason | OwnWords)[]): Tried {
  return { ok: false, against: problems.map((problem) => ({ kind: "Problem", problem })) };
}

/** What stands outside the file against it, such as auto-sync that is off: errors only. */
function lintedOutside({ files, registered, repoURL, baseBranch }: TryInput, rollout: Rollout, made: Plan): (ProblemReason | OwnWords)[] {
  if (rollout.source.kind !== "ApplicationSet") return [];
  const set = findApplicationSetIn(files, rollout.source);
  if (set === undefined) return [];
  const known = registered.map((cluster) => generatorCluster(cluster));
  const edits = editsOf(made);
  const problems = lintOutside(
    { rollout, set, clusters: known, edits, parents: [], seesAll: false, repoURL, defaultBranch: baseBranch },
    files,
  );
  return problems.filter((problem) => problem.severity === "error");
}

function asSeen(target: InitTarget, rollout: Rollout, controlPlane: string): SeenApplication[] {
  const owner = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    name: rollout.source.name,
    uid: "proposed",
    controller: true,
  };
  const view = decodeApplication(
    {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: {
        name: target.application,
        namespace: target.namespace === "" ? rollout.source.namespace : target.namespace,
        labels: target.labels,
        ownerReferences: rollout.source.kind === "ApplicationSet" ? [owner] : [],
      },
      spec: target.spec,
    },
    0,
  );
  return view === undefined ? [] : [{ controlPlane, planeLabels: target.controlPlane?.labels, view, params: target.params }];
}

/** Where no cluster can be seen: those that generators and destinations name. */
function guessed(targets: readonly InitTarget[], controlPlane: string): Cluster[] {
  const clusters = new Map<string, Cluster>();
  for (const { cluster } of targets) {
    const { name, server, labels } = cluster;
    clusters.set(name, { key: `${controlPlane}/${name}`, name, controlPlane, server, labels: { ...labels }, registered: true });
  }
  return [...clusters.values()];
}
