/** The read API, `/api/v1`: what the page draws, for programs too. Nothing here decides anything. */
import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { rolloutKey } from "../../../core/report/model/fleet.ts";
import type { WebClock, WebSource } from "../source.ts";
import { answer, JSON_HEADERS, problem } from "./answers.ts";
import { anonymousOf, openAskers } from "./askers.ts";
import { type Commands, limitedBody, openCommands } from "./commands.ts";
import type { Me } from "./documents.ts";
import { EventLine, FLEET } from "./event-line.ts";
import { JournalUnread, openRunHistory, type RunHistories } from "./history.ts";
import { Listening } from "./listening.ts";
import { LiveModels, writeDocument } from "./live-models.ts";
import { momentRoutes, planRoutes } from "./moment-routes.ts";
import { Moments } from "./moments.ts";
import { OPENAPI_PATH, openApiDocument } from "./openapi.ts";
import { isFromOwnPage } from "./own-page.ts";
import { type Api, type Asked, numberOf, placeOf, ROLLOUT } from "./places.ts";
import { fleetSeen, seenBy, sightOfFleet, sightOfOne } from "./sight.ts";
import { Denied, NOBODY, openViewers } from "./viewers.ts";

export const API_PATH = "/api/v1";

const MOST_RUNS = 100;
const LONGEST_ADDRESS = 2_000;
const COMMANDS = /\/runs\/[^/]+\/commands$/;
const ME = `${API_PATH}/me`;
const OF_GITHUB = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;

export function apiApp(source: WebSource, clock: WebClock): Hono<Api> {
  const app = new Hono<Api>().basePath(API_PATH);
  const line = new EventLine(randomBytes(6).toString("hex"));
  const models = new LiveModels(source, clock, line);
  guard(app, source, clock);
  planRoutes(app, line, models);
  momentRoutes(app, { moments: new Moments(source, clock, models), models, clock });
  nowRoutes(app, line, models);
  const history = openRunHistory(source, clock, models);
  runRoute(app, { line, models, history });
  pastRoutes(app, history);
  meRoute(app, source);
  actRoutes(app, openCommands(source, clock, models));
  const description = writeDocument(openApiDocument());
  app.get(OPENAPI_PATH, (context) => answer(context, description));
  const lines = new Listening(source, clock, { line, models });
  app.get("/events", async (context) => {
    const viewer = context.get("viewer");
    const rollout = context.req.query("rollout");
    if (rollout === undefined) return lines.listen(context, FLEET, viewer, await sightOfFleet(viewer, () => models.repositories()));
    const [, repository, name] = /^([\w.-]{1,100}\/[\w.-]{1,100})\/([^/]+)$/.exec(rollout) ?? [];
    if (repository === undefined || name === undefined) return problem(context, "BAD_REQUEST", "rollout is OWNER/REPOSITORY/NAME");
    const sight = await sightOfOne(viewer, repository);
    return sight === undefined ? problem(context, "NOT_FOUND") : lines.listen(context, rolloutKey(repository, name), viewer, sight);
  });
  return app;
}

function guard(app: Hono<Api>, source: WebSource, clock: WebClock): void {
  const viewerOf = openViewers(source, anonymousOf(source));
  const askerOf = openAskers(source);
  // Not events: each has to be on its way at once.
  app.use(compress({ contentTypeFilter: /^application\/(?:json|jsonl)\b/ }));
  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(JSON_HEADERS)) context.header(name, value);
    const isGiven = context.req.method === "POST" && COMMANDS.test(context.req.path);
    if (!isGiven && context.req.method !== "GET" && context.req.method !== "HEAD") return problem(context, "METHOD_NOT_ALLOWED");
    if (context.req.url.length > LONGEST_ADDRESS) return problem(context, "BAD_REQUEST", "the address is too long");
    const { incoming } = context.env ?? {};
    const authorization = context.req.header("Authorization");
    if (isGiven && authorization === undefined && !(incoming !== undefined && isFromOwnPage(incoming, source.publicUrl)))
      return problem(context, "FORBIDDEN", "without a token, commands are taken from this very page alone");
    const { cookie, ...asker } = await askerOf(authorization, incoming);
    if (cookie !== undefined) context.header("Set-Cookie", cookie);
    try {
      context.set("viewer", viewerOf(asker));
    } catch (error) {
      // That nobody is signed in is an answer, too.
      if (!(context.req.path === ME && error instanceof Denied && error.code === "UNAUTHENTICATED")) throw error;
      context.set("viewer", NOBODY);
      context.set("ended", asker.session !== undefined);
    }
    await source.look?.();
    context.header("Stagecoach-Now", new Date(clock.now()).toISOString());
    context.header("Stagecoach-Speed", String(clock.speed ?? 1));
    return await next();
  });
  app.notFound((context) => problem(context, "NOT_FOUND"));
  app.onError((error, context) => {
    if (error instanceof Denied) return problem(context, error.code);
    if (error instanceof JournalUnread) return problem(context, "UNREADABLE", error.file);
    source.onFault?.(error);
    return problem(context, "FAULT");
  });
}

