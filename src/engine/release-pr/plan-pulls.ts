/**
 * Release PRs, before they are merged: what merging one would do, as its comment and as the check `stagecoach/plan`, which
 * every other PR and merge group to the base gets green.
 *
 * Level-triggered: what stands on GitHub is compared with what should, PR by PR, and what could not be sent is owed until
 * it is. Cheap: heads are fetched in one go, a PR is judged once for its head and for what of the base it depends on, and
 * one that concerns no rollout is never looked at again.
 */
import type { Pull } from "../../adapters/forge/port.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import type { Command } from "../../core/spec/commands.ts";
import type { Commits } from "../config-repo/commits.ts";
import { readProject } from "../config-repo/project.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { Settings } from "../config-repo/settings.ts";
import type { RepoContext } from "../round/context.ts";
import type { JournalLooks } from "../round/journal-look.ts";
import { type Bypass, bypassOf, sameBypass } from "./bypass.ts";
import type { JudgePull } from "./judge-pull.ts";
import { stillHolds } from "./judge-pull-reads.ts";
import { mayConcern } from "./judge-pull-touched.ts";
import { PullHeads } from "./pull-heads.ts";
import { type CheckParts, isOwnBatch, PlanChecks } from "./send-checks.ts";
import type { ShownPlans } from "./shown-plans.ts";
import type { Head, Judged, KnownPull, PlanBase } from "./types.ts";
import { concernsNothing, openWithheld } from "./withheld.ts";

/** What argo CD has, and runs, change without a PR moving: judged anew after this long. */
const FRESH_MS = 4 * 60_000;
/** So many may pass the cell's limits in one pass: runs wait for it. */
const MOST_KILLED = 2;

/**
 * Brings the checks and comments of all open PRs up to date; where nothing was heard (`heard` false) only those of our own
 * batches, and only where the check is required. Never throws. True: something is owed, also where judging or saying was over `budget`.
 */
export type PublishPlans = (baseBranch: string, heard?: boolean, budget?: () => () => boolean) => Promise<boolean>;

/** The base of one pass, and what Git was asked of it already. */
type Pass = { base: PlanBase; asked: Map<string, Promise<readonly string[]>>; killed: number };

interface Parts extends CheckParts {
  commits: Commits;
  journals: JournalLooks;
  remote: RemoteHeads;
  judgePull: JudgePull;
  settings: Pick<Settings, "plansForks">;
  shownPlans: ShownPlans;
}

type Context = Pick<RepoContext, "forge" | "mirror" | "commands" | "clock" | "log" | "repository">;

export function openPlanPublisher(context: Context, parts: Parts): PublishPlans {
  const plans = new PlanPublisher(context, parts);
  return (baseBranch, heard, budget) => plans.publish(baseBranch, heard, budget);
}

class PlanPublisher {
  readonly #context: Context;
  readonly #parts: Parts;
  readonly #checks: PlanChecks;
  readonly #heads: PullHeads;
  readonly #pulls = new Map<number, KnownPull>();

  constructor(context: Context, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    this.#checks = new PlanChecks(context, parts);
    this.#heads = new PullHeads(context, parts.attention);
  }

