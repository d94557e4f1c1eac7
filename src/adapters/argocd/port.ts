import type { ContentProof } from "../../core/argocd/content.ts";
import type { SyncWanted } from "../../core/argocd/sync-wanted.ts";
import type {
  ApplicationSetView,
  ApplicationView,
  ClusterView,
  RolloutRef,
  RolloutView,
  SyncWindowsView,
} from "../../core/argocd/views.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import type { Time } from "../../core/base/time.ts";

/** One Argo CD instance as observed. Reads answer from memory, which watches or streams keep fresh. */
export interface ControlPlane {
  readonly name: string;
  /** Labels that its operator gave it: each of its clusters has them, where it has no label of that key itself. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Where people look at its Applications in a browser. Absent: nobody said. */
  readonly uiUrl?: string | undefined;
  /** Resolves once a first full list was read; rejects with the reason where it cannot. */
  ready(): Promise<void>;
  /** Whether anybody's reading keeps it watched just now. Absent: it always is. */
  isWatched?(): boolean;
  /** What is known now. `fresh: false` with a reason where the connection is lost: nothing may be concluded from it then. */
  state(): { fresh: boolean; why?: AnyReason; since: Time };
  application(namespace: string, name: string): ApplicationView | undefined;
  /** Those owned by this ApplicationSet (by ownerReference), or all where it is absent. */
  applications(owner?: { namespace: string; name: string }): ApplicationView[];
  applicationSet(namespace: string, name: string): ApplicationSetView | undefined;
  clusters(): ClusterView[];
  /** Calls back with the keys (`namespace/name`) of Applications that changed, coalesced; null: anything may have. */
  onChange(listener: (changed: ReadonlySet<string> | null) => void): () => void;
  /**
   * Reads one Application by its name, from the source itself instead of from what a watch or stream has brought, and keeps it
   * with that time as its `askedAt`. `gone`: it is not there any more. Never rejects.
   */
  reread(namespace: string, name: string): Promise<RereadOutcome>;
  /** Asks Argo CD to compare again. Absent: there is no way to ask it from here. */
  refresh?: Refresh | undefined;
  /** Asks the controller of ApplicationSets to generate from this one anew. Absent: as above. */
  refreshSet?: Refresh | undefined;
  /** The Argo Rollouts of an Application, with what they show: all of them or none. */
  rollouts?(namespace: string, name: string): Promise<RolloutsOutcome>;
  /**
   * Runs one of Argo CD's resource actions on one Rollout, after asking Argo CD whether it offers it now. The only write to
   * Argo CD; absent where no token with that right is configured.
   */
  runAction?(target: { namespace: string; name: string }, rollout: RolloutRef, action: RolloutAction): Promise<ActionOutcome>;
  /** Whether Argo CD offers an action for one Rollout now; nothing is written. Present where `runAction` is. */
  offersAction?(target: { namespace: string; name: string }, rollout: RolloutRef, action: RolloutAction): Promise<ActionOffer>;
  /**
   * Asks Argo CD to sync an Application to these very revisions, once it was read by its name and would bring nothing besides. Absent: not
   * allowed, or there is no way from here. Never rejects.
   */
  sync?(namespace: string, name: string, wanted: SyncWanted): Promise<SyncOutcome>;
  /** Sync windows that concern an Application. undefined: cannot be seen. */
  syncWindows?(namespace: string, name: string): Promise<SyncWindowsView | undefined>;
  /** What Argo CD would generate from this ApplicationSet; nothing is written. For what cannot be rendered offline. */
  generate?(applicationSet: Record<string, unknown>): Promise<GenerateOutcome>;
  /** Whether an Application's objects show a change; absent where this adapter cannot see them. Never rejects. */
  content?(namespace: string, name: string, question: ContentQuestion): Promise<ContentOutcome>;
  /**
   * What an Application renders to at revisions of its sources, in their order; "" leaves one as it is. Nothing is written. Absent: this adapter
   * cannot ask. Never rejects.
   */
  manifests?(namespace: string, name: string, revisions: readonly string[]): Promise<ManifestsOutcome>;
  close(): Promise<void>;
}

/** One object among what an Application renders to. */
export interface RenderedObject {
  /** With its group, if it has one: `argoproj.io/ApplicationSet`, `ConfigMap`. */
  kind: string;
  namespace: string;
  name: string;
  /** Equal where the object is. */
  digest: string;
  /** How long its text is. */
  bytes?: number;
  /** Of an Application or ApplicationSet what it is, without its status. */
  argo?: { kind: string; object: Record<string, unknown> };
}

/** `forbidden`: asking again changes nothing. `why` holds no credential. */
export type ManifestsOutcome =
  | { kind: "done"; objects: readonly RenderedObject[] }
  | { kind: "forbidden"; why: AnyReason }
  | { kind: "failed"; why: AnyReason };

/** `unavailable`: this adapter cannot see inside the Application. `tooMany`: how many it has, more than are read one by one. */
export type RolloutsOutcome = readonly RolloutView[] | "unavailable" | { tooMany: number };

export type RolloutAction = "resume" | "promote-full" | "abort" | "retry";

type Refresh = (namespace: string, name: string) => Promise<RefreshOutcome>;

/** `unavailable`: the Application or the set is not one that may be asked. `failed`: it was tried; why it failed, without a credential. */
export type RefreshOutcome = "asked" | "unavailable" | { failed: AnyReason };

/** `why` holds no credential. */
export type RereadOutcome = { kind: "read" } | { kind: "gone" } | { kind: "failed"; why: AnyReason };

/** `notOffered`: Argo CD does not offer it now, e.g. a Rollout that is not paused cannot be resumed. */
export type ActionOutcome =
  | { kind: "done" }
  | { kind: "notOffered"; why: AnyReason }
  | { kind: "forbidden"; why: AnyReason }
  | { kind: "failed"; why: AnyReason };

export interface ContentQuestion {
  /** What the pins were set to, and from what. */
  values: readonly { from: string | null; to: string }[];
  /** The revisions that Argo CD has compared, in the order of the sources. */
  seen: readonly string[];
  /** The same as of before the change; undefined: they cannot be rendered by revision. */
  before?: readonly string[] | undefined;
  /** Asks as often as it takes. Else once, and on only where the values of before are still there. */
  thorough: boolean;
}

/** `refused`: asking again changes nothing. `why` holds no credential. */
export type ContentOutcome = { kind: "done"; proof: ContentProof } | { kind: "failed"; why: AnyReason; refused?: true };

/** `refused`: it was not asked, or Argo CD would not; `why` holds no credential. */
export type SyncOutcome = { kind: "asked" } | { kind: "refused"; why: AnyReason };

export type ActionOffer = { kind: "offered" } | Exclude<ActionOutcome, { kind: "done" }>;

/** `failed`: Argo CD could not, e.g. a generator's file is not there. */
export type GenerateOutcome =
  | { kind: "done"; applications: Record<string, unknown>[] }
  | { kind: "forbidden"; why: AnyReason }
  | { kind: "failed"; why: AnyReason };
