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

type Found = ReturnType<WebSource["runs"]>[number];

export class LiveModels {
  readonly #source: WebSource;
  readonly #clock: WebClock;
  readonly #line: EventLine;
  readonly #beside: ReturnType<typeof openBeside>;
  readonly #known = new Map<string, Known>();
  /** Runs that could not be drawn, by rollout. */
  readonly #broken = new Map<string, Run>();
  readonly links: ReturnType<typeof applicationLinks>;
  #fleet: { document: Fleet; written: Written } | undefined;

  constructor(source: WebSource, clock: WebClock, line: EventLine) {
    this.#source = source;
    this.#clock = clock;
    this.#line = line;
    this.#beside = openBeside(source, (repository, change) => this.#tellFleet(repository, change));
    this.links = applicationLinks((name) => source.planes?.find((plane) => plane.name === name)?.uiUrl);
  }

  fleet(): { document: Fleet; written: Written } {
    this.sync();
    if (this.#fleet !== undefined) return this.#fleet;
    const rollouts = [...[...this.#known.values()].map(({ row }) => row), ...this.#beside.rows()];
    const document = fleetOf({ isWhole: true, rollouts, releases: this.#beside.releases(), repositories: this.#beside.repositories() });
    this.#fleet = { document, written: writeDocument(document) };
    return this.#fleet;
  }

  /** Those that have anything to show. */
  repositories(): string[] {
    return [...[...this.#known.values()].map(({ repository }) => repository), ...this.#beside.busy()];
  }

  /** Its last run; undefined: it has none, or another than was asked for. */
  rollout(key: string, number?: number): Written | undefined {
    this.sync();
    if (number !== undefined && this.#known.get(key)?.run.number !== number) return undefined;
    const one = this.#read(key);
    if (one?.document !== undefined) one.written ??= writeDocument(one.document);
    return one?.written;
  }

  document(repository: string, rollout: string): RunDocument | undefined {
    return this.#read(rolloutKey(repository, rollout))?.document;
  }

  /** One release PR, as it was judged last; undefined: there is none. */
  plan(key: string): PlanDocument | undefined {
    this.sync();
    return this.#beside.plan(key);
  }

  /** Looks at everything, and tells what changed. */
  sync(): void {
    const standing = this.#source.standing?.() ?? [];
    const refusals = new Map(
      standing.flatMap(({ repository, refused }) =>
        refused.flatMap((one) => (one.rollout === undefined ? [] : [[rolloutKey(repository, one.rollout), one] as const])),
      ),
    );
    const seen = new Set<string>();
    for (const one of this.#source.runs()) {
      const key = rolloutKey(one.repository, one.run.rollout);
      seen.add(key);
      this.#takeAlone(key, one, refusals.get(key));
    }
    for (const [key, { repository }] of this.#known) {
      if (seen.has(key)) continue;
      this.#known.delete(key);
      this.#tellFleet(repository, { gone: key });
      this.#line.emit(key, repository, "reset", {});
    }
    for (const key of this.#broken.keys()) if (!seen.has(key)) this.#broken.delete(key);
    this.#beside.take(standing, seen);
  }

  #read(key: string): Known | undefined {
    this.sync();
    const one = this.#known.get(key);
    if (one === undefined && this.#broken.has(key)) throw new Error(`${key} cannot be drawn`);
    if (one === undefined) return undefined;
    one.document ??= this.#make(one).document();
    one.wanted = true;
    return one;
  }

  /** One that cannot be drawn is told of as such and hides no other; a timer that threw would end the process with all its rollouts. */
  #takeAlone(key: string, one: Found, refused: Known["refused"]): void {
    const { repository, run } = one;
    if (this.#broken.get(key) === run) return;
    try {
      this.#take(key, one, refused);
      this.#broken.delete(key);
    } catch (error) {
      this.#broken.set(key, run);
      if (this.#known.delete(key)) this.#tellFleet(repository, { gone: key });
      this.#line.emit(key, repository, "reset", {});
      this.#source.onBroken?.(repository, error);
    }
  }

  /** A rollout as it is now: whoever sees the fleet is told where its row differs, whoever looks at it what of it does. */
  #take(key: string, { repository, run, history }: Found, refused: Known["refused"]): void {
    const before = this.#known.get(key);
    const isHeard = this.#line.isHeard(key);
    const isLookedAt = isHeard || this.#line.isHeard(FLEET);
    const isOld = before !== undefined && isLookedAt && !isEnded(run) && performance.now() - before.madeAt > FRESH_MS;
    const heard = this.#source.heard?.(repository, run.rollout, pullsOf(run)) ?? [];
    const isSame = isDeepStrictEqual([before?.refused, before?.heard], [refused, heard]);
    if (before !== undefined && before.run === run && isSame && !isOld) return;
    const made = this.#make({ repository, run, history, refused, heard });
    const after: Known = {
      ...{ repository, run, history, refused, heard, row: made.row, madeAt: performance.now() },
      ...{ document: undefined, written: undefined, wanted: false },
    };
    this.#known.set(key, after);
    if (before === undefined || !isDeepStrictEqual(before.row, made.row)) this.#tellFleet(repository, { rollout: made.row });
    if (before?.document === undefined) {
      // Whoever listens to what was not there yet, or was not read, has something to read now.
      if (isHeard) this.#line.emit(key, repository, "reset", {});
      return;
    }
    if (isHeard || before.wanted) this.#tellRollout(key, before, after, made.document());
    else this.#line.emit(key, repository, "reset", {});
  }

  #make({ repository, run, history, refused, heard }: Pick<Known, "repository" | "run" | "history" | "refused" | "heard">) {
    const model = modelOf(run, this.#clock.now(), { linkTo: this.links, ...(history && { history }) });
    return {
      row: fleetRollout(repository, run, model, refused),
      document: () => runDocument(model, this.#clock.now(), { repository, refused, heard }),
    };
  }

  #tellRollout(key: string, before: Known, after: Known, document: RunDocument): void {
    const { repository } = after;
    const patch = jsonPatch(before.document, document);
    // As of when it was read is no change of its own.
    if (patch.every(({ path }) => path === "/asOf"))
      return void Object.assign(after, { document: before.document, written: before.written });
    after.document = document;
    if (JSON.stringify(patch).length > LARGEST_PATCH) this.#line.emit(key, repository, "reset", {});
    else this.#line.emit(key, repository, "rollout", { key, patch });
  }

  #tellFleet(repository: string, change: object): void {
    this.#fleet = undefined;
    this.#line.emit(FLEET, repository, "fleet", change);
  }
}

/** Where people may comment on it. */
function pullsOf({ trigger, batches }: Run): number[] {
  return [trigger.pull, ...batches.map(({ pull }) => pull?.number)].filter((one) => one !== undefined);
}

export function writeDocument(document: unknown): Written {
  const text = JSON.stringify(document);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
}
