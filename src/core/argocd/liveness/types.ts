import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Verdict } from "../../run/state/run.ts";
import type { ContentProof } from "../content.ts";
import type { ApplicationView, ClusterView, DestinationView, SourceView, SyncWindowsView } from "../views.ts";

/**
 * How the change of a target can be recognised in its Application. `changeFor` chooses.
 * - commit: it is in files of `repoURL` that the Application reads itself, so the seen revision must contain `commit`.
 * - revision: it is the `targetRevision` of a source. `commit`: what the revision resolves to, where that is known.
 * - generator: it shows in the spec only, which must be the intended one.
 */
export type Change =
  /** `exact`: the branch or tag that was moved back or aside; what contains the commit is not it. */
  | { kind: "commit"; commit: string; repoURL: string; mergedAt: Time; exact?: string }
  | { kind: "revision"; revision: string; commit?: string; repoURL?: string; mergedAt: Time }
  | { kind: "generator"; mergedAt: Time };

/** What the ApplicationSet (or the file) says at the commit. The optional ones are absent where the spec has none. */
export interface Intended {
  /** Of a hydrated Application: what is synced, not what people commit to. */
  sources: SourceView[];
  destination: DestinationView;
  project?: string;
  ignoreDifferences?: unknown;
  /** As written, with the dry source, which nothing else of a spec or status repeats. */
  sourceHydrator?: unknown;
  /** Annotation `argocd.argoproj.io/manifest-generate-paths`. */
  generatePaths?: string | undefined;
  /** Files that the ApplicationSet is rendered from: what stands there reaches an Application by its spec. */
  madeFrom?: ReadonlySet<string>;
}

export type Ancestry = "contains" | "missing" | "unknown";

export interface LivenessInput {
  /** undefined: a fresh control plane has no such Application. */
  application: ApplicationView | undefined;
  /**
   * An earlier read, of the same uid and an older resourceVersion; every clause must hold in it as well. Any other one
   * confirms nothing and holds the verdict at pending, so leave it out where there is none: live does not need one.
   */
  previous?: ApplicationView;
  change: Change;
  /** Further changes of the same commit that must show too, e.g. a values file beside a `targetRevision`. */
  also?: readonly Change[];
  cluster?: ClusterView;
  /** Epoch milliseconds of the bot: when `application` was read from a control plane that was fresh. */
  now: number;
  settleMs: number;
  graceMs: number;
  /** As a former assessment of the same change returned it. */
  firstSeenAt?: Time;
  /** The same as the cluster dated it, whatever our clock said. Absent: no comparison is known to be later than the first. */
  firstComparedAt?: Time;
  /** Whether a revision that Argo CD has seen contains the commit: the change's, or that of one of `also`. */
  ancestry?: (seenRevision: string, commit: string) => Ancestry;
  /** The commit up to `seen` that gave a pin another value than the intended one, if there is any; unknown: the values there cannot be read. */
  seenPinDiffers?: (seen: string) => { commit: string; override?: string | undefined } | "unknown" | undefined;
  intended?: Intended;
  /** Edited files that it must read itself, since its spec does not show their edits: its `manifest-generate-paths` must cover them. */
  edited?: Edited;
  /** What stands beside the hydrated manifests of a source at a revision of its branch. Absent: as for `unreadable`. */
  hydrated?: (source: SourceView, seen: string) => HydratedFiles;
  /** Another Application that is hydrated to the same branch, where what the status says of hydration may be that one's. */
  sharesBranch?: string;
  /** Image references that the change has written, whole. */
  images?: readonly string[];
  /** The commit has changed nothing of this target's: it was at the release already. */
  unchanged?: true;
  /** Whether its objects show the change, where that can be asked, or `proof: content` wants it. Absent: the revision is proof enough. */
  content?: Content;
  /** What an Application Suspended by a paused Rollout is. Default Wait. */
  suspended?: "Wait" | "Accept";
  /** The sync windows that concern it, where they can be seen. */
  windows?: SyncWindowsView;
  /** What is wrong with the ApplicationSet that owns it, if anything is. */
  owner?: OwnerTrouble;
  /** The Applications that it makes, each as judged by itself. */
  children?: readonly ChildSeen[];
  /**
   * For whoever assesses the same change again and again: what the former assessment returned as `held`, `{}` the first
   * time. Settling and grace are then counted by the bot's own clock as well, so that a cluster whose clock is behind
   * shortens neither. Left out (a single read): by the cluster's times alone.
   */
  held?: Held;
  /**
   * For whoever holds in memory what a list, watch or stream has brought: *live* then needs `askedAt`, the time of a read by name,
   * at the end of settling or later, since what was dropped on the way cannot be seen; and at `since` or later, once that is
   * reached (the end of a bake). Left out: `application` is itself such a read, as of `now`.
   */
  kept?: { since?: Time };
}