/** What goes on. */
function nowRoutes(app: Hono<Api>, line: EventLine, models: LiveModels): void {
  app.get("/fleet", async (context) => {
    const viewer = context.get("viewer");
    const whole = models.fleet();
    // Read before anybody is asked: what changes meanwhile comes as an event.
    context.header("Stagecoach-Sequence", line.idOf(FLEET));
    if (viewer.seesAll) return answer(context, whole.written);
    const seen = await seenBy(viewer, models.repositories());
    return answer(context, writeDocument(fleetSeen(whole.document, (repository) => seen.has(repository.toLowerCase()))));
  });
  app.get(ROLLOUT, async (context) => {
    const place = await placeOf(context);
    const found = place && models.rollout(rolloutKey(place.repository, place.rollout));
    if (place === undefined || found === undefined) return problem(context, "NOT_FOUND");
    context.header("Stagecoach-Sequence", line.idOf(rolloutKey(place.repository, place.rollout)));
    return answer(context, found);
  });
}

/** The last run is followed under its own number, too: who was linked to it sees it go on. Any other is the journal's. */
function runRoute(app: Hono<Api>, { line, models, history }: { line: EventLine; models: LiveModels; history: RunHistories }): void {
  app.get(`${ROLLOUT}/runs/:number`, async (context) => {
    const place = await placeOf(context);
    const number = numberOf(context.req.param("number"));
    if (place === undefined || number === undefined) return problem(context, "NOT_FOUND");
    const key = rolloutKey(place.repository, place.rollout);
    const last = models.rollout(key, number);
    if (last !== undefined) context.header("Stagecoach-Sequence", line.idOf(key));
    const found = last ?? (await history.run(place, number));
    return found === undefined ? problem(context, "NOT_FOUND") : answer(context, found);
  });
}

/** What was, from the journal. */
function pastRoutes(app: Hono<Api>, history: RunHistories): void {
  app.get(`${ROLLOUT}/runs`, async (context) => {
    const place = await placeOf(context);
    const before = numberOf(context.req.query("before") ?? String(Number.MAX_SAFE_INTEGER));
    const limit = numberOf(context.req.query("limit") ?? "20");
    if (before === undefined || limit === undefined) return problem(context, "BAD_REQUEST", "before and limit are numbers from 1");
    const found = place && (await history.runs(place, { before, limit: Math.min(limit, MOST_RUNS) }));
    return found === undefined ? problem(context, "NOT_FOUND") : answer(context, writeDocument(found));
  });
  app.get(`${ROLLOUT}/runs/:number/targets/:plane/:namespace/:application`, async (context) => {
    const place = await placeOf(context);
    const { plane, namespace, application } = context.req.param();
    const number = numberOf(context.req.param("number"));
    const found = place && number && (await history.evidence(place, number, [plane, namespace, application].join("/")));
    return found ? answer(context, writeDocument(found)) : problem(context, "NOT_FOUND");
  });
  app.get(`${ROLLOUT}/runs/:number/events`, async (context) => {
    const place = await placeOf(context);
    const number = numberOf(context.req.param("number"));
    const found = place && number && (await history.events(place, number));
    if (!found) return problem(context, "NOT_FOUND");
    const whole = writeDocument(found);
    if (!wantsLines(context)) return answer(context, whole);
    const lines = found.items.map((one) => `${JSON.stringify(one)}\n`).join("");
    return answer(context, { text: lines, etag: whole.etag.replace(/"$/, '-lines"') }, "application/jsonl");
  });
}

/** Who asks. */
function meRoute(app: Hono<Api>, { login }: WebSource): void {
  app.get("/me", async (context) => {
    const { person, permission, sees, name } = context.get("viewer");
    const repository = context.req.query("repository");
    if (repository !== undefined && !OF_GITHUB.test(repository)) return problem(context, "BAD_REQUEST", "repository is OWNER/REPOSITORY");
    const isSeen = repository !== undefined && person !== undefined && (await sees(repository));
    const me: Me = {
      ...{ login: await person?.login(), name, permission: isSeen ? await permission?.(repository) : undefined },
      signIn: login?.placeOf(context.env?.incoming?.headers.host) !== undefined,
      ended: context.get("ended") || undefined,
    };
    return answer(context, writeDocument(me));
  });
}

/** What people comment. */
function actRoutes(app: Hono<Api>, give: Commands): void {
  app.post(`${ROLLOUT}/runs/:number/commands`, limitedBody, async (context) => {
    const place = await placeOf(context);
    const number = numberOf(context.req.param("number"));
    if (place === undefined || number === undefined) return problem(context, "NOT_FOUND");
    return await give(context, { ...place, number }, context.get("viewer"));
  });
}

function wantsLines(context: Asked): boolean {
  return context.req.query("format") === "jsonl" || context.req.header("Accept")?.includes("application/jsonl") === true;
}
