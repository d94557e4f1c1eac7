/**
 * Sends what was judged: the check `stagecoach/plan` of every PR and merge group to the base, and the comments of release PRs.
 *
 * What stands there already is not sent again, and what could not be sent is owed until it is.
 */
import type { Pull } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { attentionReason } from "../../core/reasons/attention.ts";
import { GATE } from "../../core/report/batch/gate-check.ts";
import { ownBatch, PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import { nothingMore } from "../../core/report/plan/plan-comment.ts";
import type { Attention } from "../round/attention.ts";
import type { BatchPulls } from "../round/batch-pulls.ts";
import type { Rules } from "../round/branch-rules.ts";
import type { CheckRuns } from "../round/check-runs.ts";
import type { RepoContext } from "../round/context.ts";
import { isRunBranch } from "../round/observe/open-pulls.ts";
import type { Permissions } from "../round/permissions.ts";
import { REFUSED_MARKER } from "../round/publish/publish.ts";
import type { KnownPull } from "./types.ts";

const QUEUE = "refs/heads/gh-readonly-queue/";
const MOST_KEPT = 5000;

interface PlanChecks {
  /** Where the check is required a batch's own PR must have it before anybody hears of that PR. False: owed. */
  putOwnBatches(): Promise<boolean>;
  /** Says of a repo, where people look, that a check of ours is required and may not be written. */
  noteForbidden(baseBranch: string): Promise<void>;
  /** Of one PR of ours. False: owed. */
  putOwn(head: string): Promise<boolean>;
  /** A merge group is as good as the PR that it merges, which was judged by itself. False: owed. */
  putGroups(open: readonly Pull[], known: ReadonlyMap<number, KnownPull>, baseBranch: string, login: string): Promise<boolean>;
  /** Where it may not be written none is due: nothing is noted as said until it is. */
  isDue(known: KnownPull): boolean;
  put(known: KnownPull): Promise<void>;
  /** Sends what differs; a comment of ours that is no longer true is put right, whoever of our processes wrote it. */
  putComments(pull: number, known: KnownPull): Promise<void>;
}

type Context = Pick<RepoContext, "forge" | "mirror" | "log" | "repository">;

interface Parts {
  attention: Pick<Attention, "line" | "note">;
  rules: Rules;
  pulls: BatchPulls;
  checkRuns: CheckRuns;
  permissions: Permissions;
}

export function openPlanChecks({ forge, mirror, log, repository }: Context, parts: Parts): PlanChecks {
  const { attention, rules, pulls, checkRuns, permissions } = parts;
  /** Commit of a batch's PR or of a merge group → what its check says. */
  const sent = new BoundedMap<string, string>(MOST_KEPT);

  /** False: owed. */
  async function putAt(head: string, words: ReturnType<typeof ownBatch>, trouble: string): Promise<boolean> {
    const said = JSON.stringify(words);
    if (sent.get(head) === said && !checkRuns.isAsked(head, PLAN_CHECK)) return true;
    try {
      if (await checkRuns.send(head, PLAN_CHECK, words)) sent.set(head, said);
      return true;
    } catch (error) {
      log.warn({ head, error: String(error) }, trouble);
      return false;
    }
  }

  function putOwn(head: string): Promise<boolean> {
    return putAt(head, ownBatch(), "the check of a batch's pull request could not be posted");
  }

  function isDue({ verdict, check, head }: KnownPull): boolean {
    if (verdict === undefined || permissions.isForbidden("checks")) return false;
    return check !== JSON.stringify(verdict.of.check) || checkRuns.isAsked(head, PLAN_CHECK);
  }

  /** Markers of the comments about plans that are there already; what they say is not known. */
  async function ourComments(pull: number): Promise<Map<string, string>> {
    const markers = new Map<string, string>();
    for (const { ours, body } of await forge.comments(pull)) {
      const marker = /^<!-- (stagecoach:(?:refused|rollout:[a-z0-9.-]+)) -->/.exec(body)?.[1];
      if (ours && marker !== undefined) markers.set(marker, "");
    }
    return markers;
  }

  return {
    putOwn,
    isDue,
    async putOwnBatches() {
      const required = rules.last?.requiredChecks.some((check) => check.context === PLAN_CHECK) === true;
      let all = true;
      // Where its rules cannot be read, GitHub's refusal tells that it is wanted.
      for (const head of pulls.openHeads()) if (required || pulls.isRefusedFor(head, PLAN_CHECK)) all = (await putOwn(head)) && all;
      return all;
    },
    async noteForbidden(baseBranch) {
      const isForbidden = permissions.isForbidden("checks");
      const required = isForbidden ? (await rules.of(baseBranch).catch(() => undefined))?.requiredChecks : undefined;
      const isRequired = required?.some(({ context }) => context === PLAN_CHECK || context === GATE) === true;
      attention.note("checks", isRequired ? attentionReason("CHECKS_NOT_ALLOWED") : undefined);
    },
    async putGroups(open, known, baseBranch, login) {
      let all = true;
      for (const [ref, commit] of await mirror.remoteBelow([`${QUEUE}${baseBranch}/`])) {
        const number = Number(/\/pr-(\d+)-[0-9a-f]+$/.exec(ref)?.[1] ?? Number.NaN);
        const pull = open.find((one) => one.number === number);
        const isOwn = pull !== undefined && isOwnBatch(pull, repository, login);
        const words = isOwn ? ownBatch() : known.get(number)?.verdict?.of.check;
        if (words === undefined) continue;
        const { annotations: _, ...rest } = words;
        all = (await putAt(commit, rest, "the check of a merge group could not be posted")) && all;
      }
      return all;
    },
    async put(known) {
      const words = known.verdict?.of.check;
      if (words === undefined || !isDue(known)) return;
      if (await checkRuns.send(known.head, PLAN_CHECK, words)) known.check = JSON.stringify(words);
    },
    async putComments(pull, known) {
      const { of } = known.verdict ?? {};
      const wanted = of?.comments ?? new Map<string, string>();
      if (known.comments === undefined && wanted.size === 0 && of?.concerns !== true) return;
      const there = known.comments ?? (await ourComments(pull));
      known.comments = there;
      async function put(marker: string, body: string): Promise<void> {
        const whole = `${attention.line()}${body}`;
        if (there.get(marker) === whole) return;
        await forge.stickyComment(pull, marker, body);
        there.set(marker, whole);
      }
      for (const [marker, body] of wanted) await put(marker, body);
      for (const marker of there.keys()) {
        // Where it cannot be said now what the PR does, what was said of it stands.
        const isRefusal = marker === REFUSED_MARKER;
        const isOver = isRefusal ? of?.readable : of?.settled;
        if (!wanted.has(marker) && isOver === true)
          await put(marker, isRefusal ? nothingMore("solved") : nothingMore("noRelease", marker.split(":")[2]));
      }
    },
  };
}

/** Ours by its branch, its repository and its author: a branch alone anybody can name so. */
export function isOwnBatch(pull: Pull, repository: string, login: string): boolean {
  return pull.author === login && isRunBranch(pull, repository);
}
