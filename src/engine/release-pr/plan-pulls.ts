/**
 * Release PRs, before they are merged: what merging one would do, as its comment and as the check `stagecoach/plan`, which
 * every other PR and merge group to the base gets green.
 *
 * Level-triggered: what stands on GitHub is compared with what should, PR by PR, and what could not be sent is owed until
 * it is. Cheap: heads are fetched in one go, a PR is judged once for its head and for what of the base it depends on, and
 * one that concerns no rollout is never looked at again.
 */
import type { Pull } from "../../adapters/forge/port.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import type { Command } from "../../core/spec/commands.ts";
import type { Commits } from "../config-repo/commits.ts";
import { readProject } from "../config-repo/project.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { Settings } from "../config-repo/settings.ts";
import type { Attention } from "../round/attention.ts";
import type { BatchPulls } from "../round/batch-pulls.ts";
import type { Rules } from "../round/branch-rules.ts";
import type { CheckRuns } from "../round/check-runs.ts";
import type { RepoContext } from "../round/context.ts";
import type { JournalLooks } from "../round/journal-look.ts";
import type { Permissions } from "../round/permissions.ts";
import { type Bypass, bypassOf, sameBypass } from "./bypass.ts";
import type { JudgePull } from "./judge-pull.ts";
import { stillHolds } from "./judge-pull-reads.ts";
import { mayConcern } from "./judge-pull-touched.ts";
import { openPullHeads } from "./pull-heads.ts";
import { isOwnBatch, openPlanChecks } from "./send-checks.ts";
import type { ShownPlans } from "./shown-plans.ts";
import type { KnownPull, PlanBase } from "./types.ts";
import { concernsNothing, openWithheld } from "./withheld.ts";

/** What argo CD has, and runs, change without a PR moving: judged anew after this long. */
const FRESH_MS = 4 * 60_000;
/** Checks of PRs that concern nothing are posted so many at a time: a round must not wait for hundreds of writes. */
const MOST_SENT = 20;
/** So many may pass the cell's limits in one pass: runs wait for it. */
const MOST_KILLED = 2;

/**
 * Brings the checks and comments of all open PRs up to date; where nothing was heard (`heard` false) only those of our own
 * batches, and only where the check is required. Never throws. True: something is owed, also where judging or saying was over `budget`.
 */
export type PublishPlans = (baseBranch: string, heard?: boolean, budget?: () => () => boolean) => Promise<boolean>;

/** A PR as of this pass. */
interface Judged {
  number: number;
  known: KnownPull;
  commands: readonly Command[];
  /** It could not be judged, or not for good. */
  owed: boolean;
}

/** The base of one pass, and what Git was asked of it already. */
type Pass = { base: PlanBase; asked: Map<string, Promise<readonly string[]>>; killed: number };

interface Parts {
  attention: Pick<Attention, "line" | "note">;
  commits: Commits;
  journals: JournalLooks;
  remote: RemoteHeads;
  rules: Rules;
  pulls: BatchPulls;
  checkRuns: CheckRuns;
  permissions: Permissions;
  judgePull: JudgePull;
  settings: Pick<Settings, "plansForks">;
  shownPlans: ShownPlans;
}

type Context = Pick<RepoContext, "forge" | "mirror" | "commands" | "clock" | "log" | "repository">;

