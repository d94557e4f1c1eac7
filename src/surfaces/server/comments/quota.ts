/**
 * How many answers people without the right to steer are given in a repository. Counted by the times of their comments, which GitHub
 * keeps: a process that begins anew comes to the same, and gives nobody more.
 */
import { BoundedMap } from "../../../core/base/bounded.ts";

/** In any ten minutes: of one account, and of all together. */
const WINDOW_MS = 10 * 60_000;
const MOST_OF_ONE = 10;
const MOST_OF_ALL = 50;
const MOST_TOLD = 1000;

export interface Quota {
  /** `limit`: no more, which is to be said this once; `none`: no more. The same comment is given the same twice. */
  take(author: string, comment: string, at: number): "answer" | "limit" | "none";
}

export function openQuota(): Quota {
  let given: { author: string; comment: string; at: number }[] = [];
  /** Account → the comment it was told below that there is a limit, and when. */
  const told = new BoundedMap<string, { comment: string; at: number }>(MOST_TOLD);
  return {
    take(author, comment, at) {
      if (given.some((one) => one.comment === comment)) return "answer";
      const last = told.get(author);
      if (last?.comment === comment) return "limit";
      const newest = given.reduce((latest, one) => Math.max(latest, one.at), at);
      given = given.filter((one) => newest - one.at < WINDOW_MS);
      const own = given.filter((one) => one.author === author && Math.abs(at - one.at) < WINDOW_MS).length;
      if (own < MOST_OF_ONE && given.length < MOST_OF_ALL) {
        given.push({ author, comment, at });
        return "answer";
      }
      if (given.length >= MOST_OF_ALL || (last !== undefined && Math.abs(at - last.at) < WINDOW_MS)) return "none";
      told.set(author, { comment, at });
      return "limit";
    },
  };
}
