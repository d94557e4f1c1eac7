/**
 * What stops a repo, or a part of it, said where people look: in one issue of the repo, opened once, edited in place and closed by itself,
 * and in a line above every comment of ours.
 *
 * Whoever meets a trouble notes it and takes it back; nothing of it is kept over a restart, for what is still wrong is met again. Called
 * by a round at its end.
 */
import type { Forge } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { Clock } from "../../core/base/time.ts";
import type { AttentionReason } from "../../core/reasons/attention.ts";
import { ATTENTION_TITLE, attentionIssue, attentionLine, attentionOver } from "../../core/report/run/attention.ts";

export interface Attention {
  /** Notes what is wrong; undefined: nothing any more. `forgetAt`, in epoch milliseconds: it counts no longer than that. */
  note(concern: string, reason: AttentionReason | undefined, forgetAt?: number): void;
  /** What people are told now, the oldest first. What may pass by itself is told once it has lasted. */
  told(): readonly AttentionReason[];
  /** Whether a reason that was noted may pass by itself, and was noted less than so many milliseconds ago. */
  isPassing(reason: AttentionReason, ms: number): boolean;
  /** The line that every comment of ours begins with; "" where all is well. */
  line(): string;
  /** Brings the issue up to date. Gives when there is something to do again, in epoch milliseconds; without end: nothing. */
  publish(): Promise<number>;
}

const MARKER = "stagecoach:attention";
/** What may pass by itself within this is no word of ours worth. */
const LASTS_MS = 20_000;
/** An issue that could not be written is tried again after this, and then longer each time. */
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 30 * 60_000;
const MOST_KEPT = 200;

type Logs = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;

interface Noted {
  reason: AttentionReason;
  since: number;
  forgetAt: number;
}

export function openAttention(
  { forge, clock, log }: { forge: Pick<Forge, "stickyIssue" | "settleIssue">; clock: Clock; log: Logs },
  repository: string,
): Attention {
  const noted = new BoundedMap<string, Noted>(MOST_KEPT);
  /** Body of the issue as it was last sent; "": there is none open. undefined: not known, an earlier process may have left one. */
  let shown: string | undefined;
  let failures = 0;
  let retryAt = 0;

  function lasting(): Noted[] {
    const now = clock.now();
    for (const [concern, { forgetAt }] of noted) if (forgetAt <= now) noted.delete(concern);
    return [...noted.values()].sort((a, b) => a.since - b.since);
  }

  function told(): AttentionReason[] {
    return lasting().flatMap(({ reason, since }) => (clock.now() >= dueAt(reason, since) ? [reason] : []));
  }

  async function bringUpToDate(): Promise<void> {
    const reasons = told();
    const body = reasons.length === 0 ? "" : attentionIssue(reasons);
    if (body === shown || clock.now() < retryAt) return;
    try {
      if (reasons.length > 0) await forge.stickyIssue(MARKER, { title: ATTENTION_TITLE, body, labels: [], reopen: true });
      else await forge.settleIssue?.(MARKER, { title: ATTENTION_TITLE, body: attentionOver() });
      shown = body;
      failures = 0;
    } catch (error) {
      retryAt = clock.now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++);
      log.warn({ repository, error: String(error) }, "the issue on what needs attention could not be written");
    }
  }

  return {
    note(concern, reason, forgetAt = Number.POSITIVE_INFINITY) {
      const before = noted.get(concern);
      if (reason === undefined) noted.delete(concern);
      else noted.set(concern, { reason, since: before?.since ?? clock.now(), forgetAt });
      if (before?.reason.code === reason?.code) return;
      if (reason === undefined) log.info({ repository, concern, was: before?.reason.code }, "what needed attention is over");
      else log.error({ repository, concern, because: reason }, "attention is needed");
    },
    told,
    isPassing(reason, ms) {
      const now = clock.now();
      const { since = now } = lasting().find((one) => one.reason.code === reason.code) ?? {};
      return mayPass(reason) && now - since < ms;
    },
    line: () => attentionLine(told()),
    async publish() {
      await bringUpToDate();
      const now = clock.now();
      const times = lasting().flatMap(({ reason, since, forgetAt }) => [dueAt(reason, since), forgetAt]);
      if (shown !== (told().length === 0 ? "" : attentionIssue(told()))) times.push(retryAt);
      return Math.min(...times.filter((time) => time > now));
    },
  };
}

function mayPass(reason: AttentionReason): boolean {
  const passes = reason.code === "JOURNAL_NOT_READ";
  const vague = "because" in reason && reason.because.code === "WRITE_REFUSED";
  return passes || vague;
}

/** Known to stay until somebody does something: said at once. */
function dueAt(reason: AttentionReason, since: number): number {
  return mayPass(reason) ? since + LASTS_MS : since;
}
