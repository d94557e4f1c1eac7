import { type NodeIds, nodeIds } from "./node-ids.ts";
import type { OctokitLike, RepoOctokit } from "./octokit.ts";

/** What the parts of the adapter know together of one repository: what one has made, another need not look for. */
export interface Shared {
  place: RepoOctokit;
  ids: NodeIds;
  /** Commits made by us a moment ago: nobody has reported anything on them. */
  freshCommits: Set<string>;
  /** PRs opened by us a moment ago: nobody has labelled them. */
  freshPulls: Set<number>;
}

const all = new WeakMap<OctokitLike, Map<string, Shared>>();
const MOST_FRESH = 200;

/** One for each repository of an Octokit. */
export function sharedOf(octokit: OctokitLike, repository: string): Shared {
  const known = all.get(octokit) ?? new Map<string, Shared>();
  all.set(octokit, known);
  const key = repository.toLowerCase();
  const there = known.get(key);
  if (there !== undefined) return there;
  const [owner = "", repo = ""] = repository.split("/");
  const place = { octokit, owner, repo };
  const made: Shared = { place, ids: nodeIds(place), freshCommits: new Set(), freshPulls: new Set() };
  known.set(key, made);
  return made;
}

/** Notes something as just made; the oldest are forgotten. */
export function freshen<T>(set: Set<T>, one: T): void {
  set.add(one);
  const oldest = set.values().next().value;
  if (set.size > MOST_FRESH && oldest !== undefined) set.delete(oldest);
}
