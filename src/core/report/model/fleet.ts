/** Many rollouts at once: of each what a person has to know before they open it. Called by the API, which the page's first screen reads. */
import { isEnded, type Run } from "../../run/state/run.ts";
import { entryOf } from "../reasons/say.ts";
import { GROUPS } from "./labels.ts";
import type { RefusedModel } from "./refused.ts";
import { API_VERSION } from "./run-document.ts";
import type { Fleet, FleetRollout } from "./schema/fleet.ts";
import type { FleetRelease, Planned, ReleasePull } from "./schema/plan.ts";
import type { RunModel } from "./types.ts";
import { sharesOf, versionsOf } from "./versions.ts";

/** Of a refused release: the rollout's own page has all of them. */
const MOST_PROBLEMS = 3;

/** The key of a rollout among all repositories. Names of repositories differ in more than their case. */
export function rolloutKey(repository: string, rollout: string): string {
  return `${repository.toLowerCase()}/${rollout}`;
}

export function fleetRollout(repository: string, run: Run, model: RunModel, refused: RefusedModel | undefined): FleetRollout {
  const { rollout, number, state, tone, release, change, says, reason, ask, waitsOn, waitsFor } = model;
  const { since, startedAt, endedAt, eta, deadline, counts, targetBy, pull, author, links } = model;
  return {
    ...{ key: rolloutKey(repository, rollout), repository, rollout, group: groupOf(run, model, refused) },
    failing: isFailing(run, model) ? true : undefined,
    ...{ number, state, tone, release, change, says, reason, ask, waitsOn, waitsFor },
    ...{ since, startedAt, endedAt, eta, deadline, counts, targetBy, pull, author, links },
    refused: refused && shortened(refused),
    versions: sharesOf(versionsOf(run)),
  };
}

/** A rollout whose last run cannot be read: somebody has to mend its file. */
export function fleetUnread(repository: string, { rollout, run, file, says }: UnreadRun): FleetRollout {
  const place = { key: rolloutKey(repository, rollout), repository, rollout, number: run };
  return { ...place, group: "WaitsForYou", tone: "bad", says: `${file}: ${says}`, links: [], unread: file };
}

/** `says`: why its file cannot be used. */
export interface UnreadRun {
  rollout: string;
  run: number;
  file: string;
  says: string;
}

/** The key of a release PR among all; without a rollout of what is no single one's. */
export function releaseKey(repository: string, pull: number, rollout: string | undefined): string {
  return rollout === undefined ? `${repository.toLowerCase()}/pulls/${pull}` : `${rolloutKey(repository, rollout)}/pulls/${pull}`;
}

/** A line for each rollout that a release PR is about. */
export function fleetReleases({ planned, ...pull }: ReleasePull): FleetRelease[] {
  return planned.map(({ stages: _, rules: __, warnings: ___, expected, ...one }: Planned) => ({
    ...{ key: releaseKey(pull.repository, pull.pull, one.rollout), ...pull, ...one },
    ...{ problems: one.problems.slice(0, MOST_PROBLEMS), against: one.against.slice(0, MOST_PROBLEMS), took: expected?.total },
  }));
}

/** A release that started no run, where its rollout has no run to stand beside. */
export function fleetRefused(repository: string, refused: RefusedModel): FleetRollout {
  const { rollout, release, pull, says, since } = refused;
  // What no pull request brought is told apart by its commit, which its sentence names.
  const last = rollout ?? (pull === undefined ? says : `#${pull}`);
  return {
    ...{ key: rolloutKey(repository, last), repository, rollout, group: "Refused", tone: "bad", release, says, since, pull, links: [] },
    refused: shortened(refused),
  };
}

export function fleetOf(of: Pick<Fleet, "at" | "isWhole" | "rollouts" | "releases" | "repositories">): Fleet {
  const place = ({ group, key }: FleetRollout) => `${GROUPS.indexOf(group)} ${key}`;
  const rollouts = of.rollouts.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  return { apiVersion: API_VERSION, kind: "Fleet", ...of, rollouts };
}

function groupOf(run: Run, model: RunModel, refused: RefusedModel | undefined): FleetRollout["group"] {
  const ended = isEnded(run);
  const asksPerson = run.next !== null && entryOf(run.next.what)?.by === "person";
  if (!ended && (run.phase === "Paused" || asksPerson)) return "WaitsForYou";
  if (isFailing(run, model)) return "Failing";
  if (!ended) return "Running";
  return refused === undefined ? "Done" : "Refused";
}

/** What pauses on a failure waits for a person, and fails all the same. */
function isFailing(run: Run, { counts }: RunModel): boolean {
  if (isEnded(run)) return run.phase === "Failed";
  return run.phase === "RollingBack" || run.paused?.kind === "Failure" || counts.failed > 0;
}

function shortened(refused: RefusedModel): RefusedModel {
  return { ...refused, problems: refused.problems.slice(0, MOST_PROBLEMS) };
}
