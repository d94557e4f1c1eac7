/**
 * What merging a release PR would do, as data that every view may draw: the page and the API. The comment on the PR says the same.
 *
 * Keeps true: whatever a PR holds, what is kept of it is bounded: so many stages, batches, clusters by name, and so long a text. All texts
 * are plain.
 */
import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { mostAtOnce, type Plan, type PlannedBatch, type PlannedStage, type PlannedTarget } from "../../plan/plan-types.ts";
import { valueChanges, valuesOfEdits } from "../../plan/values.ts";
import type { Problem, Warning } from "../../reasons/problems/problem.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { withoutMarkdown } from "../escape.ts";
import { refusedProblems } from "../model/refused.ts";
import type { Planned } from "../model/schema/plan.ts";
import { sayProblem, sayWarning } from "../reasons/problems/problems.ts";
import { plainSentence, withoutMarks } from "../reasons/say.ts";
import { shownValues } from "../values.ts";
import { pinValue, releaseName, shortName } from "../words.ts";
import { durationSentence, type Expected } from "./duration.ts";
import { short } from "./plan-chart.ts";
import { headline, type PlanExtras } from "./plan-comment.ts";
import { ruleLines } from "./plan-rules.ts";
import { gatesOfStages } from "./plan-stages.ts";

const MOST_STAGES = 60;
const MOST_BATCHES = 300;
const MOST_NAMED = 2_000;
const MOST_CHANGES = 10;
const MOST_LISTED = 30;
const LONGEST_NAME = 120;
const LONGEST_TEXT = 1_000;

/** So many clusters may still be named of one PR, whichever rollouts it concerns. */
export interface Room {
  named: number;
  batches: number;
}

export function planRoom(): Room {
  return { named: MOST_NAMED, batches: MOST_BATCHES };
}

/** What a plan's comment is made of, as data. */
export function plannedRelease(
  rollout: Rollout,
  plan: Plan,
  current: string | undefined,
  { extras, room }: { extras: PlanExtras; room: Room },
): Planned {
  const { errors = [], against = [], expected, overlap, rules, warnings = [], toCome } = extras;
  const name = (version: string) => short(isToCome(version, toCome) ? "merge commit" : version, LONGEST_NAME);
  const release = name(releaseName(plan.release.values));
  const stands = [...errors.map((problem) => withoutMarks(sayProblem(problem).message)), ...against.map(plain)];
  const before = [...plan.warnings, ...warnings].filter(holdsRun).map(beforeLine);
  const state = stands.length > 0 ? "Against" : before.length > 0 ? "Warned" : "Planned";
  const stages = plan.stages.slice(0, MOST_STAGES);
  const gates = gatesOfStages(rollout, plan);
  const names = valuesOfEdits(rollout, plan.release);
  return {
    ...{ rollout: plan.rollout, state, says: plain(headline(rollout, plan, false)), release },
    change: defined({ from: current === undefined ? undefined : short(current, LONGEST_NAME), to: release }),
    values: shownValues(valueChanges(rollout, plan)),
    ...{ mode: rollout.mode, planHash: plan.hash, targetBy: plan.targetBy },
    counts: countsOf(plan),
    against: stands.slice(0, MOST_LISTED),
    before: before.slice(0, MOST_LISTED),
    overlap: overlap === undefined ? undefined : plain(overlap),
    problems: problemsOf(errors),
    warnings: [...plan.warnings, ...warnings]
      .slice(0, MOST_LISTED)
      .map((warning) => ({ code: warning.code, says: short(withoutMarks(sayWarning(warning)), LONGEST_TEXT) })),
    expected: expected && expectedOf(expected),
    rules: rules === undefined ? [] : ruleLines(rollout, rules, plan).map(plain),
    uncovered: plan.uncovered.length,
    stages: stages.map((stage, index) => ({
      ...stageOf(stage, room, { name, names }),
      gates: gates[index] ?? [],
      took: tookOf(expected?.stages[index]),
    })),
  };
}

/** One from which no run would start; without a rollout: of what is no rollout for its errors. */
export function refusedPlan(problems: readonly Problem[], rollout?: string): Planned {
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return { ...NO_PLAN, rollout, state: "Refused", says: `No run would start, for ${count}`, problems: problemsOf(problems) };
}

/** One of which it cannot be said now what it does, or of which that was not asked. */
export function unplannedOf(state: "Waiting" | "NotPlanned", why: AnyReason | Problem, rollout?: string): Planned {
  const says = "severity" in why ? withoutMarks(sayProblem(why as Problem).message) : plainSentence(why);
  return { ...NO_PLAN, rollout, state, says: short(says, LONGEST_TEXT) };
}

