import type { Plan } from "../../core/plan/plan-types.ts";
import type { Problem } from "../../core/reasons/problem.ts";
import { cell } from "../../core/report/escape.ts";
import { expectedDuration } from "../../core/report/plan/duration.ts";
import { notARollout, type PlanFindings, planCheck } from "../../core/report/plan/plan-check.ts";
import { planComment, problemsComment } from "../../core/report/plan/plan-comment.ts";
import { type Overlap, overlap } from "../../core/report/plan/plan-overlap.ts";
import { sayProblem } from "../../core/report/reasons/problems.ts";
import { releaseName } from "../../core/report/words.ts";
import { windowSets } from "../../core/run/gates/window.ts";
import { isEnded } from "../../core/run/state/run.ts";
import { parseRepoConfig } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { readProject } from "../config-repo/project.ts";
import { VERSION } from "../config-repo/release.ts";
import { sameRelease } from "../config-repo/releases.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { makePlan } from "../resolve/make-plan.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";
import { stickyMarker } from "../round/publish/publish.ts";
import type { JudgedPull, PlanBase } from "./judged-pull.ts";
import { gateWarnings } from "./plan-check-gates.ts";
import { lintPlanned } from "./plan-check-lint.ts";
import { newProblems, releaseProblem } from "./plan-check-problems.ts";
import { noReads, noting } from "./plan-check-reads.ts";
import { type Asked, askedBy } from "./plan-check-release.ts";
import { type Touches, touchesOf } from "./plan-check-touched.ts";
import { judgeUnstaged } from "./plan-check-unstaged.ts";
import { freezesOf, windowWarning } from "./plan-check-windows.ts";
import type { Verdict } from "./plans.ts";

/** Marks the one comment of ours on why no run would start. */
export const REFUSED_MARKER = "stagecoach:refused";

interface Judging {
  context: RepoContext;
  memory: RepoMemory;
  base: PlanBase;
  pull: JudgedPull;
  before: Snapshot;
  after: Snapshot;
  findings: Draft;
  comments: Map<string, string>;
}

interface Draft {
  plans: PlanFindings["plans"][number][];
  problems: Problem[];
  against: string[];
  fails: boolean;
  notes: string[];
  waiting?: string;
}

/** Judges one PR as of one base: what its check says, and its comments. */
export async function judgePull(context: RepoContext, memory: RepoMemory, base: PlanBase, pull: JudgedPull): Promise<Verdict> {
  const reads = noReads();
  const before = noting(memory.commits.snapshot(base.commit), reads);
  const after = pull.tree === undefined ? undefined : noting(memory.commits.snapshot(pull.tree), reads);
  const project = after === undefined ? base.project : await readProject(after, base.branch);
  const findings: Draft = { plans: [], problems: newProblems(base.project, project, pull.touched), against: [], fails: false, notes: [] };
  const comments = new Map<string, string>();
  let concerns = findings.problems.length > 0;
  const errors = findings.problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0) comments.set(REFUSED_MARKER, problemsComment(errors));
  for (const rollout of project.rollouts) {
    const touches = await touchesOf(rollout, pull.touched, before, after);
    if (!touches.rollout && !touches.release && !touches.pins && !touches.set) continue;
    concerns = true;
    if (after === undefined) findings.waiting = "it conflicts with the base";
    else await judgeRollout({ context, memory, base, pull, before, after, findings, comments }, rollout, touches);
  }
  for (const gone of base.project.rollouts.filter((one) => !project.rollouts.some((other) => other.name === one.name))) {
    if (errors.length > 0 || after === undefined) continue;
    concerns = true;
    findings.notes.push(`Rollout **${gone.name}** goes: no release of it starts a run any more; a run in progress ends as it began.`);
  }
  const check = concerns ? planCheck(findings) : notARollout();
  const retry = findings.waiting !== undefined && after !== undefined;
  const readable = errors.length === 0 && after !== undefined;
  return { check, comments, concerns, retry, readable, settled: readable && findings.waiting === undefined, reads };
}

