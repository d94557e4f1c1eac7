import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import type { Pull } from "../port.ts";
import { type NodeIds, nodeIds } from "./node-ids.ts";
import type { OctokitLike, RepoOctokit } from "./octokit.ts";
import { findPull, pull } from "./pulls.ts";

/** What the parts of the adapter know together of one repository: what one has made, another need not look for. */
export interface Shared {
  place: RepoOctokit;
  ids: NodeIds;
  /** Commits made by us a moment ago: nobody has reported anything on them. */
  freshCommits: Set<string>;
  /** PRs opened by us a moment ago: nobody has labelled them. */
  freshPulls: Set<number>;
  /** Of these, those whose comments nobody has asked for. */
  blankPulls: Set<number>;
  /** Branch → the PR that we opened from it. */
  opened: Map<string, number>;
  /** Merged, as an answer to something else has told: the next look at each needs no request. */
  merged: Map<number, Pull>;
}

const all = new WeakMap<OctokitLike, Map<string, Shared>>();
const MOST_FRESH = 200;

/** Nobody knows of anything yet. */
const nothing = () => ({
  freshCommits: new BoundedSet<string>(MOST_FRESH),
  freshPulls: new BoundedSet<number>(MOST_FRESH),
  blankPulls: new BoundedSet<number>(MOST_FRESH),
  opened: new BoundedMap<string, number>(MOST_FRESH),
  merged: new BoundedMap<number, Pull>(MOST_FRESH),
});

/** One for each repository of an Octokit. */
export function sharedOf(octokit: OctokitLike, repository: string): Shared {
  const known = all.get(octokit) ?? new Map<string, Shared>();
  all.set(octokit, known);
  const key = repository.toLowerCase();
  const there = known.get(key);
  if (there !== undefined) return there;
  const [owner = "", repo = ""] = repository.split("/");
  const place = { octokit, owner, repo };
  const made: Shared = { place, ids: nodeIds(place), ...nothing() };
  known.set(key, made);
  return made;
}

/** Notes what was just made. */
export function noteProposal(shared: Shared, made: { branch: string; commit: string; pull: number }): void {
  const { freshCommits, freshPulls, blankPulls, opened } = shared;
  freshCommits.add(made.commit);
  freshPulls.add(made.pull);
  blankPulls.add(made.pull);
  opened.set(made.branch, made.pull);
}

/** Once from what an answer told, or else from GitHub: its labels and texts may change after all. */
export async function pullNow({ place, merged }: Shared, number: number): Promise<Pull | null> {
  const known = merged.get(number);
  merged.delete(number);
  return known ?? (await pull(place, number));
}

/** The PR of a branch: one that we opened and that is open still is it; everything else is asked for. */
export async function pullOfBranch({ place, opened }: Shared, branch: string): Promise<Pull | null> {
  const number = opened.get(branch);
  const known = number === undefined ? null : await pull(place, number);
  return known?.state === "open" && known.branch === branch ? known : await findPull(place, branch);
}
