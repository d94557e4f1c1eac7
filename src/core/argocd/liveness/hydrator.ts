import type { AnyReason } from "../../base/reason.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import { drySourceOf } from "../decode/source.ts";
import { normalRepo } from "../same.ts";
import type { ApplicationView } from "../views.ts";
import { commitObservation, containsObservation } from "./commit-observation.ts";
import { at, bounded, firstLine, isFullSha, second } from "./moment.ts";
import type { Change, LivenessInput, Observation } from "./types.ts";

type Hydration = { phase?: string; drySHA?: string; hydratedSHA?: string; message?: string; finishedAt?: string; ofSpec: boolean };

/**
 * With the source hydrator people commit dry manifests and Argo CD syncs what it wrote to another branch: the change is
 * there once a dry commit that contains it was hydrated, by the `sourceHydrator` of this very spec, and the *hydrated* commit is
 * the one compared. A change of that spec alone asks for no dry commit, but for the rest of it.
 */
export function hydratedObservation(app: ApplicationView, change: Change, input: LivenessInput): Observation {
  const wrong = elsewhere(app, change);
  if (wrong !== undefined) return { state: "absent", because: wrong, sources: [] };
  const { current, last, lastComparedDryRevision: noop } = app.status.hydrator ?? {};
  const seen = app.status.sync.revisions[0] ?? "";
  const has = (hydration: Hydration | undefined) => hydration?.ofSpec === true && contains(hydration, hydration.drySHA, change, input);
  const done = current?.phase === "Hydrated" && current.ofSpec;
  const state = change.kind === "generator" ? "shown" : "proven";
  if (has(last)) return compared(state, seen, last?.hydratedSHA);
  if (done && has(current)) return compared(state, seen, current.hydratedSHA);
  // A dry commit that renders to what is there already writes nothing: only the comparison moves.
  if (done && contains(current, noop, change, input)) return compared(state, seen, last?.hydratedSHA ?? current.hydratedSHA);
  return failed(current, change, has(current)) ?? { state: "older", because: waitsFor(current, change), sources: [0] };
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
    return reason("REVISION_NOT_IN_SPEC", { dry: true, asks: bounded(revision), wanted: bounded(change.revision) });
  }
  return undefined;
}

function contains(hydration: Hydration | undefined, dry: string | undefined, change: Change, input: LivenessInput): boolean {
  if (change.kind === "generator") return true;
  if (dry === undefined || !isFullSha(dry)) return false;
  if (change.kind === "commit") return commitObservation(dry, change.commit, input).state === "proven";
  if (isFullSha(change.revision)) return dry.toLowerCase() === change.revision.toLowerCase();
  if (change.commit !== undefined) return containsObservation(dry, change.commit, input).state === "proven";
  // A tag nobody resolved: only that it was hydrated after the merge tells it from the one before.
  const finished = at(hydration?.finishedAt);
  return hydration?.phase === "Hydrated" && finished !== undefined && second(finished) > second(at(change.mergedAt) ?? Infinity);
}

function compared(state: "shown" | "proven", seen: string, hydrated: string | undefined): Observation {
  if (hydrated !== undefined && isFullSha(seen) && seen.toLowerCase() === hydrated.toLowerCase()) {
    return { state, sources: [0] };
  }
  const because = reason("HYDRATED_NOT_COMPARED", { hydrated: hydrated && bounded(hydrated), compared: bounded(seen) });
  return { state: "older", because, sources: [0] };
}

function failed(current: Hydration | undefined, change: Change, ours: boolean): Observation | undefined {
  // One by another spec is over with: Argo CD begins again at once.
  if (current?.phase !== "Failed" || !current.ofSpec) return undefined;
  const since = at(current.finishedAt);
  const merged = at(change.mergedAt);
  if (since === undefined || merged === undefined || second(since) < second(merged)) return undefined;
  // One that says which dry commit it was for counts only for ours.
  if (current.drySHA !== undefined && current.drySHA !== "" && !ours) return undefined;
  return {
    state: "failed",
    because: reason("HYDRATION_FAILED", { message: current.message && firstLine(current.message) }),
    since,
    sources: [0],
  };
}

function waitsFor(current: Hydration | undefined, change: Change): AnyReason {
  if (current?.ofSpec === false) return reason("HYDRATED_BY_OLDER");
  if (change.kind === "generator") return reason("NOT_HYDRATED", {});
  const wanted = bounded(change.kind === "commit" ? change.commit : change.revision);
  return reason("NOT_HYDRATED", { wanted, now: current?.phase === "Hydrating" ? bounded(current.drySHA ?? "") : undefined });
}
