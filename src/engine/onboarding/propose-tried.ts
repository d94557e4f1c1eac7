/** What the onboarding pull request proposes, each rollout tried by the bot's own means. Made inside of a cell: a template of the repository has a part in it. */
import { apart } from "../../core/base/pass.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import type { ProposalPreview } from "../../core/report/onboarding/body.ts";
import type { Proposal } from "../../core/report/onboarding/types.ts";
import { sameRepo } from "../config-repo/repo-url.ts";
import type { SyncFiles } from "../config-repo/snapshot.ts";
import { propose } from "./propose.ts";
import { tryRollout } from "./try-rollout.ts";
import type { Foresee, InitCluster, InitPlane, Planned } from "./types.ts";

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
