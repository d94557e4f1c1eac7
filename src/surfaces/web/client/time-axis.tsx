/**
 * When each stage was under way, and when the rest is expected: half of what went before was faster than the first mark, nine of ten than the
 * second. A long time in which nothing happened is drawn short, with its length, so that everything else keeps its room.
 */
import { scaleLinear } from "d3-scale";
import { useContext } from "preact/hooks";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { countsText } from "./parts.tsx";
import { WayToNow } from "./route.tsx";
import { clockOf, dayOf, span, useNow } from "./times.tsx";

/** What a stage was doing, in epoch milliseconds. `open`: its pull request waited to be merged; `part`, `dim`: some of it, or all, was left out or failed. */
interface Part {
  from: number;
  to: number;
  tone: "good" | "part" | "dim" | "busy" | "warn" | "bad" | "open";
}

/** Epoch milliseconds. `likely`, `slow`: when it ends, as it is expected. */
interface Lane {
  name: string;
  parts: Part[];
  from: number | undefined;
  to: number | undefined;
  begins: number | undefined;
  likely: number | undefined;
  slow: number | undefined;
  /** How its clusters stand, where that is not all there is to expect. */
  counts: string;
}

export function TimeAxis({ of }: { of: RunDocument }) {
  const now = useNow();
  const isThen = useContext(WayToNow) !== undefined;
  // What was expected then is known better by now.
  const lanes = lanesOf(of, now).map((lane) => (isThen ? { ...lane, begins: undefined, likely: undefined, slow: undefined } : lane));
  if (lanes.every(({ from }) => from === undefined)) return null;
  const isStill = of.endedAt !== undefined || isThen;
  const { place, breaks, labels } = axisOf(timesOf(of, lanes, now));
  const width = (from: number, to: number) => ({ left: `${place(from)}%`, width: `${Math.max(0, place(to) - place(from))}%` });
  return (
    <section class="axis" aria-label="When">
      {lanes.map((lane) => (
        <div class="lane" key={lane.name}>
          <span>{lane.name}</span>
          <div class="track" role="img" aria-label={`${lane.name}: ${laneText(lane, now)}`} title={laneText(lane, now)}>
            {lane.begins === undefined || lane.slow === undefined ? null : <i class="slow" style={width(lane.begins, lane.slow)} />}
            {lane.begins === undefined || lane.likely === undefined ? null : <i class="likely" style={width(lane.begins, lane.likely)} />}
            {lane.parts.map(({ from, to, tone }) => (
              <i key={`${tone} ${from}`} class={`b-${tone}`} style={width(from, to)} />
            ))}
            {breaks.map(({ from, to }) => (
              <i key={from} class="break" style={{ left: `${(place(from) + place(to)) / 2}%` }} />
            ))}
            {isStill ? null : <i class="now" style={{ left: `${place(now)}%` }} />}
          </div>
        </div>
      ))}
      <div class="lane ends" aria-hidden="true">
        <span class="quiet">{dayIn(labels, now)}</span>
        <p class="quiet">
          {labels.map(({ at, text }, index) => (
            <span key={at} style={{ left: `${place(at)}%` }} class={place(at) > 90 ? "last" : place(at) < 10 ? "first" : ""}>
              {text ?? (isStill || at !== now ? labelOf(at, labels[index - 1]?.at ?? labels[0]?.at ?? at) : "now")}
            </span>
          ))}
        </p>
      </div>
    </section>
  );
}

/** The day is written once, where it is not today's. */
function dayIn(labels: readonly { at: number }[], now: number): string {
  const [day, today] = [labels[0]?.at ?? now, now].map(dayOf);
  return day === undefined || day === today ? "UTC" : day;
}

/** `14:10`, with its day where that is another than of the one before it. */
function labelOf(at: number, before: number): string {
  const [day, clock] = [dayOf(at), new Date(at).toISOString().slice(11, 16)];
  return day === dayOf(before) ? clock : `${day.slice(5)} ${clock}`;
}

/** Every moment at which something began or ended. */
function timesOf(of: RunDocument, lanes: readonly Lane[], now: number): number[] {
  const known = lanes.flatMap(({ parts, begins, likely, slow }) => [
    ...parts.flatMap(({ from, to }) => [from, to]),
    ...[begins, likely, slow].filter((time) => time !== undefined),
  ]);
  return [...known, Date.parse(of.startedAt), of.endedAt === undefined ? now : Date.parse(of.endedAt)];
}

/** A gap longer than so many times all that is shorter together is drawn as if it were no more than that. */
const LONGEST_GAP = 1.5;
const SHORTEST_BREAK_MS = 1_800_000;
const MOST_BREAKS = 3;
/** In percent of the width: closer together than this their words would run into each other. */
const ROOM = 14;

