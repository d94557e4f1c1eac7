/**
 * What a read shows of a change in an Application that the source hydrator feeds. People commit dry manifests and Argo CD syncs what
 * it wrote to another branch, so the proof is in Git: `hydrator.metadata` beside the manifests, at the very revision that is synced,
 * names the dry commit they were made from. What the status says of hydration is written for a whole branch at once, before it is done
 * and at times without being so.
 */
import type { AnyReason } from "../../base/reason.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import { drySourceOf } from "../decode/source.ts";
import { normalRepo } from "../same.ts";
import type { ApplicationView } from "../views.ts";
import { commitObservation, containsObservation, unresolved } from "./commit-observation.ts";
import { at, boundRevision, firstLine, isFullSha, second } from "./moment.ts";
import type { Change, LivenessInput, Observation } from "./types.ts";

type Status = NonNullable<ApplicationView["status"]["hydrator"]>;
type Seen = Omit<Observation, "sources">;

export function hydratedObservation(app: ApplicationView, change: Change, input: LivenessInput): Observation {
  const wrong = elsewhere(app, change);
  if (wrong !== undefined) return { state: "absent", because: wrong, sources: [] };
  const found = seenOf(app, change, input);
  if (found.state === "proven" || found.state === "shown") return { ...found, sources: [0] };
  return { ...(failed(app.status.hydrator?.current, change, input) ?? found), sources: [0] };
}

function seenOf(app: ApplicationView, change: Change, input: LivenessInput): Seen {
  const { hydrator = {} } = app.status;
  const { current, last } = hydrator;
  const [source] = app.spec.sources;
  // Whatever is on the branch, it was not made by this spec.
  if (last?.ofSpec !== true) return { state: "older", because: waitsFor(current, change) };
  const seen = app.status.sync.revisions[0] ?? "";
  if (!isFullSha(seen)) return unresolved(seen);
  const files = source === undefined ? "unreadable" : (input.hydrated?.(source, seen) ?? "unreadable");
  if (files === "unknown") return { state: "unknown", because: reason("HYDRATION_UNDECIDED", { seen }) };
  if (files === "unreadable" || change.kind === "generator") return byStatus(hydrator, seen, change, input);
  return byFiles(files.drySHA, last, change, input);
}

/** The strong rule: of this path, at this revision, Git says what it was made from. */
function byFiles(
  dry: string | undefined,
  last: NonNullable<Status["last"]>,
  change: Exclude<Change, { kind: "generator" }>,
  input: LivenessInput,
): Seen {
  const wanted = boundRevision(change.kind === "commit" ? change.commit : change.revision);
  if (dry === undefined) return { state: "older", because: reason("NOT_HYDRATED", { wanted }) };
  const found = dryObservation(dry, change, input) ?? (dry === last.drySHA ? { state: "shown" } : { state: "older" });
  if (found.state !== "older") return found;
  // It was at the release before: what its path holds was made from a commit that is known to have the very values.
  const isSame = isFullSha(dry) && input.seenPinDiffers !== undefined && input.seenPinDiffers(dry) === undefined;
  if (input.unchanged === true && isSame) return { state: "shown" };
  return { state: "older", because: reason("HYDRATED_FROM_OLDER", { dry, wanted }) };
}

/** The weak rule, where the branch cannot be read: what the status says, which is of this path only if no other one is on the branch. */
function byStatus({ current, last }: Status, seen: string, change: Change, input: LivenessInput): Seen {
  const { drySHA = "", hydratedSHA } = last ?? {};
  const dry: Seen | undefined = change.kind === "generator" ? { state: "shown" } : dryObservation(drySHA, change, input);
  const found = dry ?? taggedObservation(current, change);
  if (found.state === "older" || found.state === "unresolved") return { state: "older", because: waitsFor(current, change) };
  if (found.state !== "proven" && found.state !== "shown") return found;
  if (hydratedSHA === undefined || !isFullSha(hydratedSHA) || containsObservation(seen, hydratedSHA, input).state !== "proven") {
    const because = reason("HYDRATED_NOT_COMPARED", { hydrated: hydratedSHA && boundRevision(hydratedSHA), compared: boundRevision(seen) });
    return { state: "older", because };
  }
  const other = input.sharesBranch;
  return other === undefined ? found : { state: "unproven", because: reason("HYDRATION_SHARED", { other: boundRevision(other) }) };
}

/** undefined: a name that nobody has resolved. */
function dryObservation(dry: string, change: Exclude<Change, { kind: "generator" }>, input: LivenessInput): Seen | undefined {
  if (!isFullSha(dry)) return { state: "older" };
  if (change.kind === "commit") return commitObservation(dry, change, input);
  if (isFullSha(change.revision)) return { state: dry.toLowerCase() === change.revision.toLowerCase() ? "proven" : "older" };
  return change.commit === undefined ? undefined : containsObservation(dry, change.commit, input);
}

/** Of a tag nobody resolved only that it was hydrated after the merge tells it from the one before. */
function taggedObservation(current: Status["current"], change: Change): Seen {
  const finished = at(current?.finishedAt);
  const isAfter = finished !== undefined && second(finished) > second(at(change.mergedAt) ?? Number.POSITIVE_INFINITY);
  return { state: current?.phase === "Hydrated" && isAfter ? "shown" : "older" };
}

/** The `targetRevision` of a sourceHydrator's dry source. */
export function dryRevision(sourceHydrator: unknown): string {
  return drySourceOf(sourceHydrator)?.targetRevision ?? "HEAD";
}

function elsewhere(app: ApplicationView, change: Change): AnyReason | undefined {
  if (change.kind === "generator") return undefined;
  const repoURL = drySourceOf(app.spec.sourceHydrator)?.repoURL ?? "";
  const revision = dryRevision(app.spec.sourceHydrator);
  if (change.repoURL !== undefined && normalRepo(repoURL) !== normalRepo(change.repoURL)) {
    return reason("DRY_SOURCE_DIFFERS", { repo: normalRepo(repoURL), wanted: normalRepo(change.repoURL) });
  }
  if (change.kind === "revision" && revision !== change.revision) {
    return reason("REVISION_NOT_IN_SPEC", { dry: true, asks: boundRevision(revision), wanted: boundRevision(change.revision) });
  }
  return undefined;
}

function failed(current: Status["current"], change: Change, input: LivenessInput): Seen | undefined {
  // One by another spec is over with: Argo CD begins again at once.
  if (current?.phase !== "Failed" || !current.ofSpec) return undefined;
  const since = at(current.finishedAt);
  const merged = at(change.mergedAt);
  if (since === undefined || merged === undefined || second(since) < second(merged)) return undefined;
  // One that says which dry commit it was for counts only for ours.
  if (current.drySHA !== undefined && change.kind !== "generator" && dryObservation(current.drySHA, change, input)?.state !== "proven")
    return undefined;
  return { state: "failed", because: reason("HYDRATION_FAILED", { message: current.message && firstLine(current.message) }), since };
}

function waitsFor(current: Status["current"], change: Change): AnyReason {
  if (current?.ofSpec === false) return reason("HYDRATED_BY_OLDER");
  if (change.kind === "generator") return reason("NOT_HYDRATED", {});
  const wanted = boundRevision(change.kind === "commit" ? change.commit : change.revision);
  return reason("NOT_HYDRATED", { wanted, now: current?.phase === "Hydrating" ? boundRevision(current.drySHA ?? "") : undefined });
}
