/** Addresses of what was at a moment, and of what merging an open release PR would do. */
import type { Hono } from "hono";
import type { BlankSchema } from "hono/types";
import { epoch } from "../../../core/base/time.ts";
import { releaseKey } from "../../../core/report/model/fleet.ts";
import type { WebClock } from "../source.ts";
import { answer, problem } from "./answers.ts";
import { type EventLine, FLEET } from "./event-line.ts";
import { type LiveModels, writeDocument } from "./live-models.ts";
import type { Moments } from "./moments.ts";
import { type Api, type Asked, numberOf, placeOf, ROLLOUT } from "./places.ts";
import { seenBy } from "./sight.ts";

/** Clocks differ a little: what lies ahead by no more than this is now. */
const AHEAD_MS = 60_000;
/** With a time zone: nobody knows in whose the others are. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const NO_TIME = "at is a time that has passed, such as 2026-11-21T09:00:00Z";

interface Parts {
  moments: Moments;
  models: Pick<LiveModels, "repositories" | "sync">;
  clock: WebClock;
}

export function momentRoutes(app: Hono<Api, BlankSchema, string>, parts: Parts): void {
  const { moments, clock } = parts;
  const seen = seenBelow(parts);

  /** Answers what was then; what is not asked for as of a moment is another's. */
  function whereAsked(work: (context: Asked, at: number) => Promise<object | undefined>) {
    return async (context: Asked, next: () => Promise<void>) => {
      const at = momentOf(context, clock);
      if (at === undefined) return await next();
      return await answerAt(context, at, work);
    };
  }

  const orNow = (work: (context: Asked, at: number) => Promise<object | undefined>) => (context: Asked) =>
    answerAt(context, momentOf(context, clock) ?? clock.now(), work);

  app.get(
    "/fleet",
    whereAsked(async (context, at) => moments.fleet(at, await seen(context), context.get("viewer").seesAll)),
  );
  app.get(ROLLOUT, whereAsked(ofPlace((place, at) => moments.run(place, undefined, at))));
  app.get(
    `${ROLLOUT}/runs/:number`,
    whereAsked(ofPlace(async (place, at, number) => (number === undefined ? undefined : await moments.run(place, number, at)))),
  );
  app.get(
    "/versions",
    orNow(async (context, at) => moments.versions(at, await seen(context))),
  );
  app.get(`${ROLLOUT}/versions`, orNow(ofPlace((place, at) => moments.ofRollout(place, at))));
}

export function planRoutes(app: Hono<Api, BlankSchema, string>, line: EventLine, models: Pick<LiveModels, "plan">): void {
  app.get(`${ROLLOUT}/pulls/:number`, async (context) => {
    const place = await placeOf(context);
    const number = numberOf(context.req.param("number"));
    // Read before it is looked up: what changes meanwhile comes as an event of the fleet.
    context.header("Stagecoach-Sequence", line.idOf(FLEET));
    const found = place && number && models.plan(releaseKey(place.repository, number, place.rollout));
    return found ? answer(context, writeDocument(found)) : problem(context, "NOT_FOUND");
  });
}

/** The moment that is asked for; "bad": it is none. */
function momentOf(context: Asked, clock: WebClock): number | "bad" | undefined {
  const text = context.req.query("at");
  if (text === undefined) return undefined;
  const at = TIME.test(text) ? epoch(text) : Number.NaN;
  return Number.isFinite(at) && at <= clock.now() + AHEAD_MS ? Math.min(at, clock.now()) : "bad";
}

async function answerAt(
  context: Asked,
  at: number | "bad",
  work: (context: Asked, at: number) => Promise<object | undefined>,
): Promise<Response> {
  if (at === "bad") return problem(context, "BAD_REQUEST", NO_TIME);
  const found = await work(context, at);
  return found === undefined ? problem(context, "NOT_FOUND") : answer(context, writeDocument(found));
}

type Place = NonNullable<Awaited<ReturnType<typeof placeOf>>>;

function ofPlace(work: (place: Place, at: number, number: number | undefined) => Promise<object | undefined>) {
  return async (context: Asked, at: number) => {
    const place = await placeOf(context);
    return place && (await work(place, at, numberOf(context.req.param("number"))));
  };
}

/** The repositories that have anything to show to whoever asks. */
function seenBelow({ models }: Pick<Parts, "models">) {
  return async (context: Asked): Promise<string[]> => {
    const viewer = context.get("viewer");
    models.sync();
    const all = models.repositories();
    if (viewer.seesAll) return all;
    const theirs = await seenBy(viewer, all);
    return all.filter((repository) => theirs.has(repository.toLowerCase()));
  };
}
