import type { AnyReason } from "../../base/reason.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import { equalDestination, equalHydrator, equalSources, sameProject, sameValue } from "../same.ts";
import type { ApplicationView } from "../views.ts";
import { dryRevision } from "./hydrator.ts";
import { at, boundRevision } from "./moment.ts";
import { observationOf } from "./observation.ts";
import { correctedAhead, isNewer } from "./skew.ts";
import type { Context, Intended, LivenessInput } from "./types.ts";

/** Works out once per read what several clauses need. */
export function contextOf(input: LivenessInput, app: ApplicationView, now: number): Context {
  const mergedAt = at(input.change.mergedAt) ?? Number.POSITIVE_INFINITY;
  const observations = [observationOf(app, input.change, input)];
  for (const change of input.also ?? []) observations.push(observationOf(app, change, input));
  const compared = isCompared(app, input);
  const specDiffers =
    specDifference(app, input) ?? observations.find((observation, i) => observation.state === "absent" && isRevision(input, i))?.because;
  const stale = !compared || !isNewer(at(app.status.reconciledAt), mergedAt, observations);
  const shows =
    !stale &&
    specDiffers === undefined &&
    observations.every((observation) => observation.state === "proven" || observation.state === "shown");
  // A single read has nobody who keeps count by our own clock: then the cluster's times stand as they are.
  const aheadMs = input.held === undefined ? 0 : correctedAhead(app, now);
  return {
    input,
    app,
    now,
    mergedAt,
    observations,
    compared,
    stale,
    specDiffers,
    shows,
    firstSeenAt: undefined,
    firstComparedAt: undefined,
    aheadMs,
  };
}

function isRevision(input: LivenessInput, index: number): boolean {
  return (index === 0 ? input.change : input.also?.[index - 1])?.kind === "revision";
}

function isCompared(app: ApplicationView, input: LivenessInput): boolean {
  const to = app.status.sync.comparedTo;
  return (
    to !== undefined &&
    equalSources(to.sources, app.spec.sources) &&
    equalDestination(to.destination, app.spec.destination, input.cluster) &&
    sameValue(to.ignoreDifferences, app.spec.ignoreDifferences)
  );
}

/** How the live spec differs from the intended one; undefined where it does not, or none is given and none is needed. */
function specDifference(app: ApplicationView, input: LivenessInput): AnyReason | undefined {
  const intended = input.intended;
  if (intended === undefined) {
    const needed = input.change.kind === "generator" || input.also?.some((change) => change.kind === "generator") === true;
    return needed ? reason("SPEC_UNRENDERED") : undefined;
  }
  const { spec } = app;
  if (!equalDestination(intended.destination, spec.destination, input.cluster)) return reason("SPEC_DIFFERS", { part: "destination" });
  if (!sameProject(intended.project, spec.project)) return reason("SPEC_DIFFERS", { part: "project" });
  if (!sameValue(intended.ignoreDifferences, spec.ignoreDifferences)) return reason("SPEC_DIFFERS", { part: "ignoreDifferences" });
  return sourceDifference(app, intended) ?? hydratorDifference(app, intended);
}

/** What is synced is one thing, what it is made from another: `comparedTo` holds the first only. */
function hydratorDifference({ spec }: ApplicationView, intended: Intended): AnyReason | undefined {
  if (equalHydrator(intended.sourceHydrator, spec.sourceHydrator)) return undefined;
  const asks = dryRevision(spec.sourceHydrator);
  const wanted = dryRevision(intended.sourceHydrator);
  if (asks === wanted) return reason("SPEC_DIFFERS", { part: "sourceHydrator" });
  return reason("REVISION_NOT_IN_SPEC", { dry: true, asks: boundRevision(asks), wanted: boundRevision(wanted) });
}

function sourceDifference(app: ApplicationView, intended: Intended): AnyReason | undefined {
  if (equalSources(intended.sources, app.spec.sources)) return undefined;
  const live = app.spec.sources;
  const wants = intended.sources.length;
  if (live.length !== wants) return reason("SOURCES_COUNT_DIFFERS", { has: live.length, wanted: wants });
  for (const [i, source] of intended.sources.entries()) {
    const asks = live[i]?.targetRevision ?? "HEAD";
    const wanted = source.targetRevision ?? "HEAD";
    if (asks !== wanted) return reason("REVISION_NOT_IN_SPEC", { asks: boundRevision(asks), wanted: boundRevision(wanted) });
  }
  return reason("SPEC_DIFFERS", { part: "sources" });
}
