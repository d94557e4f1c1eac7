/** What people wrote on pull requests, as last read: rounds are many, and comments few. Kept by the inbox. */
import type { Comment, Forge } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { type Clock, epoch } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";

/** Without a webhook, and without a resync of everything, a PR's comments are asked for this often. */
const RESYNC_MS = 5 * 60_000;
/** Reviews are asked for by GraphQL, which has no 304 that costs nothing; deliveries that failed are asked for again besides. */
const REVIEWS_MS = 30 * 60_000;
/** Dropped are those that nobody asked about for the longest. All of a long run are asked about in turn: too few would hold none. */
const MOST_PULLS = 20_000;

interface Known {
  said: readonly Comment[];
  reviews: readonly Comment[];
  reviewsAt: number;
  readAt: number;
}

function bothOf({ said, reviews }: Known): readonly Comment[] {
  return reviews.length === 0 ? said : [...said, ...reviews].sort((a, b) => epoch(a.createdAt) - epoch(b.createdAt));
}

/** Keeps comments of pull requests as last read: rounds are many, and comments few. What cannot be read now is as it was. */
export function commentCache(forge: Forge, clock: Clock, log: Log) {
  const known = new BoundedMap<number, Known>(MOST_PULLS);
  const needsFetch = new Set<number>();
  /** Reviews of these may have changed: those of others are as they were. */
  const reviewed = new Set<number>();
  const touched = new Set<number>();

  async function read(pull: number, before: Known | undefined): Promise<Omit<Known, "readAt">> {
    const said = await forge.comments(pull);
    const isOld = before?.reviews === undefined || reviewed.delete(pull) || clock.now() - before.reviewsAt >= REVIEWS_MS;
    if (!isOld) return { said, reviews: before.reviews, reviewsAt: before.reviewsAt };
    try {
      return { said, reviews: (await forge.reviewBodies?.(pull)) ?? [], reviewsAt: clock.now() };
    } catch (error) {
      // Comments are heard all the same.
      reviewed.add(pull);
      needsFetch.add(pull);
      log.warn({ pull, error: String(error) }, "reviews could not be read; trying again");
      return { said, reviews: before?.reviews ?? [], reviewsAt: clock.now() };
    }
  }

  return {
    touched(pull: number, where?: "review"): void {
      needsFetch.add(pull);
      touched.add(pull);
      if (where === "review") reviewed.add(pull);
    },
    /** The PRs that were touched since this was asked last. */
    takeTouched(): number[] {
      const pulls = [...touched];
      touched.clear();
      return pulls;
    },
    resync(): void {
      for (const pull of known.keys()) needsFetch.add(pull);
    },
    async of(pull: number): Promise<readonly Comment[]> {
      const before = known.get(pull);
      const now = clock.now();
      if (before !== undefined && !needsFetch.has(pull) && now - before.readAt < RESYNC_MS) return bothOf(before);
      // Opened by us a moment ago: a comment on it is reported before it is asked for.
      const isBlank = before === undefined && !needsFetch.has(pull) && forge.isBlank?.(pull) === true;
      needsFetch.delete(pull);
      try {
        const fresh: Known = { ...(isBlank ? { said: [], reviews: [], reviewsAt: now } : await read(pull, before)), readAt: now };
        known.set(pull, fresh);
        return bothOf(fresh);
      } catch (error) {
        needsFetch.add(pull);
        reviewed.add(pull);
        log.warn({ pull, error: String(error) }, "comments could not be read; trying again");
        return before === undefined ? [] : bothOf(before);
      }
    },
  };
}
