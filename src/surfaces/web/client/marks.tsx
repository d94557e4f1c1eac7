/** Shape and colour of each state: the shape alone tells it as well. */
import { stateLabel, stateWord } from "../../../core/report/model/labels.ts";
import type { ModelNode, State, Tone } from "../../../core/report/model/types.ts";

type Shape = "ring" | "half" | "full" | "tick" | "cross" | "dash" | "loop" | "bars" | "alert";

const SHAPES: Readonly<Partial<Record<State, Shape>>> = {
  Merged: "half",
  Merging: "half",
  Syncing: "half",
  Progressing: "half",
  Running: "half",
  Healthy: "full",
  Passed: "tick",
  Succeeded: "tick",
  Failed: "cross",
  Error: "cross",
  Degraded: "cross",
  Aborted: "dash",
  Requeued: "loop",
  RollingBack: "loop",
  RolledBack: "loop",
  Skipped: "dash",
  Done: "alert",
  Unseen: "alert",
  Paused: "bars",
  Waiting: "bars",
  Held: "bars",
};

function Drawing({ shape }: { shape: Shape }) {
  const line = { fill: "none", stroke: "currentColor" };
  if (shape === "full") return <circle cx="6" cy="6" r="5" fill="currentColor" />;
  if (shape === "tick") return <path d="M1.5 6.5 4.7 9.6 10.5 2.6" {...line} stroke-width="2" />;
  if (shape === "cross") return <path d="M2 2 10 10M10 2 2 10" {...line} stroke-width="2.4" />;
  if (shape === "dash") return <path d="M2 6h8" {...line} stroke-width="2" />;
  if (shape === "loop") return <path d="M10 6a4 4 0 1 1-1.3-3M9 .8v2.6H6.4" {...line} stroke-width="1.6" />;
  if (shape === "alert") return <path d="M6 1.4 11 10.6H1zM6 4.8v2.6M6 8.6v.9" {...line} stroke-width="1.3" stroke-linejoin="round" />;
  if (shape === "bars") return <path d="M4 2v8M8 2v8" {...line} stroke-width="2" />;
  return (
    <>
      <circle cx="6" cy="6" r="4.5" {...line} stroke-width="1.6" />
      {shape === "half" ? <path d="M6 1.5a4.5 4.5 0 0 1 0 9z" fill="currentColor" /> : null}
    </>
  );
}

type Marked = Pick<ModelNode, "state" | "tone" | "when">;

function shapeOf({ state, when }: Marked): Shape {
  return state === "Healthy" && when === "past" ? "tick" : (SHAPES[state] ?? "ring");
}

export function Mark({ of }: { of: Marked }) {
  return (
    <svg viewBox="0 0 12 12" class={`mark ${toneClass(of.tone)}`} aria-hidden="true">
      <Drawing shape={shapeOf(of)} />
    </svg>
  );
}

export function toneClass(tone: Tone): string {
  return `t-${tone}`;
}

/** `word`: instead of that of its state. */
export function Badge({ of, word = stateWord(of) }: { of: Marked & Pick<ModelNode, "waitsOn">; word?: string }) {
  return (
    <span class={`badge ${toneClass(of.tone)}`}>
      <Mark of={of} />
      {word}
    </span>
  );
}

const LEGEND: readonly [Marked, string?][] = [
  [{ state: "ToCome", tone: "dim", when: "later" }],
  [{ state: "Open", tone: "busy", when: "now" }],
  [{ state: "Syncing", tone: "busy", when: "now" }],
  [{ state: "Healthy", tone: "good", when: "now" }, "Healthy, still being checked"],
  [{ state: "Healthy", tone: "good", when: "past" }],
  [{ state: "Failed", tone: "bad", when: "now" }],
  [{ state: "Requeued", tone: "warn", when: "now" }],
  [{ state: "Skipped", tone: "dim", when: "past" }],
  [{ state: "Done", tone: "warn", when: "past" }, "Done, but not all of it is healthy"],
];

export function Legend() {
  return (
    <ul class="legend" aria-label="What the shapes mean">
      {LEGEND.map(([of, label]) => (
        <li key={label ?? of.state}>
          <Mark of={of} />
          {label ?? stateLabel(of.state)}
        </li>
      ))}
    </ul>
  );
}
