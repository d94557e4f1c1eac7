/**
 * What people see of the runs of a repo: the live page on each release PR, a comment for a pause that asks for somebody, the last
 * word on a run. Called by a round after it has acted; no trouble with a comment holds a run.
 */
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { type AnyReason, hasCode } from "../../../core/base/reason.ts";
import { epoch } from "../../../core/base/time.ts";
import type { AttentionReason } from "../../../core/reasons/attention.ts";
import { applicationLinks } from "../../../core/report/links.ts";
import { nothingMore, problemsComment } from "../../../core/report/plan/plan-comment.ts";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { pausedSign } from "../../../core/report/rollouts-sign.ts";
import { heldNotice } from "../../../core/report/run/attention.ts";
import { closingSummary } from "../../../core/report/run/closing-summary.ts";
import { pauseNotice } from "../../../core/report/run/pause-notice.ts";
import { lateStart } from "../../../core/report/run/release-notice.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import { isSameWait, promotableWaits } from "../../../core/run/commands/promotable.ts";
import type { PromotableWait } from "../../../core/run/state/promotable-types.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Advanced } from "../../../core/run/state/world.ts";
import type { PastRuns } from "../../config-repo/history-durations.ts";
import type { Analyses } from "../analyses.ts";
import type { Attention } from "../attention.ts";
import type { RepoContext } from "../context.ts";
import type { Decision } from "../decide.ts";
import type { RefusedRelease } from "../start/refused-releases.ts";
import type { Started } from "../start/started.ts";
import type { TrackingIssues } from "../start/tracking-issue.ts";
import type { PutDeployments } from "./deployments.ts";
import type { Labels } from "./labels.ts";
import { SLOW_ROUND_MS, slowness } from "./pace.ts";
import type { PublishRollouts } from "./rollouts-publish.ts";
import type { Comments } from "./send-comment.ts";
import type { ShownWaits } from "./shown-waits.ts";

/** Marks the one comment of ours on a release PR, by rollout. */
export function stickyMarker(rollout: string): string {
  return `stagecoach:rollout:${rollout}`;
}

/** Marks the one comment of ours on why no run would start. */
export const REFUSED_MARKER = "stagecoach:refused";
/** The same of a PR that is merged: a comment of its own, for an edit of the one from before would notify nobody. */
const NOT_STARTED_MARKER = "stagecoach:not-started";

/** A burst of transitions is over when none has come for so long: then it is one edit. */
const CALM_MS = 15_000;
/** A batch that takes long is shown as it stands this often; else there is one edit a batch (docs/spec.md §5). */
const LONG_MS = 5 * 60_000;
/** A run that ended longer ago was told then, or nobody waits for it any more. */
const RECENT_MS = 24 * 3_600_000;
const MOST_KEPT = 1000;

/** What a live page last showed, when, and whether something of it waits to be shown. */
interface Page {
  run: number;
  phase: string;
  waits: readonly PromotableWait[];
  at: number;
  batches: number;
  changedAt: number;
  waiting: boolean;
  remarks: string;
}

interface Parts {
  attention: Pick<Attention, "line">;
  comments: Comments;
  shownWaits: Pick<ShownWaits, "note">;
  analyses: Analyses;
  labels: Labels;
  issues: TrackingIssues;
  publishRollouts: PublishRollouts;
  putDeployments: PutDeployments;
  pastRuns: Pick<PastRuns, "of">;
}

type Context = Pick<RepoContext, "forge" | "clock" | "log" | "planes" | "page">;

export class Publisher {
  readonly #context: Context;
  readonly #parts: Parts;
  readonly #linkTo: ReturnType<typeof applicationLinks>;
  /** By rollout and PR. */
  readonly #pages = new BoundedMap<string, Page>(MOST_KEPT);
  /** From which a release starts no run, as of this round; undefined: it is not known of all. */
  #refusedPulls: ReadonlySet<number | undefined> | undefined;

  constructor(context: Context, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    this.#linkTo = applicationLinks((plane) => context.planes.get(plane)?.uiUrl);
  }

