import type { LivenessInput, Sight } from "./liveness-types.ts";
import { isFullSha, short } from "./moment.ts";

/** Of a source that reads the repo the commit is in. A later merge moves the seen revision on, so containing it is enough. */
export function commitSight(seen: string, commit: string, input: LivenessInput): Pick<Sight, "state" | "why"> {
  if (!isFullSha(seen)) return unresolved(seen);
  if (seen.toLowerCase() === commit.toLowerCase()) return { state: "proven", why: "" };
  const ancestry = input.ancestry?.(seen, commit) ?? "unknown";
  if (ancestry === "missing") return { state: "older", why: `Argo CD has seen ${short(seen)}, which does not contain ${short(commit)}` };
  if (ancestry === "unknown") {
    return { state: "unknown", why: `Argo CD has seen ${short(seen)}; whether it contains ${short(commit)} is not known yet` };
  }
  const since = input.seenPinDiffers?.(seen);
  if (since === undefined) return { state: "proven", why: "" };
  return {
    state: "changed",
    why: `${short(since.commit)} changed the pin after ${short(commit)}; a person must say which of the two holds`,
  };
}

export function unresolved(seen: string): Pick<Sight, "state" | "why"> {
  return {
    state: "unresolved",
    why: seen === "" ? "Argo CD shows no revision for the source" : `Argo CD shows "${short(seen)}", a name and not yet a revision`,
  };
}
