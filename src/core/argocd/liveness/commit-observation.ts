import { isFullSha, short } from "./moment.ts";
import type { LivenessInput, Observation } from "./types.ts";

type Seen = Pick<Observation, "state" | "why" | "by">;

/** Of a revision that Argo CD has seen, whether it holds the commit: a later merge moves it on, so containing it is enough. */
export function containsObservation(seen: string, commit: string, input: LivenessInput): Seen {
  if (!isFullSha(seen)) return unresolved(seen);
  if (seen.toLowerCase() === commit.toLowerCase()) return { state: "proven", why: "" };
  const ancestry = input.ancestry?.(seen, commit) ?? "unknown";
  if (ancestry === "contains") return { state: "proven", why: "" };
  if (ancestry === "missing") return { state: "older", why: `Argo CD has seen ${short(seen)}, which does not contain ${short(commit)}` };
  return { state: "unknown", why: `Argo CD has seen ${short(seen)}; whether it contains ${short(commit)} is not known yet` };
}

/** Of a source that reads the config repo: as above, and the pin must still be there as it was set (docs/spec.md §7). */
export function commitObservation(seen: string, commit: string, input: LivenessInput): Seen {
  const observation = containsObservation(seen, commit, input);
  const since = observation.state === "proven" ? input.seenPinDiffers?.(seen) : undefined;
  if (since === undefined) return observation;
  const why = `Argo CD has seen ${short(seen)}, in which ${short(since.commit)} has changed the pin after ${short(commit)}; a person must say which of the two holds`;
  return { state: "changed", why, by: since.commit };
}

export function unresolved(seen: string): Pick<Observation, "state" | "why"> {
  return {
    state: "unresolved",
    why: seen === "" ? "Argo CD shows no revision for the source" : `Argo CD shows "${short(seen)}", a name and not yet a revision`,
  };
}
