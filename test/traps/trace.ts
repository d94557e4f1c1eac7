import { at, COMMIT, LATER, merged as laid, MERGED, OLDER, REPO, rawApplication } from "../../src/adapters/argocd/testing/application.ts";
import { decodeApplication } from "../../src/core/argocd/decode/application.ts";
import { assess } from "../../src/core/argocd/liveness/liveness.ts";
import type { Change, ClauseName, LivenessInput, PartName } from "../../src/core/argocd/liveness/types.ts";
import type { ApplicationView } from "../../src/core/argocd/views.ts";
import { defined } from "../../src/core/base/defined.ts";
import type { Verdict } from "../../src/core/run/state/run.ts";
import type { Assessment } from "../../src/core/run/state/world.ts";
import { batch, bench, bring, guard, merged, round, SECOND, see } from "../../src/core/run/testing/bench.ts";

type Raw = Record<string, unknown>;

/** One read of the Application by the bot. `raw` null: there is none. */
export interface Read {
  /** By the bot's clock. */
  at: string;
  raw: Raw | null;
  /** When the bot last asked for it by its name; the rest came by a stream. */
  askedAt?: string;
  /** What the cluster answered to that. */
  answer?: ApplicationView["clusterAnswer"];
  /** What else is known at that moment. */
  given?: Partial<LivenessInput>;
}

/** A sequence of reads on which others went on too early, or never, or called a failure what was none. */
export interface Trap {
  /** `argo-cd#29410`; the first is the one it is built from. Empty: no public report, but a rule of ours. */
  issues: string[];
  /** What happens, as a sentence. */
  name: string;
  /** The part of a clause that alone keeps the batch from passing. Absent: nothing must pass here, it must only not be held up or failed. */
  stops?: PartName;
  /** Verdict at the last read. Where it is live, that is the first read at which it truly is. */
  ends: Verdict;
  change?: Change;
  /** The same at every read. */
  given?: Partial<LivenessInput>;
  /** Each read is confirmed by the one before it (`explain --previous`), instead of by the bot's own count. */
  pairs?: true;
  reads: Read[];
}

/** The status from before: green at the commit before the change. */
export const OLD: Raw = {
  status: {
    sync: { revision: OLDER },
    health: { lastTransitionTime: at("08:00:20") },
    operationState: {
      startedAt: at("08:00:05"),
      finishedAt: at("08:00:08"),
      operation: { sync: { revision: OLDER } },
      syncResult: { revision: OLDER },
    },
    reconciledAt: at("09:58:00"),
  },
};

/** A read at `clock` of the live Application of testing/application.ts with `overs` laid on, one after the other. */
export function read(clock: string, ...overs: Raw[]): Read {
  return { at: clock, raw: overs.reduce(laid, rawApplication()) };
}

/** The spec follows a `targetRevision`; comparedTo and the applied sources still say `compared`. */
export function following(revision: string, compared = revision): Raw {
  const source = { targetRevision: revision };
  const was = { targetRevision: compared };
  return { spec: { source }, status: { sync: { comparedTo: { source: was } }, operationState: { syncResult: { source: was } } } };
}

export const revision = (name: string): Change => ({ kind: "revision", revision: name, repoURL: REPO, mergedAt: MERGED });
export const commit: Extract<Change, { kind: "commit" }> = { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };

const ancestry: NonNullable<LivenessInput["ancestry"]> = (seen) => (seen === LATER ? "contains" : seen === OLDER ? "missing" : "unknown");

interface Outcome {
  assessments: Assessment[];
  /** Index of the read after which the batch was over and the next one was made; undefined: none was. */
  passedAt: number | undefined;
  /** Index of the read after which the target had failed. */
  failedAt: number | undefined;
}

/**
 * Plays the reads to a run of two batches, as the bot does: what an assessment returned is given to the next, and the
 * run's own state machine draws the conclusion.
 */
export function play(trap: Trap, options: { without?: ClauseName | PartName; settleMs?: number; graceMs?: number } = {}): Outcome {
  const run = bench(2);
  run.now = Date.parse(MERGED) - 20 * SECOND;
  bring(run, 1, "open");
  guard(run, 1);
  round(run);
  run.now = Date.parse(MERGED) - SECOND;
  merged(run, 1, { at: new Date(MERGED).toISOString(), commit: COMMIT });
  see(run, "c1", { pins: ["v2"], inHistory: true });
  round(run);
  const outcome: Outcome = { assessments: [], passedAt: undefined, failedAt: undefined };
  let before: Partial<LivenessInput> = trap.pairs === true ? {} : { held: {} };
  for (const [index, one] of looks(trap).entries()) {
    const now = Date.parse(at(one.at));
    const raw = one.raw === null ? null : laid(one.raw, { metadata: { resourceVersion: String(100 + index) } });
    const decoded = raw === null ? undefined : decodeApplication(raw, now);
    const asked = one.askedAt === undefined ? undefined : new Date(at(one.askedAt)).toISOString();
    const application = decoded && defined({ ...decoded, askedAt: asked, clusterAnswer: one.answer });
    const input: LivenessInput = {
      change: trap.change ?? commit,
      settleMs: options.settleMs ?? 10_000,
      graceMs: options.graceMs ?? 60_000,
      ancestry,
      ...before,
      ...trap.given,
      ...one.given,
      application,
      now,
    };
    const assessment = assess(input, options.without === undefined ? {} : { without: options.without });
    outcome.assessments.push(assessment);
    const sighted = defined({ firstSeenAt: assessment.firstSeenAt, firstComparedAt: assessment.firstComparedAt });
    before = defined({ ...sighted, held: assessment.held });
    if (trap.pairs === true && application !== undefined) before = { ...sighted, previous: application };
    run.now = now - SECOND;
    see(run, "c1", { assessment });
    round(run);
    if (run.run.batches.length > 1) outcome.passedAt ??= index;
    if (batch(run.run, 1).targets[0]?.phase === "Failed") outcome.failedAt ??= index;
  }
  return outcome;
}

/** What is good at the last read may have to settle yet: the bot looks again. */
function looks(trap: Trap): Read[] {
  const last = trap.reads.at(-1);
  if (trap.ends !== "live" || last === undefined) return trap.reads;
  const settled = new Date(Date.parse(at(last.at)) + 11_000).toISOString().slice(11, 19);
  return [...trap.reads, defined({ ...last, at: settled, askedAt: last.askedAt === undefined ? undefined : settled })];
}

/** Index of the read at which the batch may pass at the earliest. */
export function mayPass(trap: Trap): number {
  return trap.ends === "live" ? trap.reads.length - 1 : Number.POSITIVE_INFINITY;
}