  async publish(baseBranch: string, heard = true, budget = () => () => false): Promise<boolean> {
    const owed = !(await this.#checks.putOwnBatches());
    if (!heard) return owed;
    try {
      return (await this.#publishOpen(baseBranch, budget)) || owed;
    } catch (error) {
      this.#context.log.warn({ error: String(error) }, "open pull requests could not be looked at; trying again");
      return true;
    }
  }

  async #publishOpen(baseBranch: string, budget: () => () => boolean): Promise<boolean> {
    const { forge, repository } = this.#context;
    const base = await this.#baseOf(baseBranch);
    if (base === undefined) return false;
    const open = (await forge.openPulls()).filter((pull) => pull.base === baseBranch);
    const numbers = new Set(open.map(({ number }) => number));
    for (const number of this.#pulls.keys()) if (!numbers.has(number)) this.#pulls.delete(number);
    const { login } = await forge.identity();
    const others = open.filter((pull) => !isOwnBatch(pull, repository, login));
    // Those that the loop looks after have it where it is required: see putOwnBatches.
    const kept = new Set(this.#parts.pulls.openHeads());
    let owed = false;
    for (const pull of open) if (!others.includes(pull) && !kept.has(pull.head)) owed = !(await this.#checks.putOwn(pull.head)) || owed;
    await this.#fetchHeads(others, numbers);
    const [pass, judged]: [Pass, Judged[]] = [{ base, asked: new Map(), killed: 0 }, []];
    const [isOver, turns] = [budget(), [...this.#pulls.keys()]];
    for (const pull of others.toSorted((a, b) => turns.indexOf(a.number) - turns.indexOf(b.number)))
      if (!isOver() && pass.killed < MOST_KILLED) judged.push(await this.#judgeOne(pass, pull));
    this.#parts.shownPlans.see(others, this.#pulls);
    owed = (await this.#checks.sendAll(judged, await this.#checks.isQuiet(base), budget())) || judged.length < others.length || owed;
    await this.#checks.noteForbidden(baseBranch);
    // What was not judged now may be another by now.
    const known = new Map(judged.map((one) => [one.number, one.known] as const));
    return !(await this.#checks.putGroups(open, known, baseBranch, login)) || owed;
  }

  async #baseOf(branch: string): Promise<PlanBase | undefined> {
    const { remote, commits, settings } = this.#parts;
    const commit = remote.last.base ?? (await this.#context.mirror.head(branch));
    if (commit === undefined) return undefined;
    const project = await readProject(commits.snapshot(commit), branch);
    return { commit, branch, project, plansForks: await settings.plansForks(commit), ...(await this.#recorded()) };
  }

  /** What goes on, as far as it can be known: a plan and a check are made without it, too. */
  async #recorded(): Promise<Pick<PlanBase, "runs" | "index" | "journal">> {
    const { log, repository } = this.#context;
    try {
      // As the rounds read it, and no more often: each look may cost calls.
      const { held, state } = await this.#parts.journals.read(this.#parts.remote.last.journal);
      if (held === undefined) return { runs: state.runs, index: state.index, journal: state.head };
    } catch (error) {
      log.warn({ repository, error: String(error) }, "the journal cannot be read: plans are made without what goes on");
    }
    return { runs: new Map(), index: new Map(), journal: undefined };
  }

  /** Heads that are new. One that cannot be had is owed: its PR is judged later. */
  async #fetchHeads(open: readonly Pull[], numbers: ReadonlySet<number>): Promise<void> {
    const { clock, repository } = this.#context;
    const fresh = open.filter(({ number, head }) => {
      const known = this.#pulls.get(number);
      if (known?.touched?.unread?.code === "PULL_NO_ROOM" && clock.now() - (known.verdict?.at ?? 0) >= FRESH_MS) known.touched = undefined;
      return known?.head !== head || known.touched === undefined;
    });
    await this.#heads.bring(
      fresh.map((pull) => headOf(pull, repository)),
      numbers,
    );
  }

  /** One PR's trouble is not the others'. */
  async #judgeOne(pass: Pass, pull: Pull): Promise<Judged> {
    const { number, head } = pull;
    const before = this.#pulls.get(number);
    const known: KnownPull = before?.head === head ? before : { head, comments: before?.comments };
    this.#pulls.delete(number);
    this.#pulls.set(number, known);
    try {
      const bypass = await bypassOf(this.#context, pull);
      const asHead = headOf(pull, this.#context.repository);
      let commands = await this.#commandsOn(number, known);
      const forced = this.#parts.checkRuns.isAsked(head, PLAN_CHECK);
      let owed = await this.#judge(pass, asHead, known, { bypass, commands, forced });
      if (commands.length === 0) {
        // Only now is it known that commands here are for us.
        commands = await this.#commandsOn(number, known);
        if (commands.length > 0 && known.verdict?.of.withheld !== undefined)
          owed = await this.#judge(pass, asHead, known, { bypass, commands, forced: true });
      }
      return { number, known, owed, commands };
    } catch (error) {
      this.#context.log.warn({ pull: number, error: String(error) }, "the plan of a pull request could not be made");
      return { number, known, owed: true, commands: [] };
    }
  }

  /** `/plan` on a PR that no run steers yet; all else is answered by whoever reads the comments. */
  async #commandsOn(pull: number, known: KnownPull): Promise<Command[]> {
    return known.verdict?.of.concerns === true ? ((await this.#context.commands.beforeRun?.(pull)) ?? []) : [];
  }

  /** Judges it where it was not yet, or where that no longer holds. True: it is to be judged again soon. */
  async #judge(
    pass: Pass,
    pull: Head,
    known: KnownPull,
    { bypass, commands, forced }: { bypass: Bypass; commands: readonly Command[]; forced: boolean },
  ): Promise<boolean> {
    const { mirror, clock } = this.#context;
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
      const touched = await this.#heads.touchedBy(base, pull);
      if (touched === undefined) return true;
      known.touched = { ...touched, base: base.commit };
    }
    const { files: touched, tree, unread } = known.touched;
    const of = mayConcern(base.project, touched)
      ? await openWithheld(this.#context, this.#parts.judgePull)(base, { ...pull, bypass, touched, tree, unread }, commands)
      : concernsNothing();
    if (of.withheld?.code === "PLAN_KILLED" && "by" in of.withheld) pass.killed += 1;
    known.verdict = { of, base: base.commit, at: clock.now() };
    return of.retry;
  }
}

function headOf({ number, head, headRepository }: Pull, repository: string): Head {
  return { number, head, isFork: headRepository?.toLowerCase() !== repository.toLowerCase() };
}
