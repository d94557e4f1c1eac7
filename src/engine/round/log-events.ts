/** One line of the log for each thing that happened to a run, with what it is about: for whoever looks at the bot's log alone. */
import { defined } from "../../core/base/defined.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decide.ts";
import type { RefusedRelease } from "./start/refused-releases.ts";
import type { Started } from "./start/started.ts";

/** Names what every line of the log has: which repo, and which deliveries were heard before it. */
interface Of {
  repository: string;
  deliveries: readonly string[];
}

/** Of what began, or was adopted. Called once it is recorded. */
export function logStarted(log: RepoContext["log"], of: Of, { rollout, run, events }: Started): void {
  for (const { run: number, reason } of events)
    log.info({ ...of, rollout, run: number, ...about(reason, run), event: reason.code, said: sentenceOf(reason, run) }, "a run moved on");
}

/** Of what happened, and of each command that was taken or refused. Called once it is recorded. */
export function logDecided(log: RepoContext["log"], of: Of, { before, advanced: { run, events } }: Decision): void {
  const named = { ...of, rollout: run.rollout, run: run.number };
  for (const reason of events)
    log.info({ ...named, ...about(reason, run), event: reason.code, said: sentenceOf(reason, run) }, "a run moved on");
  for (const { text, actor, outcome, message, id } of run.commands.slice(before.commands.length)) {
    const line = outcome === "done" ? "a command was taken" : "a command was refused";
    log.info({ ...named, command: text.slice(0, 200), comment: id, actor, because: message.code, said: sentenceOf(message, run) }, line);
  }
}

/** Of a release that was merged and starts no run. Called once for each. */
export function logRefused(log: RepoContext["log"], of: Of, { pull, commit, problems }: RefusedRelease): void {
  const said = problems.map((problem) => sayProblem(problem).message);
  log.warn({ ...of, pull, commit, problems: said }, "a release was merged, and no run starts from it");
}

/** The batch and the PR that a reason names; of a batch that has one, its PR. */
function about(reason: AnyReason, run: Run | undefined): { batch?: number; pull?: number } {
  const named = reason["pull"];
  const ofPull = typeof named === "number" ? run?.batches.findLast(({ pull }) => pull?.number === named) : undefined;
  const ref = reason["batch"] as { stage?: unknown; number?: unknown } | undefined;
  const byRef = (one: Run["batches"][number]) => one.ofStage === ref?.number && run?.plan.stages[one.stage]?.name === ref?.stage;
  const batch = ofPull ?? (ref === undefined ? undefined : run?.batches.findLast(byRef));
  const found: { batch?: number; pull?: number } = {};
  if (batch !== undefined) found.batch = batch.number;
  const pull = typeof named === "number" ? named : batch?.pull?.number;
  if (pull !== undefined) found.pull = pull;
  return found;
}

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

/** One event of a run, as it stands in a subject: without `#`, which GitHub makes a link to an issue of that number. */
export function eventText(rollout: string, number: number | undefined, event: AnyReason, run: Run | undefined): string {
  return `${rollout}${number === undefined ? "" : ` run ${number}`}: ${sentenceOf(event, run)}`;
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
