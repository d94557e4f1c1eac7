/**
 * What a sync of a batch's change is of, source by source, and what may be deployed before it: so that whoever asks for it can tell that
 * nothing comes along. Called for Applications without automated sync, of stages that say `sync: Request`.
 */
import type { AnyReason } from "../base/reason.ts";
import { planeReason } from "../reasons/control-plane.ts";
import { isFullSha } from "./liveness/moment.ts";
import type { Change } from "./liveness/types.ts";
import { normalRepo } from "./same.ts";
import type { ApplicationView, SourceView } from "./views.ts";

export interface SyncWanted {
  /** Of the Application that was judged. */
  uid: string;
  /** Its sources then: with others it is not synced. */
  sources: readonly SourceView[];
  /** Of each source. */
  revisions: readonly string[];
  /** What is to be deployed until then. null: of a source whose revision is the change, whichever it was. */
  before: { sources: readonly SourceView[]; revisions: readonly (string | null)[] };
}

interface SyncQuestion {
  application: ApplicationView;
  /** Of one commit. */
  changes: readonly Change[];
  /** First parent of that commit. */
  parent: string | undefined;
  /** Its sources before that commit, where its spec changes with it. */
  sourcesBefore: readonly SourceView[] | undefined;
}

/** `cannot`: nobody but a person can say that it would bring the batch's change and no more. */
export function syncWanted({ application, changes, parent, sourcesBefore }: SyncQuestion): SyncWanted | { cannot: AnyReason } {
  const { uid, spec, status } = application;
  const cannot = (kind: "Hydrated" | "NoRevision" | "NoBefore") => ({ cannot: planeReason("SYNC_UNSAFE", { kind }) });
  if (spec.sourceHydrator !== undefined) return cannot("Hydrated");
  const inSpec = changes.some(({ kind }) => kind !== "commit");
  const sources = inSpec ? sourcesBefore : spec.sources;
  const revisions: string[] = [];
  const before: (string | null)[] = [];
  for (const [index, source] of spec.sources.entries()) {
    const seen = status.sync.revisions[index] ?? "";
    const own = changes.find((change) => isOf(change, source));
    // A name is not a revision: another one may have it by the time of the sync.
    if (seen === "" || (source.chart === undefined && !isFullSha(seen) && !/^sha256:/.test(seen))) return cannot("NoRevision");
    if (own?.kind === "revision" && own.commit !== undefined && own.commit !== seen) return cannot("NoRevision");
    if (own?.kind === "commit" && parent === undefined) return cannot("NoBefore");
    revisions.push(own?.kind === "commit" ? own.commit : seen);
    before.push(own?.kind === "commit" ? (parent ?? null) : own?.kind === "revision" ? null : seen);
  }
  if (sources === undefined || sources.length !== revisions.length) return cannot("NoBefore");
  return { uid, sources: spec.sources, revisions, before: { sources, revisions: before } };
}

function isOf(change: Change, { repoURL, targetRevision, chart }: SourceView): boolean {
  if (change.kind === "generator") return false;
  if (change.kind === "revision")
    return targetRevision === change.revision && (change.repoURL === undefined || normalRepo(change.repoURL) === normalRepo(repoURL));
  return chart === undefined && normalRepo(change.repoURL) === normalRepo(repoURL);
}
