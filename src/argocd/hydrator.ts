import { commitSight, containsSight } from "./commit-sight.ts";
import { child, fields, word } from "./lenient.ts";
import type { Change, LivenessInput, Sight } from "./liveness-types.ts";
import { at, isFullSha, second, short } from "./moment.ts";
import type { ApplicationView } from "./port.ts";
import { normalRepo } from "./same.ts";

type Seeable = Exclude<Change, { kind: "generator" }>;
type Hydration = { phase?: string; drySHA?: string; hydratedSHA?: string; message?: string; finishedAt?: string };

/**
 * With the source hydrator people commit dry manifests and Argo CD syncs what it wrote to another branch: the change is
 * there once the hydration of a dry commit that contains it succeeded and the *hydrated* commit is the one compared.
 */
export function hydratedSight(app: ApplicationView, change: Seeable, input: LivenessInput): Sight {
  const dry = child(fields(app.spec.sourceHydrator), "drySource");
  const wrong = elsewhere(word(dry, "repoURL") ?? "", word(dry, "targetRevision") ?? "HEAD", change);
  if (wrong !== undefined) return { state: "absent", why: wrong, sources: [] };
  const hydrator = app.status.hydrator ?? {};
  const seen = app.status.sync.revisions[0] ?? "";
  const has = (hydration: Hydration | undefined) => hydration?.drySHA !== undefined && contains(hydration, hydration.drySHA, change, input);
  const current = hydrator.current as Hydration | undefined;
  const done = current?.phase === "Hydrated";
  if (has(hydrator.last)) return compared(seen, hydrator.last?.hydratedSHA);
  if (done && has(current)) return compared(seen, current.hydratedSHA);
  // A dry commit that renders to what is there already writes nothing: only the comparison moves.
  const noop = hydrator.lastComparedDryRevision;
  if (noop !== undefined && contains(current, noop, change, input)) {
    if (done) return compared(seen, hydrator.last?.hydratedSHA ?? current.hydratedSHA);
  }
  return failed(current, change, has(current)) ?? { state: "older", why: waitsFor(current, change), sources: [0] };
}

function elsewhere(repoURL: string, revision: string, change: Seeable): string | undefined {
  if (change.repoURL !== undefined && normalRepo(repoURL) !== normalRepo(change.repoURL)) {
    return `its dry source is ${normalRepo(repoURL)}, not ${normalRepo(change.repoURL)}`;
  }
  if (change.kind === "revision" && revision !== change.revision) {
    return `its dry source asks for ${short(revision)}, not yet for ${short(change.revision)}`;
  }
  return undefined;
}

function contains(hydration: Hydration | undefined, dry: string, change: Seeable, input: LivenessInput): boolean {
  if (!isFullSha(dry)) return false;
  if (change.kind === "commit") return commitSight(dry, change.commit, input).state === "proven";
  if (isFullSha(change.revision)) return dry.toLowerCase() === change.revision.toLowerCase();
  if (change.commit !== undefined) return containsSight(dry, change.commit, input).state === "proven";
  // A tag nobody resolved: only that it was hydrated after the merge tells it from the one before.
  const finished = at(hydration?.finishedAt);
  return hydration?.phase === "Hydrated" && finished !== undefined && second(finished) > second(at(change.mergedAt) ?? Infinity);
}

function compared(seen: string, hydrated: string | undefined): Sight {
  if (hydrated !== undefined && isFullSha(seen) && seen.toLowerCase() === hydrated.toLowerCase()) {
    return { state: "proven", why: "", sources: [0] };
  }
  const why = `the change is hydrated as ${short(hydrated ?? "nothing")}, Argo CD has compared ${short(seen) || "no revision"}`;
  return { state: "older", why, sources: [0] };
}

function failed(current: Hydration | undefined, change: Seeable, ours: boolean): Sight | undefined {
  if (current?.phase !== "Failed") return undefined;
  const since = at(current.finishedAt);
  const merged = at(change.mergedAt);
  if (since === undefined || merged === undefined || second(since) < second(merged)) return undefined;
  // One that says which dry commit it was for counts only for ours.
  if (current.drySHA !== undefined && current.drySHA !== "" && !ours) return undefined;
  return { state: "failed", why: `hydration failed: ${current.message ?? "no message"}`, since, sources: [0] };
}

function waitsFor(current: Hydration | undefined, change: Seeable): string {
  const wanted = short(change.kind === "commit" ? change.commit : change.revision);
  if (current?.phase === "Hydrating") return `Argo CD hydrates ${short(current.drySHA ?? "")}; ${wanted} is not hydrated yet`;
  return `Argo CD has not hydrated ${wanted} yet`;
}
