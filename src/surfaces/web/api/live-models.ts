/**
 * What is shown of everything just now, and what changed since: models are made when somebody looks or listens, kept while the run behind
 * them stays as it is, written as JSON once for all, and told apart as patches.
 *
 * Keeps true: a patch starts from the very model that was handed out last under the id before it. A rollout nobody looks at costs a
 * comparison; when it changes, its stream says `reset`.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { applicationLinks } from "../../../core/report/links.ts";
import { fleetOf, fleetRollout, rolloutKey } from "../../../core/report/model/fleet.ts";
import { runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { Fleet, FleetRollout } from "../../../core/report/model/schema/fleet.ts";
import type { PlanDocument } from "../../../core/report/model/schema/plan.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { jsonPatch } from "../json-patch.ts";
import type { Standing, WebClock, WebSource } from "../source.ts";
import { openBeside } from "./beside-runs.ts";
import { type EventLine, FLEET } from "./event-line.ts";

/** What is expected when moves on though nothing happens: what is looked at is made anew after so long, of the wall's time. */
const FRESH_MS = 30_000;
/** Larger than this it is cheaper to read the whole. */
const LARGEST_PATCH = 64 * 1024;

/** A text as it is sent. */
export interface Written {
  text: string;
  etag: string;
}

interface Known {
  repository: string;
  run: Run;
  history: History | undefined;
  refused: Standing["refused"][number] | undefined;
  heard: RunDocument["commands"];
  row: FleetRollout;
  madeAt: number;
  /** Made once somebody looks. */
  document: RunDocument | undefined;
  written: Written | undefined;
  /** Somebody looked since it was made. */
  wanted: boolean;
}

export type LiveModels = ReturnType<typeof openLiveModels>;

