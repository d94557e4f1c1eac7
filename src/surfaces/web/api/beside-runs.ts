/**
 * What a fleet has besides its runs: releases that started none, open release PRs, runs that cannot be read, and the repositories. Each
 * look compares it with the one before and tells what differs. Called by `live-models.ts`.
 */
import { isDeepStrictEqual } from "node:util";
import { fleetRefused, fleetReleases, fleetUnread, releaseKey } from "../../../core/report/model/fleet.ts";
import { API_VERSION } from "../../../core/report/model/run-document.ts";
import type { FleetRepository, FleetRollout } from "../../../core/report/model/schema/fleet.ts";
import type { FleetRelease, PlanDocument, ReleasePull } from "../../../core/report/model/schema/plan.ts";
import type { LookedAfter, Standing, WebSource } from "../source.ts";

const MOST_IDLE = 20;

type Tell = (repository: string, change: object) => void;

export function openBeside(source: Pick<WebSource, "repositories">, tell: Tell) {
  let rows = new Map<string, FleetRollout>();
  let releases = new Map<string, FleetRelease>();
  let repositories = new Map<string, FleetRepository>();
  let pulls: readonly ReleasePull[] = [];
  /** By the pull request that they were made of. */
  const made = new WeakMap<ReleasePull, FleetRelease[]>();

  function takeRows(now: ReadonlyMap<string, FleetRollout>, runs: ReadonlySet<string>): void {
    compare(tell, rows, now, { changed: (rollout) => ({ rollout }), gone: (_, key) => (runs.has(key) ? undefined : { gone: key }) });
    rows = new Map(now);
  }

  return {
    /** `runs`: keys of rollouts whose last run is shown anyway. */
    take(standing: readonly Standing[], runs: ReadonlySet<string>): void {
      const after = source.repositories?.() ?? [];
      const refused = standing.flatMap(({ repository, refused: all }) => all.map((one) => fleetRefused(repository, one)));
      const unread = after.flatMap(({ repository, unread: all }) => all.map((one) => fleetUnread(repository, one)));
      takeRows(new Map([...refused, ...unread].flatMap((row) => (runs.has(row.key) ? [] : [[row.key, row]]))), runs);
      pulls = after.flatMap((one) => one.releases);
      const lines = new Map(pulls.flatMap((pull) => linesOf(pull, made)).map((one) => [one.key, one]));
      compare(tell, releases, lines, { changed: (release) => ({ release }), gone: (_, key) => ({ releaseGone: key }) });
      releases = lines;
      const now = new Map(repositoriesOf(after, standing).map((one) => [one.repository, one]));
      compare(tell, repositories, now, {
        changed: (repository) => ({ repository }),
        gone: (repository) => ({ repository: { ...repository, state: "Gone" } satisfies FleetRepository }),
      });
      repositories = now;
    },
    rows: () => rows.values(),
    releases: () => [...releases.values()],
    repositories: () => [...repositories.values()],
    /** Repositories that have anything to show: GitHub is asked of no other whether somebody sees it. */
    busy(): string[] {
      const wanting = [...repositories.values()].filter(({ attention, idleCount }) => attention.length + idleCount > 0);
      return [...rows.values(), ...releases.values(), ...wanting].map(({ repository }) => repository);
    },
    plan(key: string): PlanDocument | undefined {
      for (const { planned, ...pull } of pulls) {
        const one = planned.find(({ rollout }) => releaseKey(pull.repository, pull.pull, rollout) === key);
        if (one !== undefined) return { apiVersion: API_VERSION, kind: "Plan", ...pull, ...one };
      }
      return undefined;
    },
  };
}

/** Tells what is not as before. */
function compare<T extends { repository: string }>(
  tell: Tell,
  before: ReadonlyMap<string, T>,
  now: ReadonlyMap<string, T>,
  { changed, gone }: { changed: (one: T) => object; gone: (one: T, key: string) => object | undefined },
): void {
  for (const [key, one] of now) {
    const old = before.get(key);
    if (old !== one && !isDeepStrictEqual(old, one)) tell(one.repository, changed(one));
  }
  for (const [key, one] of before) {
    const told = now.has(key) ? undefined : gone(one, key);
    if (told !== undefined) tell(one.repository, told);
  }
}

function linesOf(pull: ReleasePull, made: WeakMap<ReleasePull, FleetRelease[]>): FleetRelease[] {
  const lines = made.get(pull) ?? fleetReleases(pull);
  made.set(pull, lines);
  return lines;
}

function repositoriesOf(after: readonly LookedAfter[], standing: readonly Standing[]): FleetRepository[] {
  const attention = new Map(standing.map((one) => [one.repository, [...one.attention]]));
  const listed = after.map(({ repository, state, idle }) => {
    const named = { idle: idle.toSorted().slice(0, MOST_IDLE), idleCount: idle.length };
    return { repository, attention: attention.get(repository) ?? [], state, ...named };
  });
  const names = new Set(after.map(({ repository }) => repository));
  const others = [...attention].filter(([name, told]) => told.length > 0 && !names.has(name));
  return [
    ...listed,
    ...others.map(([repository, told]) => ({ repository, attention: told, state: "Read" as const, idle: [], idleCount: 0 })),
  ];
}
