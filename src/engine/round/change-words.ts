/** What a commit of the journal says of itself: its subject, and the trailers that tools read. */
import { defined } from "../../core/base/defined.ts";
import type { Words } from "../../core/base/reason.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Decision } from "./decide.ts";

const MOST_SUBJECT = 150;

/** `events` in the order they came in. */
export function changeWords(
  events: readonly string[],
  runs: ReadonlyMap<string, Run>,
  decisions: readonly Decision[],
  deliveries: readonly string[],
) {
  return { subject: subjectOf(events, runs), trailers: trailersOf(events, runs, decisions, deliveries) };
}

/** One event of a run, as it stands in a subject. */
export function eventText(rollout: string, number: number | undefined, event: Words, run: Run | undefined): string {
  return `${rollout}${number === undefined ? "" : ` #${number}`}: ${sentenceOf(event, run)}`;
}

function subjectOf(events: readonly string[], runs: ReadonlyMap<string, Run>): string {
  const now = () => [...runs.values()].map((run) => eventText(run.rollout, run.number, run.why, run)).join("; ");
  const first = events[0] ?? now().slice(0, MOST_SUBJECT);
  return events.length > 1 ? `${first} (and ${events.length - 1} more)` : first;
}

function trailersOf(
  events: readonly string[],
  runs: ReadonlyMap<string, Run>,
  decisions: readonly Decision[],
  deliveries: readonly string[],
) {
  const handled = decisions.flatMap(({ before, advanced }) => advanced.run.commands.slice(before.commands.length));
  const actors = [...new Set(handled.map(({ actor }) => actor))].join(" ");
  return defined({
    "Stagecoach-Run": [...runs.values()].map((run) => `${run.rollout}/${run.number}`).join(" "),
    "Stagecoach-Event": events.join("; ").slice(0, 2000),
    "Stagecoach-Actor": actors === "" ? undefined : actors,
    "Stagecoach-Delivery": deliveries.length === 0 ? undefined : deliveries.join(" "),
  });
}
