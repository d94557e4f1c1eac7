/** What an analysis measured over time, a chart for each metric, with what is allowed: what lies beyond it is shaded, what failed is a cross. */
import { scaleLinear } from "d3-scale";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { toneClass } from "./marks.tsx";
import { clockOf, useNow } from "./times.tsx";

type Metric = NonNullable<ModelNode["metrics"]>[number];

const [WIDTH, HEIGHT, EDGE] = [260, 84, 8];

export function Charts({ of }: { of: readonly Metric[] }) {
  const now = useNow();
  return of.map((metric) => <Chart key={metric.name} of={metric} now={now} />);
}

function Chart({ of, now }: { of: Metric; now: number }) {
  const { name, limit, points, least, most } = of;
  const { x, y, low, high } = scalesOf(of);
  const last = points.at(-1);
  const clock = (at: string | undefined) => (at === undefined ? "" : clockOf(at, now));
  return (
    <figure class="chart">
      <figcaption>
        <b>{name}</b> {last === undefined ? "" : shownValue(last.value)}
        <span class="quiet">{limit === "" ? "" : ` · ${limit}`}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={chartText(of, now)}>
        {most === undefined ? null : <rect class="beyond" x="0" width={WIDTH} y="0" height={Math.max(0, y(most))} />}
        {least === undefined ? null : <rect class="beyond" x="0" width={WIDTH} y={y(least)} height={Math.max(0, HEIGHT - y(least))} />}
        {[least, most].map((bound) =>
          bound === undefined ? null : <line key={bound} class="bound" x1="0" x2={WIDTH} y1={y(bound)} y2={y(bound)} />,
        )}
        <polyline class="values" points={points.map(({ at, value }) => `${x(Date.parse(at))},${y(value)}`).join(" ")} />
        {points.map(({ at, value, phase }) => (
          <g key={at} class={toneClass(toneOf(phase))} transform={`translate(${x(Date.parse(at))} ${y(value)})`}>
            <title>{`${clock(at)}: ${shownValue(value)}, ${phase}`}</title>
            {phase === "Failed" ? (
              <path d="M-4-4 4 4M4-4-4 4" stroke="currentColor" stroke-width="2" />
            ) : (
              <circle r="3" fill="currentColor" />
            )}
          </g>
        ))}
      </svg>
      <p class="quiet">
        <span>{clock(points[0]?.at)}</span>
        <span>{`${shownValue(low)} to ${shownValue(high)}`}</span>
        <span>{points.length > 1 ? clock(last?.at) : ""}</span>
      </p>
    </figure>
  );
}

/** Everything that was measured has its place, and so has what is allowed. */
function scalesOf({ points, least, most }: Metric) {
  const values = [...points.map(({ value }) => value), ...[least, most].filter((bound) => bound !== undefined)];
  const times = points.map(({ at }) => Date.parse(at));
  const [begin, end] = [Math.min(...times), Math.max(...times)];
  const [low = 0, high = 1] = scaleLinear()
    .domain([Math.min(...values), Math.max(...values)])
    .nice(4)
    .domain();
  const x = scaleLinear()
    .domain([begin, end > begin ? end : begin + 1])
    .range([EDGE, WIDTH - EDGE]);
  const y = scaleLinear()
    .domain([low, high > low ? high : low + 1])
    .range([HEIGHT - EDGE, EDGE]);
  return { x, y, low, high };
}

function toneOf(phase: string): ModelNode["tone"] {
  if (phase === "Successful") return "good";
  return phase === "Failed" ? "bad" : "warn";
}

/** Four figures are as many as anybody reads. */
function shownValue(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function chartText({ name, limit, points }: Metric, now: number): string {
  const values = points.map(({ at, value, phase }) => `${shownValue(value)} at ${clockOf(at, now)}${phase === "Failed" ? ", failed" : ""}`);
  return `${name}${limit === "" ? "" : `, ${limit}`}: ${values.join("; ")}`;
}