/** `name`: namespace and name. */
export interface ChildSeen {
  name: string;
  verdict: Verdict;
  because: AnyReason;
  lookAgainAt?: number;
  clockStopped?: boolean;
}

interface Content {
  /** Where it cannot be told, nothing is live. Else it counts by the revision then. */
  required: boolean;
  /** undefined: it is being asked. */
  see(revisions: readonly string[]): ContentSeen | undefined;
}

/** `failed`: why it could not be asked since then. `refused`: asking again changes nothing. */
export type ContentSeen = { proof: ContentProof } | { failed: AnyReason; since: Time; refused?: true | undefined };

interface Edited {
  files: readonly string[];
  repoURL: string;
  /** What Git gave the Application with the change: the annotation, and the files that its spec is made from. */
  given?: Pick<Intended, "generatePaths" | "madeFrom"> | undefined;
}
/**
 * What `hydrator.metadata` names as the commit that a path was made from, undefined where it names none. unknown: our mirror does not
 * have the revision yet. unreadable: there is no mirror of that repository.
 */
export type HydratedFiles = { drySHA: string | undefined } | "unknown" | "unreadable";

/** By the bot's clock. */
interface Held {
  /** Since when every read met every clause. */
  goodSince?: Time;
  /** Since when every read had something wrong that counts as failing once its grace is over. */
  badSince?: Time;
  /** `reconciledAt` of the first of those: a later comparison that says the same confirms it. */
  badCompared?: Time;
}

/** gone: it was there and is not any more. deleting: it is going. failing: it reports an error, so it changes nothing. */
export interface OwnerTrouble {
  name: string;
  state: "gone" | "deleting" | "failing";
  /** Of one that is failing. */
  because?: AnyReason;
}

/** In the order in which they are reported where several are not met at the same level. */
export const CLAUSE_NAMES = [
  "exists",
  "cluster",
  "readable",
  "spec",
  "compared",
  "reconciled",
  "revision",
  "operation",
  "conditions",
  "synced",
  "health",
  "content",
  "settled",
  "confirmed",
] as const;

export type ClauseName = (typeof CLAUSE_NAMES)[number];

/** One part of a clause, for tests that leave it out: `reconciled/merge`. */
export type PartName = `${ClauseName}/${string}`;

/** Why a clause is not met. */
export interface Finding {
  verdict: Exclude<Verdict, "live">;
  because: AnyReason;
  /** Epoch milliseconds: when time alone may change it. */
  lookAgainAt?: number | undefined;
  wantsRefresh?: boolean;
  /** A read by name would tell. */
  wantsRead?: boolean;
  /** Something in it is paused on purpose: no deadline runs meanwhile. */
  clockStopped?: boolean | undefined;
  /** It counts as failing once its grace is over. */
  bad?: boolean;
  /** The commit that changed the pin since. */
  changedBy?: string;
}

export type Clause = (context: Context) => Finding | undefined;

/** A clause by its parts: each must be met, and none stands in for another. */
export type Parts = Readonly<Record<string, Clause>>;

/** What a change looks like in a status. */
export interface Observation {
  /**
   * proven: the seen revision can only come from the change. shown: it fits, and the times must prove it. absent: the
   * spec has no place for it. older: not there yet. unknown: our mirror cannot tell. unresolved: Argo CD shows a name, not
   * a revision. changed: somebody changed a pin since. failed: hydrating it failed. unproven: what says so may be of another Application.
   */
  state: "proven" | "shown" | "absent" | "older" | "unknown" | "unresolved" | "changed" | "failed" | "unproven";
  /** What was seen instead; absent where it is proven or shown. */
  because?: AnyReason;
  /** For failed: epoch milliseconds. */
  since?: number;
  /** For changed: the commit that did it. */
  by?: string;
  /** Positions of the sources that carry the change. */
  sources: number[];
}

/** One read, with what several clauses need worked out once. */
export interface Context {
  input: LivenessInput;
  app: ApplicationView;
  now: number;
  /** Epoch milliseconds. */
  mergedAt: number;
  observations: Observation[];
  /** What was said of its objects, where that was looked at. */
  content?: ContentSeen | "asked" | undefined;
  /** Whether `comparedTo` is the spec: if not, all of status is about something else. */
  compared: boolean;
  /** The status was computed before the merge, or for another spec: it says nothing of the change, good or bad. */
  stale: boolean;
  /** The intended spec is in place. */
  specDiffers: AnyReason | undefined;
  /** Every sign of the change is there. */
  shows: boolean;
  /** Epoch milliseconds: `reconciledAt` of the first read that showed the change. */
  firstSeenAt: number | undefined;
  /** The same as the cluster dated it, however far its clock is from ours. */
  firstComparedAt: number | undefined;
  /** By how many milliseconds the cluster's clock is at least ahead of ours. */
  aheadMs: number;
}