/** Where a moment stands, in percent. `breaks`: where time is drawn short. `labels`: what to write below. */
export function axisOf(times: readonly number[]) {
  const at = [...new Set(times)].sort((a, b) => a - b);
  const gaps = at.slice(1).map((time, index) => ({ from: at[index] ?? time, to: time, drawn: time - (at[index] ?? time) }));
  const longest = gaps.toSorted((a, b) => b.drawn - a.drawn);
  const sumBelow = (rank: number) => longest.slice(rank + 1).reduce((sum, { drawn }) => sum + drawn, 0);
  const isBreak = (rank: number) =>
    rank < longest.length - 2 && (longest[rank]?.drawn ?? 0) > Math.max(SHORTEST_BREAK_MS, LONGEST_GAP * sumBelow(rank));
  const ranks = Array.from({ length: MOST_BREAKS }, (_, rank) => rank);
  const many = ranks.filter((rank) => ranks.slice(0, rank + 1).every(isBreak));
  for (const rank of many.toReversed()) {
    const gap = longest[rank];
    if (gap !== undefined) gap.drawn = LONGEST_GAP * sumBelow(rank);
  }
  const whole = sumBelow(-1) || 1;
  const places = [0];
  for (const { drawn } of gaps) places.push((places.at(-1) ?? 0) + (100 * drawn) / whole);
  const scale = scaleLinear().domain(at).range(places).clamp(true);
  const place = (time: number) => (at.length < 2 ? 0 : scale(time));
  const breaks = gaps.filter(({ from, to, drawn }) => to - from > 2 * drawn);
  return { place, breaks, labels: labelsOf(at, breaks, place) };
}

/** The first and the last always; between them how long each break is, then what else has room. */
function labelsOf(at: readonly number[], breaks: readonly { from: number; to: number }[], place: (time: number) => number) {
  const labels: { at: number; text?: string }[] = [];
  const add = (label: { at: number; text?: string }) => {
    const isNear = (other: { at: number }) =>
      Math.abs(place(other.at) - place(label.at)) < ROOM || minuteOf(other.at) === minuteOf(label.at);
    if (!labels.some(isNear)) labels.push(label);
  };
  for (const end of [at.at(-1), at[0]]) if (end !== undefined) add({ at: end });
  for (const { from, to } of breaks) add({ at: (from + to) / 2, text: span(to - from) });
  for (const time of at) add({ at: time });
  return labels.sort((a, b) => a.at - b.at);
}

function minuteOf(time: number): number {
  return Math.floor(time / 60_000);
}

/** A stage that is to come begins when the one before it is expected to be done. */
export function lanesOf(of: RunDocument, now: number): Lane[] {
  let before = now;
  return of.children.map((stage) => {
    const parts = partsOf(of, stage, now);
    const [likely, slow] = [stage.eta?.p50, stage.eta?.p90].map((time) => (time === undefined ? undefined : Date.parse(time)));
    const begins = likely === undefined ? undefined : Math.max(now, before);
    before = likely ?? before;
    const isOn = stage.when === "now" && of.endedAt === undefined;
    const [from, to] = [parts.map((part) => part.from), parts.map((part) => part.to)];
    return {
      ...{ name: stage.name, parts, begins, likely, slow },
      counts:
        stage.when === "past" && stage.counts !== undefined && stage.state !== "Healthy"
          ? countsText({ counts: stage.counts, targetBy: of.targetBy })
          : "",
      from: from.length === 0 ? undefined : Math.min(...from),
      to: to.length === 0 || isOn ? undefined : Math.max(...to),
    };
  });
}

/** Each batch, open and then on its way; where the stage waits for somebody, that on top of them. */
function partsOf(of: RunDocument, stage: ModelNode, now: number): Part[] {
  const isOn = stage.when === "now" && of.endedAt === undefined;
  const end = of.endedAt === undefined ? now : Date.parse(of.endedAt);
  const parts = stage.children.flatMap(({ passed, tone, state }): Part[] => {
    const { openedAt, mergedAt, doneAt } = passed ?? {};
    const [opened, merged, done] = [openedAt, mergedAt, doneAt].map((time) => (time === undefined ? undefined : Date.parse(time)));
    const until = done ?? (tone === "bad" || isOn ? end : undefined);
    return [
      ...(opened === undefined ? [] : [{ from: opened, to: merged ?? done ?? end, tone: "open" as const }]),
      ...(merged === undefined ? [] : [{ from: merged, to: until ?? merged, tone: toneOf({ tone, state }, done) }]),
    ];
  });
  const waits = isOn && stage.tone === "warn" && stage.since !== undefined && parts.length > 0 ? Date.parse(stage.since) : undefined;
  // What waited is drawn below what went on meanwhile.
  const drawn = parts.toSorted((a, b) => Number(b.tone === "open") - Number(a.tone === "open"));
  return waits === undefined ? drawn : [...drawn, { from: Math.min(waits, now), to: now, tone: "warn" }];
}

function toneOf({ tone, state }: Pick<ModelNode, "tone" | "state">, done: number | undefined): Part["tone"] {
  if (tone === "bad") return "bad";
  if (done === undefined) return "busy";
  return state === "Skipped" || state === "Closed" ? "dim" : state === "Done" ? "part" : "good";
}

function laneText({ from, to, likely, slow, counts }: Lane, now: number): string {
  const at = (ms: number) => clockOf(new Date(ms).toISOString(), now);
  const was = from === undefined ? "" : `from ${at(from)}${to === undefined ? ", under way" : ` to ${at(to)}, ${span(to - from)}`}`;
  const comes =
    likely === undefined
      ? ""
      : `done about ${at(likely)}${slow === undefined || at(slow) === at(likely) ? "" : `, where it is slow at ${at(slow)}`}`;
  return [was, counts, comes].filter((part) => part !== "").join("; ") || "not known yet";
}