export function openLiveModels(source: WebSource, clock: WebClock, line: EventLine) {
  const known = new Map<string, Known>();
  /** Runs that could not be drawn, by rollout. */
  const broken = new Map<string, Run>();
  let fleet: { document: Fleet; written: Written } | undefined;
  const linkTo = applicationLinks((name) => source.planes?.find((plane) => plane.name === name)?.uiUrl);

  const beside = openBeside(source, tellFleet);

  function make({ repository, run, history, refused, heard }: Pick<Known, "repository" | "run" | "history" | "refused" | "heard">) {
    const model = modelOf(run, clock.now(), { linkTo, ...(history && { history }) });
    return {
      row: fleetRollout(repository, run, model, refused),
      document: () => runDocument(model, clock.now(), { repository, refused, heard }),
    };
  }

  /** A rollout as it is now: whoever sees the fleet is told where its row differs, whoever looks at it what of it does. */
  function take(key: string, { repository, run, history }: ReturnType<WebSource["runs"]>[number], refused: Known["refused"]): void {
    const before = known.get(key);
    const isHeard = line.isHeard(key);
    const isOld = before !== undefined && (isHeard || line.isHeard(FLEET)) && !isEnded(run) && performance.now() - before.madeAt > FRESH_MS;
    const heard = source.heard?.(repository, run.rollout, pullsOf(run)) ?? [];
    const isSame = isDeepStrictEqual([before?.refused, before?.heard], [refused, heard]);
    if (before !== undefined && before.run === run && isSame && !isOld) return;
    const made = make({ repository, run, history, refused, heard });
    const after: Known = {
      ...{ repository, run, history, refused, heard, row: made.row, madeAt: performance.now() },
      ...{ document: undefined, written: undefined, wanted: false },
    };
    known.set(key, after);
    if (before === undefined || !isDeepStrictEqual(before.row, made.row)) tellFleet(repository, { rollout: made.row });
    if (before?.document === undefined) {
      // Whoever listens to what was not there yet, or was not read, has something to read now.
      if (isHeard) line.emit(key, repository, "reset", {});
      return;
    }
    if (isHeard || before.wanted) tellRollout(key, before, after, made.document());
    else line.emit(key, repository, "reset", {});
  }

  /** One that cannot be drawn is told of as such and hides no other; a timer that threw would end the process with all its rollouts. */
  function takeAlone(key: string, one: ReturnType<WebSource["runs"]>[number], refused: Known["refused"]): void {
    const { repository, run } = one;
    if (broken.get(key) === run) return;
    try {
      take(key, one, refused);
      broken.delete(key);
    } catch (error) {
      broken.set(key, run);
      if (known.delete(key)) tellFleet(repository, { gone: key });
      line.emit(key, repository, "reset", {});
      source.onBroken?.(repository, error);
    }
  }

  function tellRollout(key: string, before: Known, after: Known, document: RunDocument): void {
    const { repository } = after;
    const patch = jsonPatch(before.document, document);
    // As of when it was read is no change of its own.
    if (patch.every(({ path }) => path === "/asOf"))
      return void Object.assign(after, { document: before.document, written: before.written });
    after.document = document;
    if (JSON.stringify(patch).length > LARGEST_PATCH) line.emit(key, repository, "reset", {});
    else line.emit(key, repository, "rollout", { key, patch });
  }

  function tellFleet(repository: string, change: object): void {
    fleet = undefined;
    line.emit(FLEET, repository, "fleet", change);
  }

  /** Looks at everything, and tells what changed. */
  function sync(): void {
    const standing = source.standing?.() ?? [];
    const refusals = new Map(
      standing.flatMap(({ repository, refused }) =>
        refused.flatMap((one) => (one.rollout === undefined ? [] : [[rolloutKey(repository, one.rollout), one] as const])),
      ),
    );
    const seen = new Set<string>();
    for (const one of source.runs()) {
      const key = rolloutKey(one.repository, one.run.rollout);
      seen.add(key);
      takeAlone(key, one, refusals.get(key));
    }
    for (const [key, { repository }] of known) {
      if (seen.has(key)) continue;
      known.delete(key);
      tellFleet(repository, { gone: key });
      line.emit(key, repository, "reset", {});
    }
    for (const key of broken.keys()) if (!seen.has(key)) broken.delete(key);
    beside.take(standing, seen);
  }

  function read(key: string): Known | undefined {
    sync();
    const one = known.get(key);
    if (one === undefined && broken.has(key)) throw new Error(`${key} cannot be drawn`);
    if (one === undefined) return undefined;
    one.document ??= make(one).document();
    one.wanted = true;
    return one;
  }

  return {
    sync,
    fleet(): { document: Fleet; written: Written } {
      sync();
      if (fleet !== undefined) return fleet;
      const rollouts = [...[...known.values()].map(({ row }) => row), ...beside.rows()];
      const document = fleetOf({ isWhole: true, rollouts, releases: beside.releases(), repositories: beside.repositories() });
      fleet = { document, written: writeDocument(document) };
      return fleet;
    },
    /** Those that have anything to show. */
    repositories: () => [...[...known.values()].map(({ repository }) => repository), ...beside.busy()],
    /** Its last run; undefined: it has none, or another than was asked for. */
    rollout(key: string, number?: number): Written | undefined {
      sync();
      if (number !== undefined && known.get(key)?.run.number !== number) return undefined;
      const one = read(key);
      if (one?.document !== undefined) one.written ??= writeDocument(one.document);
      return one?.written;
    },
    document: (repository: string, rollout: string): RunDocument | undefined => read(rolloutKey(repository, rollout))?.document,
    /** One release PR, as it was judged last; undefined: there is none. */
    plan: (key: string): PlanDocument | undefined => {
      sync();
      return beside.plan(key);
    },
    links: linkTo,
  };
}

/** Where people may comment on it. */
function pullsOf({ trigger, batches }: Run): number[] {
  return [trigger.pull, ...batches.map(({ pull }) => pull?.number)].filter((one) => one !== undefined);
}

export function writeDocument(document: unknown): Written {
  const text = JSON.stringify(document);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
}
