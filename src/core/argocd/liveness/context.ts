import { equalDestination, equalHydrator, equalSources, sameProject, sameValue } from "../same.ts";
import type { ApplicationView } from "../views.ts";
import { dryRevision } from "./hydrator.ts";
import { at, short } from "./moment.ts";
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
    specDifference(app, input) ?? observations.find((observation, i) => observation.state === "absent" && isRevision(input, i))?.why;
  const stale = !compared || !isNewer(at(app.status.reconciledAt), mergedAt, observations);
  const shows =
    !stale &&
    specDiffers === undefined &&
    observations.every((observation) => observation.state === "proven" || observation.state === "shown");
  // A single read has nobody who keeps count by our own clock: then the cluster's times stand as they are.
  const aheadMs = input.held === undefined ? 0 : correctedAhead(app, now);
  return { input, app, now, mergedAt, observations, compared, stale, specDiffers, shows, firstSeenAt: undefined, aheadMs };
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

/** In words how the live spec differs from the intended one; undefined where it does not, or none is given and none is needed. */
function specDifference(app: ApplicationView, input: LivenessInput): string | undefined {
  const intended = input.intended;
  if (intended === undefined) {
    const needed = input.change.kind === "generator" || input.also?.some((change) => change.kind === "generator") === true;
    return needed ? "what the ApplicationSet renders at the commit is not known, so its spec cannot be compared" : undefined;
  }
  if (!equalDestination(intended.destination, app.spec.destination, input.cluster)) return "its destination is not the intended one";
  return elsewhere(app, intended) ?? sourceDifference(app, intended) ?? hydratorDifference(app, intended);
}

function elsewhere({ spec }: ApplicationView, intended: Intended): string | undefined {
  if (!sameProject(intended.project, spec.project)) return "its project is not the intended one";
  return sameValue(intended.ignoreDifferences, spec.ignoreDifferences)
    ? undefined
    : "its ignoreDifferences are not yet as the commit gives them";
}

/** What is synced is one thing, what it is made from another: `comparedTo` holds the first only. */
function hydratorDifference({ spec }: ApplicationView, intended: Intended): string | undefined {
  if (equalHydrator(intended.sourceHydrator, spec.sourceHydrator)) return undefined;
  const is = dryRevision(spec.sourceHydrator);
  const wanted = dryRevision(intended.sourceHydrator);
  if (is === wanted) return "its sourceHydrator is not yet as the commit gives it";
  return `its dry source asks for ${short(is)}, not yet for ${short(wanted)}`;
}

function sourceDifference(app: ApplicationView, intended: Intended): string | undefined {
  if (equalSources(intended.sources, app.spec.sources)) return undefined;
  const live = app.spec.sources;
  if (live.length !== intended.sources.length) return `it has ${live.length} source(s), the commit gives it ${intended.sources.length}`;
  for (const [i, source] of intended.sources.entries()) {
    const is = live[i]?.targetRevision ?? "HEAD";
    const wanted = source.targetRevision ?? "HEAD";
    if (is !== wanted) return `its spec asks for ${short(is)}, not yet for ${short(wanted)}`;
  }
  return "its sources are not yet as the commit gives them";
}
