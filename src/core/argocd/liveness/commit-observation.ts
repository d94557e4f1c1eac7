import { defined } from "../../base/defined.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import { boundRevision, isFullSha } from "./moment.ts";
import type { Change, LivenessInput, Observation } from "./types.ts";

type Seen = Pick<Observation, "state" | "because" | "by">;

/** Of a revision that Argo CD has seen, whether it holds the commit: a later merge moves it on, so containing it is enough. */
export function containsObservation(seen: string, commit: string, input: LivenessInput): Seen {
  if (!isFullSha(seen)) return unresolved(seen);
  if (seen.toLowerCase() === commit.toLowerCase()) return { state: "proven" };
  const ancestry = input.ancestry?.(seen, commit) ?? "unknown";
  if (ancestry === "contains") return { state: "proven" };
  if (ancestry === "missing") return { state: "older", because: reason("COMMIT_NOT_SEEN", { seen, commit }) };
  return { state: "unknown", because: reason("COMMIT_UNDECIDED", { seen, commit }) };
}

/** Of a source that reads the config repo: as above, and the pin must still be there as it was set (docs/spec.md §7). */
export function commitObservation(seen: string, { commit, exact }: Extract<Change, { kind: "commit" }>, input: LivenessInput): Seen {
  if (exact !== undefined && isFullSha(seen) && seen.toLowerCase() !== commit.toLowerCase())
    return { state: "older", because: reason("OTHER_REVISION_SEEN", { seen: boundRevision(seen), wanted: boundRevision(commit) }) };
  const observation = containsObservation(seen, commit, input);
  const since = observation.state === "proven" ? input.seenPinDiffers?.(seen) : undefined;
  // A file that cannot be read there is nobody's word that the pin is another.
  if (since === undefined || since === "unknown") return observation;
  return {
    state: "changed",
    because: reason("PIN_CHANGED_SINCE", defined({ seen, commit, by: since.commit, override: since.override })),
    by: since.commit,
  };
}

export function unresolved(seen: string): Pick<Observation, "state" | "because"> {
  return { state: "unresolved", because: seen === "" ? reason("NO_REVISION_SHOWN") : reason("NAME_SHOWN", { seen: boundRevision(seen) }) };
}
