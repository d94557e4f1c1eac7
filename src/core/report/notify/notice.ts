/**
 * What people are told of a run, of a refused release or of many things at once: plain texts, as whatever came from outside stands in them, so
 * each service escapes them its own way (`slack.ts`, `teams.ts`, `mail.ts`, `cloud-event.ts`). Kept on disk until it is sent.
 */
import { z } from "zod";
import type { Run } from "../../run/state/run.ts";
import type { NotifyEventName } from "../../spec/notifications.ts";
import { countedWord, countedWords } from "../counted.ts";
import type { Context } from "../model/context.ts";
import { stateWord } from "../model/labels.ts";
import type { RefusedModel } from "../model/refused.ts";
import { modelOf } from "../model/run-model.ts";
import type { RunModel, Said } from "../model/types.ts";
import { isToldIn, wholeSentence, withoutMarks } from "../reasons/say.ts";
import { type NotifyEvent, notifyEvent } from "./events.ts";

const line = z.string().max(2000);

const shown = {
  title: z.string().max(300),
  tone: z.enum(["good", "busy", "warn", "bad", "dim"]),
  lines: z.array(line).max(40),
  links: z.array(z.object({ name: z.string().max(100), url: z.string().max(2000) })).max(10),
};

/** How a run stands: the message that is kept up to date. */
const runCard = z.object({ ...shown, startedAt: z.string().max(40) });

export type RunCard = z.output<typeof runCard>;

export const noticeSchema = z.object({
  ...shown,
  /** Of what happened last; the same however often it is sent. */
  id: z.string().max(500),
  repository: z.string().max(300),
  /** `https://github.com/acme/fleet` */
  source: z.string().max(1000),
  events: z.array(notifyEvent).max(600),
  /** Absent: of no run, or of many. */
  run: z.object({ rollout: z.string().max(300), number: z.int(), release: z.record(z.string(), z.string()), card: runCard }).optional(),
  /** Of a digest: how many messages it stands for. */
  stands: z.int().optional(),
});

export type Notice = z.output<typeof noticeSchema>;

interface NoticeOf {
  repository: string;
  source: string;
}

const LONGEST_LINE = 600;
const LONGEST_TITLE = 200;
const MOST_IN_DIGEST = 15;

/** What is to be done stands before what has happened. */
const WEIGHT: readonly NotifyEventName[] = ["needs-you", "rolled-back", "failed", "ended", "refused", "freeze", "resumed", "run.started"];

export function runNotice(
  of: NoticeOf,
  run: Run,
  events: readonly NotifyEvent[],
  now: number,
  given: Partial<Pick<Context, "page">> = {},
): Notice {
  const model = modelOf(run, now, given);
  const { rollout, number, release } = run;
  const name = `${rollout} #${number}`;
  const gravest = WEIGHT.find((event) => events.some((one) => one.event === event)) ?? "run.started";
  const card = cardOf(model, run);
  const { tone, lines, links } = card;
  return {
    ...of,
    ...{ tone, lines, links },
    title: shortened(`${name} ${HEADLINES[gravest](model)}`, LONGEST_TITLE),
    id: events.at(-1)?.id ?? name,
    events: [...events],
    run: { rollout, number, release: release.values, card },
  };
}

const HEADLINES: Readonly<Record<NotifyEventName, (model: RunModel) => string>> = {
  "run.started": ({ release, of }) => (of === undefined ? `has begun: ${release}` : `has begun to put back what run #${of} moved`),
  "needs-you": () => "waits for you",
  failed: ({ endedAt, counts: { failed }, targetBy }) =>
    endedAt !== undefined
      ? "has failed"
      : failed === 0
        ? "has a check that failed"
        : `has ${failed} failed ${failed === 1 ? countedWord({ targetBy }) : countedWords({ targetBy })}`,
  resumed: () => "goes on",
  "rolled-back": () => "has put the old values back",
  ended: (model) => `has ended: ${stateWord(model)}`,
  refused: () => "starts no run",
  freeze: () => "is held by a freeze or a halt",
};

export function runCardOf(run: Run, now: number, given: Partial<Pick<Context, "page">> = {}): RunCard {
  return cardOf(modelOf(run, now, given), run);
}