export function openPlanPublisher(context: Context, parts: Parts): PublishPlans {
  const { forge, mirror, commands: source, clock, log, repository } = context;
  const { commits, journals, remote, rules, checkRuns, judgePull, settings } = parts;
  const checks = openPlanChecks(context, parts);
  const heads = openPullHeads(context, parts.attention);
  const pulls = new Map<number, KnownPull>();

  async function baseOf(branch: string): Promise<PlanBase | undefined> {
    const commit = remote.last.base ?? (await mirror.head(branch));
    if (commit === undefined) return undefined;
    const project = await readProject(commits.snapshot(commit), branch);
    return { commit, branch, project, plansForks: await settings.plansForks(commit), ...(await recorded()) };
  }

  /** What goes on, as far as it can be known: a plan and a check are made without it, too. */
  async function recorded(): Promise<Pick<PlanBase, "runs" | "index" | "journal">> {
    try {
      // As the rounds read it, and no more often: each look may cost calls.
      const { held, state } = await journals.read(remote.last.journal);
      if (held === undefined) return { runs: state.runs, index: state.index, journal: state.head };
    } catch (error) {
      log.warn({ repository, error: String(error) }, "the journal cannot be read: plans are made without what goes on");
    }
    return { runs: new Map(), index: new Map(), journal: undefined };
  }

  /** Heads that are new. One that cannot be had is owed: its PR is judged later. */
  async function fetchHeads(open: readonly Pull[], numbers: ReadonlySet<number>): Promise<void> {
    const fresh = open.filter(({ number, head }) => {
      const known = pulls.get(number);
      if (known?.touched?.unread?.code === "PULL_NO_ROOM" && clock.now() - (known.verdict?.at ?? 0) >= FRESH_MS) known.touched = undefined;
      return known?.head !== head || known.touched === undefined;
    });
    await heads.bring(fresh.map(headOf), numbers);
  }

  function headOf({ number, head, headRepository }: Pull) {
    return { number, head, isFork: headRepository?.toLowerCase() !== repository.toLowerCase() };
  }

  /** One PR's trouble is not the others'. */
  async function judgeOne(pass: Pass, pull: Pull): Promise<Judged> {
    const { number, head } = pull;
    const before = pulls.get(number);
    const known: KnownPull = before?.head === head ? before : { head, comments: before?.comments };
    pulls.delete(number);
    pulls.set(number, known);
    try {
      const bypass = await bypassOf(context, pull);
      let commands = await commandsOn(number, known);
      let owed = await judge(pass, headOf(pull), known, { bypass, commands, forced: checkRuns.isAsked(head, PLAN_CHECK) });
      if (commands.length === 0) {
        // Only now is it known that commands here are for us.
        commands = await commandsOn(number, known);
        if (commands.length > 0 && known.verdict?.of.withheld !== undefined)
          owed = await judge(pass, headOf(pull), known, { bypass, commands, forced: true });
      }
      return { number, known, owed, commands };
    } catch (error) {
      log.warn({ pull: number, error: String(error) }, "the plan of a pull request could not be made");
      return { number, known, owed: true, commands: [] };
    }
  }

  /** Judges it where it was not yet, or where that no longer holds. True: it is to be judged again soon. */
  async function judge(
    pass: Pass,
    pull: ReturnType<typeof headOf>,
    known: KnownPull,
    { bypass, commands, forced }: { bypass: Bypass; commands: readonly Command[]; forced: boolean },
  ): Promise<boolean> {
    const [{ base, asked }, { verdict }] = [pass, known];
    const isAsked = forced || commands.length > 0 || !sameBypass(known.bypass, bypass);
    if (verdict !== undefined && known.touched !== undefined && !isAsked && !verdict.of.retry) {
      // What concerns no rollout by the names of its files does so on no base that has the same rollouts.
      const young = !verdict.of.concerns || clock.now() - verdict.at < FRESH_MS;
      if (young && (await stillHolds(mirror, verdict.of.reads, verdict.base, base.commit, asked))) {
        verdict.base = base.commit;
        return false;
      }
    }
    known.bypass = bypass;
    if (known.touched === undefined || (known.touched.base !== base.commit && mayConcern(base.project, known.touched.files))) {
      const touched = await heads.touchedBy(base, pull);
      if (touched === undefined) return true;
      known.touched = { ...touched, base: base.commit };
    }
    const { files: touched, tree, unread } = known.touched;
    const of = mayConcern(base.project, touched)
      ? await openWithheld(context, judgePull)(base, { ...pull, bypass, touched, tree, unread }, commands)
      : concernsNothing();
    if (of.withheld?.code === "PLAN_KILLED" && "by" in of.withheld) pass.killed += 1;
    known.verdict = { of, base: base.commit, at: clock.now() };
    return of.retry;
  }

  /** `/plan` on a PR that no run steers yet; all else is answered by whoever reads the comments. */
  async function commandsOn(pull: number, known: KnownPull): Promise<Command[]> {
    return known.verdict?.of.concerns === true ? ((await source.beforeRun?.(pull)) ?? []) : [];
  }

  /** First those that people wait for; of the others so many in one pass, for each is a write. True: something is owed. */
  async function publishAll(judged: readonly Judged[], isQuiet: boolean, isOver: () => boolean): Promise<boolean> {
    const concerns = (one: Judged) => one.known.verdict?.of.concerns === true;
    const waiting = isQuiet ? [] : judged.filter((one) => !concerns(one) && checks.isDue(one.known));
    let owed = waiting.length > MOST_SENT || judged.some((one) => one.owed);
    for (const { number, known, commands } of [...judged.filter(concerns), ...waiting.slice(0, MOST_SENT)]) {
      if (isOver()) return true;
      // Each is sent though the other could not be: a check that is required holds the PR until it is there.
      const isShown = await sent(number, () => checks.putComments(number, known));
      const isSaid = (await sent(number, () => checks.put(known))) && isShown;
      const isAnswered = isSaid && (await sent(number, () => answerAll(commands, known.verdict?.of.withheld)));
      owed ||= !isAnswered;
    }
    return owed;
  }

  /** Where nothing is ours a PR that concerns nothing gets no check, unless it is required. */
  async function isQuietRepo({ project, index, branch }: PlanBase): Promise<boolean> {
    if (project.rollouts.length + project.problems.length + index.size > 0) return false;
    const asked = await rules.of(branch).catch(() => undefined);
    return asked?.requiredChecks.some(({ context: name }) => name === PLAN_CHECK) !== true;
  }

  async function answerAll(commands: readonly Command[], refusal: AnyReason | undefined): Promise<void> {
    for (const command of commands)
      await source.answer(command, refusal === undefined ? "done" : "refused", refusal ?? engineReason("PLAN_MADE_AFRESH"));
  }

  async function sent(pull: number, send: () => Promise<void>): Promise<boolean> {
    try {
      await send();
      return true;
    } catch (error) {
      log.warn({ pull, error: String(error) }, "what a pull request would do could not be said on it");
      return false;
    }
  }

  async function publishOpen(baseBranch: string, budget: () => () => boolean): Promise<boolean> {
    const base = await baseOf(baseBranch);
    if (base === undefined) return false;
    const open = (await forge.openPulls()).filter((pull) => pull.base === baseBranch);
    const numbers = new Set(open.map(({ number }) => number));
    for (const number of pulls.keys()) if (!numbers.has(number)) pulls.delete(number);
    const { login } = await forge.identity();
    const others = open.filter((pull) => !isOwnBatch(pull, repository, login));
    // Those that the loop looks after have it where it is required: see putOwnBatches.
    const kept = new Set(parts.pulls.openHeads());
    let owed = false;
    for (const pull of open) if (!others.includes(pull) && !kept.has(pull.head)) owed = !(await checks.putOwn(pull.head)) || owed;
    await fetchHeads(others, numbers);
    const [pass, judged]: [Pass, Judged[]] = [{ base, asked: new Map(), killed: 0 }, []];
    const [isOver, turns] = [budget(), [...pulls.keys()]];
    for (const pull of others.toSorted((a, b) => turns.indexOf(a.number) - turns.indexOf(b.number)))
      if (!isOver() && pass.killed < MOST_KILLED) judged.push(await judgeOne(pass, pull));
    parts.shownPlans.see(others, pulls);
    owed = (await publishAll(judged, await isQuietRepo(base), budget())) || judged.length < others.length || owed;
    await checks.noteForbidden(baseBranch);
    // What was not judged now may be another by now.
    const known = new Map(judged.map((one) => [one.number, one.known] as const));
    return !(await checks.putGroups(open, known, baseBranch, login)) || owed;
  }

  return async (baseBranch, heard = true, budget = () => () => false) => {
    const owed = !(await checks.putOwnBatches());
    if (!heard) return owed;
    try {
      return (await publishOpen(baseBranch, budget)) || owed;
    } catch (error) {
      log.warn({ error: String(error) }, "open pull requests could not be looked at; trying again");
      return true;
    }
  };
}
