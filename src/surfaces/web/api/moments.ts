/**
 * What was at a moment, from the journals: the fleet, one run, and which version each target had. Called by `moment-routes.ts`.
 *
 * Keeps true: what is shown is what the journal had recorded until then, and of what nobody recorded nothing. Each look reads Git, so only so
 * many go on at once, and of a moment that many look at the rows are kept.
 */
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { fleetOf, fleetRollout, fleetUnread } from "../../../core/report/model/fleet.ts";
import { API_VERSION, runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { Fleet, FleetRepository, FleetRollout } from "../../../core/report/model/schema/fleet.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { Moment, RolloutVersions, Versions } from "../../../core/report/model/schema/versions.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { momentsOf, sharesOf, versionsOf } from "../../../core/report/model/versions.ts";
import { plainSentence } from "../../../core/report/reasons/say.ts";
import type { WebClock, WebSource } from "../source.ts";
import { JournalUnread, openReading } from "./history.ts";
import type { LiveModels } from "./live-models.ts";
import { Denied } from "./viewers.ts";

const MOST_AT_ONCE = 2;
/** Moments of a repository whose rows are kept. */
const MOST_KEPT = 20;
/** What was recorded until a moment may be here only so much later. */
const LATE_MS = 10 * 60_000;
/** Runs of a repository, and moments, on either side of the one that is asked for. */
const MOST_RUNS = 20;
const MOST_MOMENTS = 30;

type Journal = NonNullable<ReturnType<NonNullable<WebSource["journal"]>>>;

interface Place {
  repository: string;
  rollout: string;
}

export class Moments {
  readonly #source: WebSource;
  readonly #clock: Pick<WebClock, "now">;
  readonly #linkTo: LiveModels["links"];
  readonly #reading = openReading(MOST_AT_ONCE);
  readonly #kept = new WeakMap<Journal, BoundedMap<number, FleetRollout[]>>();

  constructor(source: WebSource, clock: Pick<WebClock, "now">, { links }: Pick<LiveModels, "links">) {
    this.#source = source;
    this.#clock = clock;
    this.#linkTo = links;
  }

  /** `repositories`: those that whoever asks may see. */
  async fleet(at: number, repositories: readonly string[], isWhole: boolean): Promise<Fleet> {
    const found = await this.#each(repositories, (repository, journal) => this.#rowsOf(repository, journal, at));
    const rollouts = found.flatMap(({ of = [] }) => of);
    const places = found.map(({ repository, isUnread }) => placeOf(repository, isUnread));
    return fleetOf({ at: iso(at), isWhole, rollouts, releases: [], repositories: places });
  }

  /** `number` absent: the last that had begun. undefined: there was none. */
  async run({ repository, rollout }: Place, number: number | undefined, at: number): Promise<RunDocument | undefined> {
    const journal = this.#source.journal?.(repository);
    const state = await this.#reading(async () => journal?.stateAt(at, { rollout, number }));
    const broken = state?.broken.get(rollout);
    if (broken !== undefined && typeof broken.why !== "string") throw new JournalUnread(new JournalFileError(broken.file, broken.why));
    const run = state?.runs.get(rollout);
    if (run === undefined) return undefined;
    const document = runDocument(modelOf(run, at, { linkTo: this.#linkTo }), at, { repository });
    return { ...document, actions: [], children: document.children.map(withoutActions) };
  }

  async versions(at: number, repositories: readonly string[]): Promise<Versions> {
    const found = await this.#each(repositories, (repository, journal) => this.#rowsOf(repository, journal, at));
    const runs = await this.#each(repositories, (_, journal) => this.#reading(() => journal.runsAround(at, MOST_RUNS)));
    const rollouts = found.flatMap(({ of = [] }) =>
      of.flatMap(({ repository, rollout, number, release, versions }) =>
        rollout === undefined || number === undefined || release === undefined || versions === undefined
          ? []
          : [{ repository, rollout, number, release, versions }],
      ),
    );
    const unread = found.flatMap(({ repository, of }) => (of === undefined ? [repository] : []));
    return { apiVersion: API_VERSION, kind: "Versions", at: iso(at), moments: await momentsAround(at, runs), rollouts, unread };
  }

  /** undefined: there is no such repository. */
  async ofRollout({ repository, rollout }: Place, at: number): Promise<RolloutVersions | undefined> {
    const journal = this.#source.journal?.(repository);
    if (journal === undefined) return undefined;
    const around = await this.#reading(() => journal.runsAround(at, MOST_RUNS, rollout));
    if (around.length === 0) return undefined;
    const then = around.findLast(({ startedAt }) => startedAt !== "" && epoch(startedAt) <= at);
    // As it ended or stands, not as it was: what became of its batches says when each merged.
    const run = then && (await this.#reading(() => journal.run(rollout, then.number)));
    const targets = run === undefined ? [] : versionsOf(run, at);
    const place = { repository, rollout };
    const own =
      run === undefined
        ? []
        : momentsOf(run).map((one) => ({ ...one, ...recordedBy(then?.recorded ?? [], one.at), ...place, number: run.number }));
    const others = await momentsAround(at, [{ repository, of: around.filter(({ number }) => number !== run?.number) }]);
    return {
      ...{ apiVersion: API_VERSION, kind: "RolloutVersions", at: iso(at), ...place, number: run?.number },
      ...{ moments: nearest([...own, ...others], at), versions: sharesOf(targets), targets },
    };
  }

  /** Each repository by itself: a journal that cannot be read hides no other. */
  async #each<T>(repositories: readonly string[], work: (repository: string, journal: Journal) => Promise<T>) {
    const found: { repository: string; of: T | undefined; isUnread: boolean }[] = [];
    for (const repository of new Set(repositories)) {
      const journal = this.#source.journal?.(repository);
      try {
        found.push({ repository, of: journal && (await work(repository, journal)), isUnread: false });
      } catch (error) {
        if (error instanceof Denied) throw error;
        found.push({ repository, of: undefined, isUnread: true });
      }
    }
    return found;
  }

  /** The rows of one repository; undefined: nothing of then is known of it. */
  async #rowsOf(repository: string, journal: Journal, at: number): Promise<FleetRollout[] | undefined> {
    const rows = this.#kept.get(journal) ?? new BoundedMap<number, FleetRollout[]>(MOST_KEPT);
    this.#kept.set(journal, rows);
    const before = rows.get(at);
    if (before !== undefined) return before;
    const state = await this.#reading(() => journal.stateAt(at));
    if (state === undefined) return undefined;
    const told = [...state.runs.values()].map((run) =>
      fleetRollout(repository, run, modelOf(run, at, { linkTo: this.#linkTo }), undefined),
    );
    const unread = [...state.broken].map(([rollout, { run, file, why }]) => {
      const says = typeof why === "string" ? why : plainSentence(why);
      return fleetUnread(repository, { rollout, run, file, says });
    });
    const found = [...told, ...unread];
    if (at < this.#clock.now() - LATE_MS) rows.set(at, found);
    return found;
  }
}

/** In order: so many up to the moment, and as many after it. */
function nearest(moments: readonly Moment[], at: number): Moment[] {
  const all = moments.toSorted((a, b) => epoch(a.at) - epoch(b.at));
  const now = all.findLastIndex((one) => epoch(one.recordedAt) <= at) + 1;
  return all.slice(Math.max(0, now - MOST_MOMENTS), now + MOST_MOMENTS);
}

/** What was recorded in the second in which it happened is told by the next. */
function recordedBy(recorded: readonly number[], at: string): Pick<Moment, "at" | "recordedAt"> {
  const found = recorded.find((time) => time >= epoch(at));
  return { at, recordedAt: found === undefined ? at : iso(found) };
}

/** Nobody does anything to what is over. */
function withoutActions(node: ModelNode): ModelNode {
  return { ...node, actions: [], children: node.children.map(withoutActions) };
}

function placeOf(repository: string, isUnread: boolean): FleetRepository {
  const attention = isUnread ? ["its journal of then cannot be read"] : [];
  return { repository, attention, state: isUnread ? "Held" : "Read", idle: [], idleCount: 0 };
}

async function momentsAround(
  at: number,
  found: readonly { repository: string; of: Awaited<ReturnType<Journal["runsAround"]>> | undefined }[],
) {
  const moments = found.flatMap(({ repository, of = [] }) =>
    of.flatMap(({ rollout, number, release, startedAt, endedAt, recorded }): Moment[] => {
      const run = { repository, rollout, number, release };
      const ended: Moment[] = endedAt === undefined ? [] : [{ ...recordedBy(recorded, endedAt), ...run, what: "Ended" }];
      return startedAt === "" ? ended : [{ ...recordedBy(recorded, startedAt), ...run, what: "Began" }, ...ended];
    }),
  );
  return nearest(moments, at);
}
