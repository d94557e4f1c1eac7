/**
 * What of the open pull requests is shown besides GitHub: those that would start a run, or cannot, as they were judged last. Nothing is
 * judged for whoever looks.
 *
 * Keeps true: so many pull requests at most, the newest, each with a title of so many characters. GitHub shows the others.
 */
import type { Pull } from "../../adapters/forge/port.ts";
import { iso } from "../../core/base/time.ts";
import type { ReleasePull } from "../../core/report/model/schema/plan.ts";
import { short } from "../../core/report/plan/plan-chart.ts";
import type { RepoContext } from "../round/context.ts";
import type { KnownPull } from "./types.ts";

const MOST_PULLS = 100;
const LONGEST_TITLE = 200;

export type ShownPlans = ReturnType<typeof openShownPlans>;

export function openShownPlans({ repository }: Pick<RepoContext, "repository">) {
  let shown: readonly ReleasePull[] = [];
  /** The object of before while nothing of it has changed: whoever draws it compares that. */
  const kept = new WeakMap<object, { of: ReleasePull; title: string }>();

  function pullOf({ number, title, author, url, headRepository }: Pull, { head, verdict }: KnownPull): ReleasePull[] {
    if (verdict === undefined || verdict.of.planned.length === 0) return [];
    const before = kept.get(verdict);
    if (before?.title === title) return [before.of];
    const isFork = headRepository?.toLowerCase() !== repository.toLowerCase();
    const of: ReleasePull = {
      ...{ repository, pull: number, title: short(title, LONGEST_TITLE), author, head, isFork },
      ...{ judgedAt: iso(verdict.at), links: [{ name: `#${number}`, url }], planned: verdict.of.planned },
    };
    kept.set(verdict, { of, title });
    return [of];
  }

  return {
    /** `open`: every pull request that may be one. One of which nothing is known yet is left out until it is judged. */
    see(open: readonly Pull[], known: ReadonlyMap<number, KnownPull>): void {
      const newest = open.toSorted((a, b) => b.number - a.number);
      shown = newest.flatMap((pull) => pullOf(pull, known.get(pull.number) ?? { head: pull.head })).slice(0, MOST_PULLS);
    },
    /** Newest first. */
    of: () => shown,
  };
}
