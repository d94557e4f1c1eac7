/**
 * One release PR, judged as of one base: what its check says, and what its comments say of each rollout it concerns.
 *
 * Called by plan-pulls for each open PR that may concern a rollout. What it reads is noted, so that it is judged anew only where that
 * has changed.
 */
import type { AnyReason } from "../../core/base/reason.ts";
import type { Cluster, Plan } from "../../core/plan/plan-types.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import { runReason } from "../../core/reasons/run.ts";
import type { Planned as PlannedData } from "../../core/report/model/schema/plan.ts";
import { expectedDuration } from "../../core/report/plan/duration.ts";
import { notARollout, type PlanFindings, planCheck } from "../../core/report/plan/plan-check.ts";
import { type PlanExtras, planComment, problemsComment } from "../../core/report/plan/plan-comment.ts";
import { plannedRelease, planRoom, type Room, refusedPlan, unplannedOf } from "../../core/report/plan/plan-model.ts";
import { type Overlap, overlap } from "../../core/report/plan/plan-overlap.ts";
import { releaseName } from "../../core/report/words.ts";
import { isEnded } from "../../core/run/state/run.ts";
import { parseRepoConfig } from "../../core/spec/parse/config.ts";
import { freezesOf, SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { bindingOf } from "../../core/spec/windows-binding.ts";
import { generatorClusters } from "../config-repo/appset-in-git.ts";
import type { Commits } from "../config-repo/commits.ts";
import type { DurationsOf } from "../config-repo/history-durations.ts";
import { readProject } from "../config-repo/project.ts";
import { VERSION } from "../config-repo/release.ts";
import { type Releases, sameRelease } from "../config-repo/releases.ts";
import type { RevisionsNow } from "../config-repo/revisions.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { followedSets } from "../lint/declared-sets.ts";
import { editsOf, parentsOn } from "../lint/gather.ts";
import { lintOutside } from "../lint/lint-outside.ts";
import { planesFor } from "../resolve/fleet.ts";
import type { MadePlan, MakePlan } from "../resolve/plan-now.ts";
import { setsOfSource } from "../resolve/source-sets.ts";
import { baseAsks, methodsOf, type Rules } from "../round/branch-rules.ts";
import type { RepoContext } from "../round/context.ts";
import { REFUSED_MARKER, stickyMarker } from "../round/publish/publish.ts";
import { type Asked, askedBy } from "./asked-release.ts";
import { refusedBatch } from "./first-batch.ts";
import { noReads, noting } from "./judge-pull-reads.ts";
import { hasSource, newProblems, type Touches, touchesOf } from "./judge-pull-touched.ts";
import { openPlanWarnings } from "./outside-warnings.ts";
import { type PullQuestion, touchedParents, writtenOut } from "./pull-parents.ts";
import type { JudgedPull, PlanBase, Verdict } from "./types.ts";
import { addUnstaged, openUnstagedJudge } from "./unstaged.ts";

export type JudgePull = (base: PlanBase, pull: JudgedPull) => Promise<Verdict>;

interface Parts {
  commits: Commits;
  releases: Releases;
  rules: Rules;
  durationsOf: DurationsOf;
  makePlan: MakePlan;
  revisionsNow: RevisionsNow;
}

interface Judging extends PullQuestion {
  findings: Draft;
  comments: Map<string, string>;
  planned: PlannedData[];
  room: Room;
}

interface Draft {
  plans: PlanFindings["plans"][number][];
  problems: Problem[];
  against: string[];
  fails: boolean;
  notes: AnyReason[];
  waiting?: AnyReason | Problem;
}

type AskedRelease = Extract<Asked, { kind: "release" }>;

interface Planned {
  plan: Plan;
  clusters: readonly Cluster[];
  outside: Problem[];
  unstaged: string | undefined;
  over: Overlap | undefined;
}

type Context = Pick<RepoContext, "forge" | "planes" | "grants" | "clock" | "log" | "repoURL" | "freezes" | "mirror">;

export function openPullJudge(context: Context, parts: Parts): JudgePull {
  const judge = new PullJudge(context, parts);
  return (base, pull) => judge.judge(base, pull);
}

class PullJudge {
  readonly #context: Context;
  readonly #parts: Parts;
  readonly #judgeUnstaged: ReturnType<typeof openUnstagedJudge>;
  readonly #warningsOf: ReturnType<typeof openPlanWarnings>;

  constructor(context: Context, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    this.#judgeUnstaged = openUnstagedJudge(context, parts.makePlan);
    this.#warningsOf = openPlanWarnings(context, parts.rules, parts.revisionsNow);
  }

  async judge(base: PlanBase, pull: JudgedPull): Promise<Verdict> {
    const { planes: all, repoURL } = this.#context;
    const reads = noReads();
    const before = noting(this.#parts.commits.snapshot(base.commit), reads);
    const after = pull.tree === undefined ? undefined : noting(this.#parts.commits.snapshot(pull.tree), reads);
    const project = after === undefined ? base.project : await readProject(after, base.branch);
    const problems = newProblems(base.project, project, pull.touched);
    const findings: Draft = { plans: [], problems, against: [], fails: false, notes: [] };
    const [comments, planned] = [new Map<string, string>(), [] as PlannedData[]];
    const room = planRoom();
    let concerns = problems.length > 0;
    const errors = problems.filter((problem) => problem.severity === "error");
    if (errors.length > 0) {
      comments.set(REFUSED_MARKER, problemsComment(errors));
      planned.push(refusedPlan(errors));
    }
    for (const rollout of project.rollouts) {
      const sets = setsOfSource(all, rollout).map(({ ref }) => ref);
      const parents = await touchedParents(all, rollout, pull.touched, [before, after], { repoURL, baseBranch: base.branch });
      const written = writtenOut(all, rollout);
      const touches = { ...(await touchesOf(rollout, sets, pull.touched, before, after, written)), ...(parents.length > 0 && { parents }) };
      if (!Object.values(touches).some(Boolean)) continue;
      concerns = true;
      if (after !== undefined) {
        await this.#judgeRollout({ base, pull, before, after, findings, comments, planned, room }, rollout, touches);
        continue;
      }
      findings.waiting = pull.unread ?? runReason("BASE_CONFLICTS");
      planned.push(unplannedOf("Waiting", findings.waiting, rollout.name));
    }
    if (pull.unread !== undefined) [concerns, findings.waiting] = [true, pull.unread];
    if (findings.waiting !== undefined && planned.length === 0) planned.push(unplannedOf("Waiting", findings.waiting));
    const gone = base.project.rollouts.filter((one) => !project.rollouts.some((other) => other.name === one.name));
    const readable = errors.length === 0 && after !== undefined;
    if (readable) findings.notes.push(...gone.map(({ name }) => engineReason("NOTE_ROLLOUT_GOES", { rollout: name })));
    concerns ||= readable && gone.length > 0;
    const retry = findings.waiting !== undefined && after !== undefined;
    const check = concerns ? planCheck(findings) : notARollout();
    return { check, comments, planned, concerns, retry, readable, settled: readable && findings.waiting === undefined, reads };
  }

  async #judgeRollout(judging: Judging, rollout: Rollout, touches: Touches): Promise<void> {
    const { base, pull, before, after, findings, comments } = judging;
    const { name } = rollout;
    const refuse = (problems: readonly Problem[]): void => {
      findings.problems.push(...problems);
      comments.set(stickyMarker(name), problemsComment(problems));
      judging.planned.push(refusedPlan(problems, name));
    };
    const known = base.project.rollouts.some((other) => other.name === name);
    if (pull.isFork && !hasSource(base.project, rollout)) {
      // Whoever may name a source is shown what it makes.
      findings.notes.push(engineReason("NOTE_SOURCE_OF_FORK", { rollout: name }));
      return;
    }
    const asked = await askedBy(this.#parts.releases, rollout, base, pull, before, after);
    if (asked.kind === "none") return void findings.notes.push(asked.note);
    if (asked.kind === "error") return refuse([asked.problem]);
    const isRelease = known && (asked.before === undefined || !sameRelease(asked.before, asked.release));
    const made = await this.#parts.makePlan(rollout, asked.release, after, base.branch, { partial: true });
    if (!made.ok) {
      if (!made.retry) return refuse(made.problems);
      findings.waiting = made.problems[0] ?? engineReason("ARGOCD_UNSEEN");
      if (!isRelease) return;
      comments.set(stickyMarker(name), problemsComment(made.problems));
      judging.planned.push(unplannedOf("Waiting", findings.waiting, name));
      return;
    }
    if (!known) findings.notes.push(engineReason("NOTE_ROLLOUT_NEW", { rollout: name }));
    const planned = await this.#judgePlanned(judging, rollout, asked, { made, touches, isRelease, known });
    if (!isRelease) return;
    const extras = await this.#extrasOf(judging, rollout, asked, planned);
    const current = asked.before && releaseName(asked.before.values);
    comments.set(stickyMarker(name), planComment(rollout, planned.plan, current, extras));
    judging.planned.push(plannedRelease(rollout, planned.plan, current, { extras, room: judging.room }));
  }

  /** What stands against a rollout that can be planned, into the findings. */
  async #judgePlanned(
    { base, pull, before, after, findings }: Judging,
    rollout: Rollout,
    asked: AskedRelease,
    { made, touches, isRelease, known }: { made: MadePlan & { ok: true }; touches: Touches; isRelease: boolean; known: boolean },
  ): Promise<Planned> {
    const { plan } = made;
    const outside = await this.#lintPlanned(rollout, plan, after, base.branch);
    const asBatch = { rollout, plan, snapshot: after, baseBranch: base.branch, touchesSet: touches.set || touches.parents !== undefined };
    const refused = isRelease ? await refusedBatch(this.#context, asBatch) : undefined;
    if (refused !== undefined) outside.push(refused);
    findings.problems.push(...outside);
    const question = { base, pull, before, after, touches, isRelease, plan };
    const unstaged = known ? await this.#judgeUnstaged(rollout, asked.release, question) : undefined;
    addUnstaged(findings, unstaged);
    const run = base.runs.get(rollout.name);
    const over = isRelease && run !== undefined && !isEnded(run) ? overlap(rollout, run) : undefined;
    if (over?.rejected === true) {
      findings.against.push(over.sentence);
      findings.fails = true;
    }
    findings.plans.push({ plan, mode: rollout.mode, overlap: over?.sentence });
    return { ...made, outside, unstaged: unstaged?.line, over };
  }

  /** What lint says of a planned rollout and what stands outside its file, each at its line. */
  async #lintPlanned(rollout: Rollout, plan: Plan, snapshot: Snapshot, defaultBranch: string): Promise<Problem[]> {
    const { planes: all, grants, repoURL } = this.#context;
    const asked = await this.#parts.rules.of(defaultBranch);
    const planes = planesFor(all, rollout.source.controlPlanes);
    const { parts, problems } = await followedSets(all, rollout, snapshot, plan);
    const parents = planes.flatMap((plane) => parentsOn(plane, { repoURL, baseBranch: defaultBranch }, setsOfSource(all, rollout)));
    const seen = { clusters: generatorClusters(planes), edits: editsOf(plan), parents, seesAll: grants === undefined };
    const input = { rollout, set: undefined, ...seen, repoURL, defaultBranch, required: asked?.requiredChecks, methods: methodsOf(asked) };
    return [...problems, ...(await snapshot.with((sync) => lintOutside(input, sync, parts)))];
  }

  /** What is said of a release besides its plan. */
  async #extrasOf(
    { base, before }: Judging,
    rollout: Rollout,
    asked: AskedRelease,
    { plan, clusters, outside, unstaged, over }: Planned,
  ): Promise<PlanExtras> {
    const { limits, freezes: own } = parseRepoConfig(await before.read(SETTINGS_FILE), SETTINGS_FILE).bounds;
    const freezes = freezesOf(own, this.#context.freezes);
    const history = await this.#parts.durationsOf(base.journal, rollout.name, base.index.get(rollout.name)?.lastRun ?? 0, freezes);
    const byKey = new Map(clusters.map((cluster) => [cluster.key, cluster]));
    const setsOf = bindingOf(rollout, freezes, (key) => byKey.get(key));
    const warnings = await this.#warningsOf(rollout, plan, base, before, setsOf);
    const now = this.#context.clock.now();
    return {
      expected: expectedDuration(rollout, plan, history, { now, setsOf }),
      errors: outside.filter((problem) => problem.severity === "error"),
      against: unstaged === undefined ? [] : [unstaged],
      rules: { now, limits, freezes, base: baseAsks(base.branch, await this.#parts.rules.of(base.branch)) },
      warnings: [...warnings, ...outside.filter((problem) => problem.severity === "warning")],
      overlap: over?.sentence,
      toCome: asked.isToCome ? asked.release.values[VERSION] : undefined,
    };
  }
}
