import { COMMIT, LATER, OLDER, REPO } from "../../src/adapters/argocd/testing/application.ts";
import { defined } from "../../src/core/base/defined.ts";
import type { Random } from "../../src/simulate/generate/random.ts";

type Raw = Record<string, unknown>;
type Manifests = "old" | "new";

/** Commits on the branch that is synced. */
const HYDRATED: Record<Manifests, string> = { old: "f".repeat(40), new: "e".repeat(40) };
export const SYNCED = { repoURL: REPO, path: "eu-1", targetRevision: "env/eu" };
const EVER = Number.POSITIVE_INFINITY;
const RETRY = 120;

/** What of a plan matters to the source hydrator. */
interface HydratorPlan {
  kind: string;
  noop: boolean;
  /** How often hydrating the change fails before it succeeds. */
  hydrationFails: number;
  /** A dry commit that changes nothing is noted as hydrated, too, and not only as compared. */
  notes: boolean;
}

interface Hydration {
  phase: "Hydrating" | "Hydrated" | "Failed";
  spec: Manifests;
  drySHA?: string;
  hydratedSHA?: string;
  finishedAt?: number;
}

/** Argo CD's source hydrator, as far as one Application sees it. */
export interface HydratorState {
  current: Hydration;
  last: Hydration;
  compared: string;
  /** Of what is hydrated now: for which spec, from which dry commit, and when it ends. */
  under: { spec: Manifests; dry: string; ends: number } | undefined;
  head: Manifests;
  /** Which dry commit stands beside the manifests of a synced commit. */
  written: Record<Manifests, string>;
  /** When what was compared comes to be hydrated. */
  queued: number;
  fails: number;
  due: number;
}

export function hydratorOf(plan: HydratorPlan): HydratorState {
  const done: Hydration = { phase: "Hydrated", spec: "old", drySHA: OLDER, hydratedSHA: HYDRATED.old, finishedAt: -8000 };
  return {
    current: done,
    last: done,
    compared: OLDER,
    under: undefined,
    head: "old",
    written: { old: OLDER, new: "" },
    queued: EVER,
    fails: plan.hydrationFails,
    due: EVER,
  };
}

export function isHydrated({ kind }: HydratorPlan): boolean {
  return kind === "hydrated" || kind === "dry";
}

export const revisionOf = (head: Manifests) => HYDRATED[head];

export function manifestsOf(revision: string): Manifests {
  return revision === HYDRATED.new ? "new" : "old";
}

/** What a dry commit renders to by the spec of a moment. */
function rendered(plan: HydratorPlan, spec: Manifests, dry: string): Manifests {
  if (plan.noop) return "old";
  return plan.kind === "dry" ? spec : dry === OLDER ? "old" : "new";
}

/** The hydrator's loop: true where a new commit wants a comparison. `dry`: the head of the dry branch as it is seen now. */
export function hydrates(self: HydratorState, plan: HydratorPlan, dice: Random, now: number, spec: Manifests, dry: string): boolean {
  if (self.under === undefined) begin(self, plan, dice, now, spec, dry);
  if (self.under === undefined || now < self.under.ends) return false;
  const { spec: by, dry: from } = self.under;
  self.under = undefined;
  const content = rendered(plan, by, from);
  if (content === "new" && self.fails > 0) {
    self.fails--;
    self.due = now + RETRY;
    self.current = { phase: "Failed", spec: by, drySHA: from, finishedAt: now };
    return false;
  }
  // Files are written anew only where the manifests are others.
  if (content !== self.head) self.written[content] = from;
  self.head = content;
  self.last = { phase: "Hydrated", spec: by, drySHA: from, hydratedSHA: HYDRATED[content], finishedAt: now };
  self.current = self.last;
  self.compared = from;
  return true;
}

function begin(self: HydratorState, plan: HydratorPlan, dice: Random, now: number, spec: Manifests, dry: string): void {
  const other = self.current.spec !== spec;
  const again = self.current.phase === "Failed" && now >= self.due;
  const isQueued = self.queued !== EVER;
  if (!other && !again && !isQueued && (self.current.phase === "Failed" || self.compared === dry)) return;
  if (!other && !again && !isQueued && !plan.notes && rendered(plan, spec, dry) === self.head) {
    self.compared = dry;
    return;
  }
  // What it compared is written down before anything is hydrated.
  self.compared = dry;
  if (self.queued === EVER) self.queued = now + dice.int(0, 4);
  if (now < self.queued) return;
  self.queued = EVER;
  self.current = { phase: "Hydrating", spec };
  self.under = { spec, dry, ends: now + dice.int(1, 8) };
}

/** As it stands in a spec. */
export function hydratorSpec({ kind }: HydratorPlan, spec: Manifests): Raw {
  const path = kind === "dry" ? `overlays/${spec}` : "overlays/eu-1";
  return { drySource: { repoURL: REPO, path, targetRevision: "main" }, syncSource: { targetBranch: "env/eu", path: "eu-1" } };
}

/** As it stands in a status. `stamp` writes a second as the cluster's clock does. */
export function hydratorStatus(self: HydratorState, plan: HydratorPlan, stamp: (second: number) => string): Raw {
  const written = ({ spec, finishedAt, ...rest }: Hydration): Raw =>
    defined({
      ...rest,
      sourceHydrator: hydratorSpec(plan, spec),
      finishedAt: finishedAt === undefined ? undefined : stamp(finishedAt),
    });
  return { currentOperation: written(self.current), lastSuccessfulOperation: written(self.last), lastComparedDryRevision: self.compared };
}

/** Whether a dry commit holds the change. */
export const holdsChange = (dry: string) => dry === COMMIT || dry === LATER;
