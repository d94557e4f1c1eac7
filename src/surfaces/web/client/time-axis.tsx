/** When each stage was under way, and when the rest is expected: half of what went before was faster than the first mark, nine of ten than the second. */
import type { RunDocument } from "../../../core/report/model/run-schema.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { clockOf, span, useNow } from "./times.tsx";

/** Epoch milliseconds. `likely`, `slow`: when it ends, as it is expected. */
interface Lane {
  name: string;
  from: number | undefined;
  to: number | undefined;
  begins: number | undefined;
  likely: number | undefined;
  slow: number | undefined;
  tone: string;
}

export function TimeAxis({ of }: { of: RunDocument }) {
  const now = useNow();
  const lanes = lanesOf(of, now);
  const start = Date.parse(of.startedAt);
  const end = Math.max(...lanes.flatMap(({ to, slow }) => [to ?? start, slow ?? start]), of.endedAt === undefined ? now : start);
  if (end <= start || lanes.every(({ from }) => from === undefined)) return null;
  const place = (ms: number) => `${(100 * (Math.min(Math.max(ms, start), end) - start)) / (end - start)}%`;
  const width = (from: number, to: number) => ({ left: place(from), width: `calc(${place(to)} - ${place(from)})` });
  return (
    <section class="axis" aria-label="When">
      {lanes.map((lane) => (
        <div class="lane" key={lane.name}>
          <span>{lane.name}</span>
          <div class="track" role="img" aria-label={`${lane.name}: ${laneText(lane, now)}`} title={laneText(lane, now)}>
            {lane.begins === undefined || lane.slow === undefined ? null : <i class="slow" style={width(lane.begins, lane.slow)} />}
            {lane.begins === undefined || lane.likely === undefined ? null : <i class="likely" style={width(lane.begins, lane.likely)} />}
            {lane.from === undefined ? null : <i class={`was b-${lane.tone}`} style={width(lane.from, lane.to ?? now)} />}
            {of.endedAt === undefined ? <i class="now" style={{ left: place(now) }} /> : null}
          </div>
        </div>
      ))}
      <p class="quiet lane-ends">
        <span>{clockOf(of.startedAt, now)}</span>
        <span>{clockOf(new Date(end).toISOString(), now)}</span>
      </p>
    </section>
  );
}

/** A stage that is to come begins when the one before it is expected to be done. */
export function lanesOf(of: RunDocument, now: number): Lane[] {
  let before = now;
  return of.children.map((stage) => {
    const { from, to } = wasOf(stage);
    const [likely, slow] = [stage.eta?.p50, stage.eta?.p90].map((time) => (time === undefined ? undefined : Date.parse(time)));
    const begins = likely === undefined ? undefined : Math.max(now, before);
    before = likely ?? before;
    const tone = (stage.counts?.failed ?? 0) > 0 ? "bad" : stage.when === "past" ? "good" : "busy";
    return { name: stage.name, from, to: stage.when === "now" && of.endedAt === undefined ? undefined : to, begins, likely, slow, tone };
  });
}

function wasOf(stage: ModelNode): { from: number | undefined; to: number | undefined } {
  const passed = stage.children.flatMap((batch) => batch.passed ?? []);
  const times = passed.flatMap(({ openedAt, mergedAt, doneAt }) => [openedAt, mergedAt, doneAt].flatMap((time) => time ?? []));
  const all = times.map((time) => Date.parse(time));
  return all.length === 0 ? { from: undefined, to: undefined } : { from: Math.min(...all), to: Math.max(...all) };
}

function laneText({ from, to, likely, slow }: Lane, now: number): string {
  const at = (ms: number) => clockOf(new Date(ms).toISOString(), now);
  const was = from === undefined ? "" : `from ${at(from)}${to === undefined ? ", under way" : ` to ${at(to)}, ${span(to - from)}`}`;
  const comes =
    likely === undefined
      ? ""
      : `done about ${at(likely)}${slow === undefined || slow === likely ? "" : `, where it is slow at ${at(slow)}`}`;
  return [was, comes].filter((part) => part !== "").join("; ") || "not known yet";
}