async function judgeRollout(judging: Judging, rollout: Rollout, touches: Touches): Promise<void> {
  const { context, memory, base, pull, before, after, findings, comments } = judging;
  const known = base.project.rollouts.some((other) => other.name === rollout.name);
  const asked = await askedBy(memory.releases, rollout, base, pull, before, after);
  if (asked.kind === "none") {
    findings.notes.push(`**${rollout.name}**: ${asked.why}.`);
    return;
  }
  if (asked.kind === "error") {
    const problem = releaseProblem(rollout, asked.problem);
    findings.problems.push(problem);
    comments.set(stickyMarker(rollout.name), problemsComment([problem]));
    return;
  }
  const isRelease = known && (asked.before === undefined || !sameRelease(asked.before, asked.release));
  const made = await makePlan(context, rollout, asked.release, after, base.branch, { partial: true });
  if (!made.ok) {
    const [first] = made.problems;
    if (made.retry) findings.waiting = first === undefined ? "what Argo CD has cannot be seen" : sayProblem(first).message;
    else findings.problems.push(...made.problems);
    if (isRelease || !made.retry) comments.set(stickyMarker(rollout.name), problemsComment(made.problems));
    return;
  }
  if (!known)
    findings.notes.push(`Rollout **${rollout.name}** is new: merging takes its release for what is there already, and starts nothing.`);
  const planned = await judgePlanned(judging, rollout, asked, { plan: made.plan, touches, isRelease, known });
  if (isRelease) comments.set(stickyMarker(rollout.name), await releaseComment(judging, rollout, asked, planned));
}

type AskedRelease = Extract<Asked, { kind: "release" }>;

interface Planned {
  plan: Plan;
  outside: Problem[];
  unstaged: string | undefined;
  over: Overlap | undefined;
}

/** What stands against a rollout that can be planned, into the findings. */
async function judgePlanned(
  judging: Judging,
  rollout: Rollout,
  asked: AskedRelease,
  { plan, touches, isRelease, known }: { plan: Plan; touches: Touches; isRelease: boolean; known: boolean },
): Promise<Planned> {
  const { context, memory, base, pull, before, after, findings } = judging;
  const rules = await memory.rules.of(base.branch);
  const outside = await lintPlanned(context, rollout, plan, after, base.branch, rules?.requiredChecks);
  findings.problems.push(...outside);
  const question = { base, pull, before, after, touches, isRelease, plan };
  const unstaged = known ? await judgeUnstaged(context, rollout, asked.release, question) : undefined;
  if (unstaged !== undefined) {
    findings.against.push(unstaged.line);
    findings.fails ||= unstaged.refused;
  }
  const run = base.runs.get(rollout.name);
  const over = isRelease && run !== undefined && !isEnded(run) ? overlap(rollout, run) : undefined;
  if (over?.rejected === true) {
    findings.against.push(over.sentence);
    findings.fails = true;
  }
  findings.plans.push({ plan, mode: rollout.mode, ...(over === undefined ? {} : { overlap: over.sentence }) });
  return { plan, outside, unstaged: unstaged?.line, over };
}

async function releaseComment(
  { context, memory, base, before }: Judging,
  rollout: Rollout,
  asked: AskedRelease,
  { plan, outside, unstaged, over }: Planned,
): Promise<string> {
  const freezes = await freezesOf(context, before);
  const history = await memory.durationsOf(base.journal, rollout.name, base.index.get(rollout.name)?.lastRun ?? 0, freezes);
  const errors = outside.filter((problem) => problem.severity === "error");
  const closed = await windowWarning(context, rollout, before);
  const gates = await gateWarnings(context, rollout, plan, base, before);
  const { limits } = parseRepoConfig(await before.read(SETTINGS_FILE), SETTINGS_FILE).bounds;
  const current = asked.before === undefined ? undefined : releaseName(asked.before.values);
  const body = planComment(rollout, plan, current, {
    expected: expectedDuration(rollout, plan, history, { now: context.clock.now(), sets: windowSets(rollout.windows ?? [], freezes) }),
    against: [
      ...errors.map((problem) => {
        const { message, hint } = sayProblem(problem);
        return `**${problem.code}** ${cell(message, 400)}: ${cell(hint, 200)}.`;
      }),
      ...(unstaged === undefined ? [] : [unstaged]),
    ],
    rules: { now: context.clock.now(), ...(limits === undefined ? {} : { limits }) },
    warnings: [...closed, ...gates, ...outside.filter((problem) => problem.severity === "warning")],
    ...(over === undefined ? {} : { overlap: over.sentence }),
    ...(asked.label === undefined ? {} : { release: asked.label }),
  });
  // The PR's head stands for the merge commit, which nobody knows yet.
  return asked.label === undefined ? body : body.replaceAll(asked.release.values[VERSION] ?? "\u0000", "merge commit");
}