function cardOf(model: RunModel, run: Run): RunCard {
  const { counts, reason, pause, ask, cause, tone, links, author, startedAt } = model;
  const said: (Said["reason"] | undefined)[] = [reason, pause?.reason, ask?.reason];
  const lines = said.flatMap((one) => (one === undefined ? [] : [shortened(withoutMarks(wholeSentence(one, run)), LONGEST_LINE)]));
  const because = cause === undefined || cause.says === "" ? [] : [shortened(`${cause.name}: ${cause.says}`, LONGEST_LINE)];
  return {
    title: shortened(`${model.rollout} #${model.number} · ${model.release} · ${stateWord(model)}`, LONGEST_TITLE),
    tone,
    lines: [
      ...eachOnce([...lines.slice(0, 1), ...because, ...lines.slice(1)]),
      `${counts.healthy} of ${counts.clusters} ${countedWords(model)} are healthy at the release. Released by ${shortened(author, 100)}.`,
    ],
    links: linksOf(links),
    startedAt,
  };
}

function eachOnce(lines: readonly string[]): string[] {
  return lines.filter((one, at) => one !== "" && !lines.slice(0, at).some((before) => isToldIn(before, one)));
}

/** Of a release that was merged and starts no run. */
export function refusedNotice(of: NoticeOf, refused: RefusedModel, event: NotifyEvent, url: string | undefined): Notice {
  const { rollout, release, problems, says, waitsFor, pull } = refused;
  const told = problems.slice(0, 5).map((one) => shortened(`${one.where === "" ? "" : `${one.where}: `}${one.says}`, LONGEST_LINE));
  return {
    ...of,
    id: event.id,
    events: [event],
    title: shortened(`${rollout ?? of.repository}: ${release ?? "a release"} starts no run`, LONGEST_TITLE),
    tone: "bad",
    lines: [shortened(`${says}.`, LONGEST_LINE), ...told, waitsFor],
    links: [
      ...(pull === undefined ? [] : [{ name: `#${pull}`, url: `${of.source}/pull/${pull}` }]),
      ...(url === undefined ? [] : [{ name: "page", url }]),
    ],
  };
}

/** Many messages as one. */
export function digestOf(notices: readonly Notice[]): Notice {
  const [first] = notices;
  const last = notices.at(-1);
  if (first === undefined || last === undefined) throw new Error("a digest of nothing");
  const count = notices.reduce((sum, { stands = 1 }) => sum + stands, 0);
  const kinds = Map.groupBy(
    notices.flatMap(({ events }) => events),
    ({ event }) => event,
  );
  const heavy = notices.toSorted((a, b) => weightOf(a) - weightOf(b)).slice(0, MOST_IN_DIGEST);
  const left = count - heavy.reduce((sum, { stands = 1 }) => sum + stands, 0);
  const { repository, source } = last;
  return {
    ...{ repository, source },
    id: `digest/${last.id}`.slice(0, 500),
    events: notices.flatMap(({ events }) => events).slice(-500),
    title: shortened(`${repository}: ${count} things happened`, LONGEST_TITLE),
    tone: kinds.has("failed") || notices.some(({ tone }) => tone === "bad") ? "bad" : "warn",
    lines: [
      [...kinds].map(([kind, all]) => `${all.length} × ${kind}`).join(", "),
      ...heavy.map(({ title }) => title),
      ...(left > 0 ? [`and ${left} more`] : []),
    ],
    links: last.links.slice(0, 2),
    stands: count,
  };
}

function weightOf({ events }: Notice): number {
  const told = new Set<string>(events.map(({ event }) => event));
  const at = WEIGHT.findIndex((event) => told.has(event));
  return at < 0 ? WEIGHT.length : at;
}

/** What `stagecoach notify test` sends. */
export function testNotice(destination: string, now: string): Notice {
  return {
    repository: "stagecoach/test",
    source: "https://example.invalid/stagecoach/test",
    id: `test/${destination}/${now}`,
    events: [{ event: "run.started", id: `test/${destination}/${now}`, at: now }],
    title: "A test of Stagecoach's notifications",
    tone: "good",
    lines: [`Destination ${destination} works. Nothing has happened, and nothing is to be done.`],
    links: [],
  };
}

/** `payments 12`: the messages of one run belong together. */
export function runKey({ repository, run }: Notice): string | undefined {
  return run === undefined ? undefined : `${repository.toLowerCase()} ${run.rollout} ${run.number}`;
}

function linksOf(links: RunModel["links"]): Notice["links"] {
  return links.slice(0, 5).flatMap(({ name, url }) => (isWeb(url) ? [{ name: shortened(name, 100), url }] : []));
}

function isWeb(url: string): boolean {
  return url.length <= 2000 && /^https?:\/\/[^\s<>|"]+$/.test(url);
}

function shortened(text: string, most: number): string {
  const one = text
    .slice(0, 20_000)
    .replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  return one.length > most ? `${one.slice(0, most - 1)}…` : one;
}