/** Warnings of what would keep the run from its first merge, if the PR were merged now. */
const HOLDS_RUN: ReadonlySet<string> = new Set([
  "REVISION_UNRESOLVED",
  "BATCH_REFUSED",
  "BRANCHES_UNPROTECTED",
  "PLANE_LOST",
  "NO_TARGETS",
  "REACHES_NOBODY",
]);

/** A tag that only cannot be read from here holds nothing: it is taken from the first cluster. */
function holdsRun(warning: Warning | Problem): boolean {
  return HOLDS_RUN.has(warning.code) && !("kind" in warning && warning.kind === "Hidden");
}

function beforeLine(warning: Warning | Problem): string {
  const { message, hint } = sayProblem(warning as Problem);
  return short(withoutMarks(`${message}: ${hint}`), LONGEST_TEXT);
}

const NO_PLAN = { against: [], before: [], problems: [], warnings: [], rules: [], uncovered: 0, stages: [] };

function problemsOf(problems: readonly Problem[]): Planned["problems"] {
  return refusedProblems(problems.slice(0, MOST_LISTED)).map((one) => ({
    ...one,
    ...defined({ file: one.file && short(one.file, LONGEST_NAME) }),
    where: short(one.where, LONGEST_NAME),
    says: short(one.says, LONGEST_TEXT),
    todo: short(one.todo, LONGEST_TEXT),
  }));
}

function plain(markdown: string): string {
  return short(withoutMarkdown(markdown), LONGEST_TEXT);
}

/** The PR's head stands for its merge commit; a branch's pin has the first of its digits. */
function isToCome(version: string, toCome: string | undefined): boolean {
  return toCome !== undefined && version.length >= 10 && toCome.startsWith(version);
}

function countsOf({ stages }: Plan): NonNullable<Planned["counts"]> {
  return {
    clusters: stages.reduce((sum, { clusters, requeued }) => sum + clusters.length + requeued.length, 0),
    batches: stages.reduce((sum, { batches }) => sum + batches.length, 0),
    stages: stages.length,
  };
}

function expectedOf(expected: Expected): NonNullable<Planned["expected"]> {
  const { total, leastMs, waitMs } = expected;
  return { says: durationSentence(expected), total: tookOf(total), leastMs: Math.round(leastMs), waitMs: Math.round(waitMs) };
}

function tookOf(took: Expected["total"]): Planned["stages"][number]["took"] {
  return took && { p50Ms: Math.round(took.p50), p90Ms: Math.round(took.p90), runs: took.runs };
}

type Name = (version: string) => string;

/** What texts of edits are made by: which value each writes, and how a version is called. */
interface Naming {
  name: Name;
  names: ReturnType<typeof valuesOfEdits>;
}

function stageOf(stage: PlannedStage, room: Room, naming: Naming): Omit<Planned["stages"][number], "gates" | "took"> {
  const { clusters, requeued, batches } = stage;
  const shown = batches.slice(0, room.batches);
  room.batches -= shown.length;
  return {
    ...{ name: short(stage.name, LONGEST_NAME), clusters: clusters.length, batchCount: batches.length, atOnce: mostAtOnce(stage) },
    ...{ requeued: namesOf(requeued, room), requeuedCount: requeued.length },
    batches: shown.map((batch) => batchOf(batch, room, naming)),
  };
}

function batchOf({ clusters, targets }: PlannedBatch, room: Room, naming: Naming): Planned["stages"][number]["batches"][number] {
  return { clusters: namesOf(clusters, room), size: clusters.length, targets: targets.length, changes: changesOf(targets, naming) };
}

function namesOf(keys: readonly string[], room: Room): string[] {
  const shown = keys.slice(0, room.named);
  room.named -= shown.length;
  return shown.map((key) => short(shortName(key), LONGEST_NAME));
}

/** Each kind of change once; what stands there already is told by that. */
function changesOf(targets: readonly PlannedTarget[], { name, names }: Naming): Planned["stages"][number]["batches"][number]["changes"] {
  const found = new Map<string, { from?: string | undefined; to: string; value?: string | undefined }>();
  const edits = targets.slice(0, 1_000).flatMap((target) => target.edits.map((edit, i) => ({ edit, value: names[i] })));
  for (const { edit, value } of edits.filter((one) => one.edit.steps === undefined)) {
    if (found.size >= MOST_CHANGES) break;
    const from = edit.from === null ? undefined : name(pinValue(edit, "from"));
    const change = defined({ from, to: name(pinValue(edit, "to")), value });
    found.set(JSON.stringify(change), change);
  }
  return [...found.values()];
}