  /** Gives the time (epoch milliseconds) at which something of it is due, without end where nothing is. */
  publish(
    started: readonly Started[],
    refused: readonly RefusedRelease[],
    decisions: readonly Decision[],
    runs: ReadonlyMap<string, Run>,
  ): number {
    for (const { rollout, notice } of started)
      if (notice !== undefined) this.#parts.comments.send({ key: `notice ${rollout}`, marker: stickyMarker(rollout), ...notice });
    const isSure = !started.some(({ isUnsure }) => isUnsure === true);
    this.#publishRefusals([...started.flatMap((s) => s.refused ?? []), ...refused], isSure);
    let due = Number.POSITIVE_INFINITY;
    for (const { advanced, remarks } of decisions) {
      due = Math.min(due, this.#publishRun(advanced, remarks) ?? due, this.#parts.publishRollouts(advanced.run) ?? due);
      this.#parts.putDeployments(advanced.run);
    }
    for (const run of runs.values()) if (this.#isEndUntold(run)) this.#publishRun({ run, change: "none" }, []);
    return due;
  }

  /** The same of a repo whose runs stand still: their pages, and the PRs of releases whose run waits, say why. */
  standBy(started: readonly Started[], runs: ReadonlyMap<string, Run>, held: AttentionReason): void {
    this.#refusedPulls = undefined;
    for (const { rollout, run } of started) {
      const pull = run?.trigger.pull;
      if (run === undefined || pull === undefined || runs.get(rollout)?.number === run.number) continue;
      this.#parts.comments.send({ key: `notice ${rollout}`, pull, marker: stickyMarker(rollout), body: heldNotice(rollout, held) });
    }
    for (const run of runs.values()) if (!isEnded(run)) this.#publishRun({ run, change: "none" }, []);
  }

  /** While the limit is near, a round that nothing asks for comes later. */
  slowedWake(wakeAt: number): number {
    return slowness(this.#context) === undefined ? wakeAt : Math.max(wakeAt, this.#context.clock.now() + SLOW_ROUND_MS);
  }

  /** Brings the release PR's comment up to date: at once for what needs people, else once a batch. */
  #publishRun({ run, change }: Pick<Advanced<Run>, "run" | "change">, seen: readonly AnyReason[]): number | undefined {
    const { pull } = run.trigger;
    if (pull === undefined) return undefined;
    const { analyses, labels, attention } = this.#parts;
    const now = this.#context.clock.now();
    const slow = slowness(this.#context);
    const remarks = [...seen, analyses.remarkOf(run.rollout), labels.remarkOf(run.rollout), slow].filter((one) => one !== undefined);
    const key = `${run.rollout} ${pull}`;
    const page = this.#pages.get(key) ?? { run: 0, phase: "", waits: [], at: 0, batches: 0, changedAt: 0, waiting: false, remarks: "" };
    if (change === "transition") page.changedAt = now;
    page.waiting ||= change !== "none" || page.remarks !== JSON.stringify(remarks);
    this.#pages.set(key, page);
    this.#publishLateStart(run, pull);
    this.#publishHandOver(run, pull);
    // The line is put above each comment as it is sent.
    const phase = `${phaseOf(run)} ${attention.line()}`;
    const waits = promotableWaits(run);
    const isOther = page.run !== run.number;
    const isNews = page.phase !== phase || !waits.every((wait) => page.waits.some((one) => isSameWait(one, wait)));
    page.waiting ||= !isOther && isNews;
    const due = isOther || isNews ? now : dueAt(page, run, slow !== undefined);
    if (!page.waiting && !isOther) return undefined;
    if (due > now) return due;
    const shown = { run: run.number, phase, waits, at: now, batches: editsOf(run), waiting: false, remarks: JSON.stringify(remarks) };
    this.#sendPage(run, pull, Object.assign(page, shown), remarks);
    return undefined;
  }

  #sendPage(run: Run, pull: number, page: Page, remarks: readonly AnyReason[]): void {
    const { comments, shownWaits, issues, pastRuns } = this.#parts;
    const { waits, at } = page;
    const body = runComment(run, at, remarks, defined({ linkTo: this.#linkTo, page: this.#context.page, history: pastRuns.of(run) }));
    comments.send(
      { key: `${run.rollout} ${pull}`, pull, marker: stickyMarker(run.rollout), body },
      {
        // People end a wait once they can read of it.
        sent: (since) => shownWaits.note(run, waits, since),
        failed: () => {
          // Not sent: the next round wants it again.
          page.waiting = true;
          page.phase = "";
        },
      },
    );
    if (run.endedAt === undefined) return;
    const id = `${run.rollout}:${run.number}:${run.endedAt}`;
    comments.send({ key: `end ${id}`, pull, marker: `stagecoach:end:${id}`, body: closingSummary(run) });
    issues.close(run);
  }

  /**
   * A comment of its own for a pause that asks for a person: an edit of the live page notifies nobody. One for each pause, found
   * again by its marker after a restart. Who paused by command knows, and a run that is ending asks nothing.
   */
  #publishHandOver(run: Run, pull: number): void {
    const { paused } = run;
    if (paused === undefined || paused.kind === "Command" || run.ending !== undefined || isEnded(run)) return;
    const id = `${run.rollout}:${run.number}:${paused.at}`;
    const body = pauseNotice(run, this.#context.clock.now(), this.#linkTo, this.#context.page);
    this.#parts.comments.send({ key: `pause ${id}`, pull, marker: `stagecoach:pause:${id}`, body });
  }

  /** One comment a PR, of all rollouts that it releases. */
  #publishRefusals(all: readonly NonNullable<Started["refused"]>[], isSure: boolean): void {
    const { comments } = this.#parts;
    const byPull = Map.groupBy(all, ({ pull }) => pull);
    this.#refusedPulls = isSure ? new Set(byPull.keys()) : undefined;
    for (const [pull, ones] of byPull) {
      // Several may have the same one, of a file that they share.
      const problems = [...new Map(ones.flatMap((one) => one.problems).map((one) => [JSON.stringify(one), one])).values()];
      if (pull === undefined)
        this.#context.log.warn({ problems: problems.map((one) => sayProblem(one).message) }, "a release cannot start");
      else comments.send({ key: `refused ${pull}`, pull, marker: NOT_STARTED_MARKER, body: problemsComment(problems, { merged: true }) });
    }
  }

  /** Whoever looked before may have said that nothing starts. Nobody expects a run from what was merged long ago: that has a comment of its own. */
  #publishLateStart(run: Run, pull: number): void {
    if (isEnded(run)) return;
    if (this.#refusedPulls?.has(pull) === false)
      this.#parts.comments.send({ key: `refused ${pull}`, pull, marker: NOT_STARTED_MARKER, body: nothingMore("solved"), ifThere: true });
    if (run.trigger.refusedAt === undefined) return;
    const id = `${run.rollout}:${run.number}`;
    this.#parts.comments.send({ key: `late ${id}`, pull, marker: `stagecoach:begun:${id}`, body: lateStart(run) });
  }

  /** Of runs that ended shortly before this process began: the one before may have died between recording that and saying it. */
  #isEndUntold({ rollout, number, endedAt, trigger }: Run): boolean {
    if (endedAt === undefined || trigger.pull === undefined || this.#context.clock.now() - epoch(endedAt) > RECENT_MS) return false;
    return this.#pages.get(`${rollout} ${trigger.pull}`)?.run !== number;
  }
}

/** What people have to see at once: a pause and its reason, a control plane lost, Argo Rollouts that wait for them, going on, the end. */
function phaseOf(run: Run): string {
  const rollouts = run.batches.map((batch) => (batch.phase === "Settled" ? "" : pausedSign(batch))).join("");
  const unseen = (run.unseen ?? []).map((one) => one.plane).join();
  const refused = run.batches.filter(({ phase, why }) => phase === "Proposing" && hasCode(why, "OPENING_REFUSED")).length;
  return `${run.phase} ${JSON.stringify(run.paused?.reason ?? "")} ${unseen} ${refused} ${rollouts}`;
}

/** Two signs a batch: it is open in its turn, and merged. Where one follows the other at once that is one burst, and so one edit. */
function editsOf({ batches }: Run): number {
  const merged = batches.filter((batch) => batch.merged !== undefined).length;
  const begun = batches.filter((batch) => (batch.pull !== undefined && batch.ahead !== true) || batch.merged !== undefined).length;
  return begun + merged;
}

function dueAt(page: Page, run: Run, slow: boolean): number {
  if (slow) return Number.POSITIVE_INFINITY;
  const long = page.at + LONG_MS;
  return editsOf(run) > page.batches ? Math.min(long, page.changedAt + CALM_MS) : long;
}
