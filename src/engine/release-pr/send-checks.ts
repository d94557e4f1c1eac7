/**
 * Sends what was judged: the check `stagecoach/plan` of every PR and merge group to the base, and the comments of release PRs.
 *
 * What stands there already is not sent again, and what could not be sent is owed until it is.
 */
import type { Pull } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { attentionReason } from "../../core/reasons/attention.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { GATE } from "../../core/report/batch/gate-check.ts";
import { ownBatch, PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import { nothingMore } from "../../core/report/plan/plan-comment.ts";
import type { Command } from "../../core/spec/commands.ts";
import type { Attention } from "../round/attention.ts";
import type { BatchPulls } from "../round/batch-pulls.ts";
import type { Rules } from "../round/branch-rules.ts";
import type { CheckRuns } from "../round/check-runs.ts";
import type { RepoContext } from "../round/context.ts";
import { isRunBranch } from "../round/observe/open-pulls.ts";
import type { Permissions } from "../round/permissions.ts";
import { REFUSED_MARKER } from "../round/publish/publish.ts";
import type { Judged, KnownPull, PlanBase } from "./types.ts";

const QUEUE = "refs/heads/gh-readonly-queue/";
const MOST_KEPT = 5000;
/** Checks of PRs that concern nothing are posted so many at a time: a round must not wait for hundreds of writes. */
const MOST_SENT = 20;

type Context = Pick<RepoContext, "forge" | "mirror" | "commands" | "log" | "repository">;

export interface CheckParts {
  attention: Pick<Attention, "line" | "note">;
  rules: Rules;
  pulls: BatchPulls;
  checkRuns: CheckRuns;
  permissions: Permissions;
}

export class PlanChecks {
  readonly #context: Context;
  readonly #parts: CheckParts;
  /** Commit of a batch's PR or of a merge group → what its check says. */
  readonly #said = new BoundedMap<string, string>(MOST_KEPT);

  constructor(context: Context, parts: CheckParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Where the check is required a batch's own PR must have it before anybody hears of that PR. False: owed. */
  async putOwnBatches(): Promise<boolean> {
    const { rules, pulls } = this.#parts;
    const required = rules.last?.requiredChecks.some((check) => check.context === PLAN_CHECK) === true;
    let all = true;
    // Where its rules cannot be read, GitHub's refusal tells that it is wanted.
    for (const head of pulls.openHeads()) if (required || pulls.isRefusedFor(head, PLAN_CHECK)) all = (await this.putOwn(head)) && all;
    return all;
  }

  /** Of one PR of ours. False: owed. */
  putOwn(head: string): Promise<boolean> {
    return this.#putAt(head, ownBatch(), "the check of a batch's pull request could not be posted");
  }

  /** A merge group is as good as the PR that it merges, which was judged by itself. False: owed. */
  async putGroups(open: readonly Pull[], known: ReadonlyMap<number, KnownPull>, baseBranch: string, login: string): Promise<boolean> {
    const { mirror, repository } = this.#context;
    let all = true;
    for (const [ref, commit] of await mirror.remoteBelow([`${QUEUE}${baseBranch}/`])) {
      const number = Number(/\/pr-(\d+)-[0-9a-f]+$/.exec(ref)?.[1] ?? Number.NaN);
      const pull = open.find((one) => one.number === number);
      const isOwn = pull !== undefined && isOwnBatch(pull, repository, login);
      const words = isOwn ? ownBatch() : known.get(number)?.verdict?.of.check;
      if (words === undefined) continue;
      const { annotations: _, ...rest } = words;
      all = (await this.#putAt(commit, rest, "the check of a merge group could not be posted")) && all;
    }
    return all;
  }

  /** False: owed. */
  async #putAt(head: string, words: ReturnType<typeof ownBatch>, trouble: string): Promise<boolean> {
    const { checkRuns } = this.#parts;
    const said = JSON.stringify(words);
    if (this.#said.get(head) === said && !checkRuns.isAsked(head, PLAN_CHECK)) return true;
    try {
      if (await checkRuns.send(head, PLAN_CHECK, words)) this.#said.set(head, said);
      return true;
    } catch (error) {
      this.#context.log.warn({ head, error: String(error) }, trouble);
      return false;
    }
  }

  /** Says of a repo, where people look, that a check of ours is required and may not be written. */
  async noteForbidden(baseBranch: string): Promise<void> {
    const { permissions, rules, attention } = this.#parts;
    const isForbidden = permissions.isForbidden("checks");
    const required = isForbidden ? (await rules.of(baseBranch).catch(() => undefined))?.requiredChecks : undefined;
    const isRequired = required?.some(({ context }) => context === PLAN_CHECK || context === GATE) === true;
    attention.note("checks", isRequired ? attentionReason("CHECKS_NOT_ALLOWED") : undefined);
  }

  /** Where nothing is ours a PR that concerns nothing gets no check, unless it is required. */
  async isQuiet({ project, index, branch }: PlanBase): Promise<boolean> {
    if (project.rollouts.length + project.problems.length + index.size > 0) return false;
    const asked = await this.#parts.rules.of(branch).catch(() => undefined);
    return asked?.requiredChecks.some(({ context: name }) => name === PLAN_CHECK) !== true;
  }

  /** First those that people wait for; of the others so many in one pass, for each is a write. True: something is owed. */
  async sendAll(judged: readonly Judged[], isQuiet: boolean, isOver: () => boolean): Promise<boolean> {
    const concerns = (one: Judged) => one.known.verdict?.of.concerns === true;
    const waiting = isQuiet ? [] : judged.filter((one) => !concerns(one) && this.#isDue(one.known));
    let owed = waiting.length > MOST_SENT || judged.some((one) => one.owed);
    for (const { number, known, commands } of [...judged.filter(concerns), ...waiting.slice(0, MOST_SENT)]) {
      if (isOver()) return true;
      // Each is sent though the other could not be: a check that is required holds the PR until it is there.
      const isShown = await this.#sent(number, () => this.#putComments(number, known));
      const isSaid = (await this.#sent(number, () => this.#put(known))) && isShown;
      const isAnswered = isSaid && (await this.#sent(number, () => this.#answerAll(commands, known.verdict?.of.withheld)));
      owed ||= !isAnswered;
    }
    return owed;
  }

  async #sent(pull: number, send: () => Promise<void>): Promise<boolean> {
    try {
      await send();
      return true;
    } catch (error) {
      this.#context.log.warn({ pull, error: String(error) }, "what a pull request would do could not be said on it");
      return false;
    }
  }

  /** Where it may not be written none is due: nothing is noted as said until it is. */
  #isDue({ verdict, check, head }: KnownPull): boolean {
    if (verdict === undefined || this.#parts.permissions.isForbidden("checks")) return false;
    return check !== JSON.stringify(verdict.of.check) || this.#parts.checkRuns.isAsked(head, PLAN_CHECK);
  }

  async #put(known: KnownPull): Promise<void> {
    const words = known.verdict?.of.check;
    if (words === undefined || !this.#isDue(known)) return;
    if (await this.#parts.checkRuns.send(known.head, PLAN_CHECK, words)) known.check = JSON.stringify(words);
  }

  /** Sends what differs; a comment of ours that is no longer true is put right, whoever of our processes wrote it. */
  async #putComments(pull: number, known: KnownPull): Promise<void> {
    const { forge } = this.#context;
    const { of } = known.verdict ?? {};
    const wanted = of?.comments ?? new Map<string, string>();
    if (known.comments === undefined && wanted.size === 0 && of?.concerns !== true) return;
    const there = known.comments ?? (await ourComments(forge, pull));
    known.comments = there;
    const put = async (marker: string, body: string): Promise<void> => {
      const whole = `${this.#parts.attention.line()}${body}`;
      if (there.get(marker) === whole) return;
      await forge.stickyComment(pull, marker, body);
      there.set(marker, whole);
    };
    for (const [marker, body] of wanted) await put(marker, body);
    for (const marker of there.keys()) {
      // Where it cannot be said now what the PR does, what was said of it stands.
      const isRefusal = marker === REFUSED_MARKER;
      const isOver = isRefusal ? of?.readable : of?.settled;
      if (!wanted.has(marker) && isOver === true)
        await put(marker, isRefusal ? nothingMore("solved") : nothingMore("noRelease", marker.split(":")[2]));
    }
  }

  async #answerAll(commands: readonly Command[], refusal: AnyReason | undefined): Promise<void> {
    for (const command of commands)
      await this.#context.commands.answer(command, refusal === undefined ? "done" : "refused", refusal ?? engineReason("PLAN_MADE_AFRESH"));
  }
}

/** Markers of the comments about plans that are there already; what they say is not known. */
async function ourComments(forge: Context["forge"], pull: number): Promise<Map<string, string>> {
  const markers = new Map<string, string>();
  for (const { ours, body } of await forge.comments(pull)) {
    const marker = /^<!-- (stagecoach:(?:refused|rollout:[a-z0-9.-]+)) -->/.exec(body)?.[1];
    if (ours && marker !== undefined) markers.set(marker, "");
  }
  return markers;
}

/** Ours by its branch, its repository and its author: a branch alone anybody can name so. */
export function isOwnBatch(pull: Pull, repository: string, login: string): boolean {
  return pull.author === login && isRunBranch(pull, repository);
}
