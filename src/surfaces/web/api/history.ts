/** Past runs, from the journal: each look reads Git, so only so many go on at once, and what was read is kept while the journal stays. */
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { API_VERSION, runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { isEnded } from "../../../core/run/state/run.ts";
import type { WebClock, WebSource } from "../source.ts";
import type { RunEvents, RunHistory, TargetEvidence } from "./documents.ts";
import { type LiveModels, type Written, writeDocument } from "./live-models.ts";
import { openTurns } from "./turns.ts";
import { Denied } from "./viewers.ts";

const MOST_AT_ONCE = 4;
const MOST_WAITING = 64;
const MOST_EVENTS = 5_000;
/** Ended runs are as they are for good. */
const MOST_KEPT = 50;

interface Place {
  repository: string;
  rollout: string;
}

/** The journal is broken, or Git did not give it: that is told as such, unlike a fault of ours. `file`: the one that does not hold. */
export class JournalUnread extends Error {
  readonly file: string | undefined;
  constructor(cause: unknown) {
    super("the journal cannot be read", { cause });
    this.file = cause instanceof JournalFileError ? cause.file : undefined;
  }
}

/** Reads the journal, so many at once. */
export function openReading(atOnce: number): ReturnType<typeof openTurns> {
  const inLine = openTurns({ atOnce, waiting: MOST_WAITING, full: () => new Denied("UNAVAILABLE") });
  return (work) =>
    inLine(async () => {
      try {
        return await work();
      } catch (error) {
        throw new JournalUnread(error);
      }
    });
}

export type RunHistories = ReturnType<typeof openRunHistory>;

export function openRunHistory(source: WebSource, clock: WebClock, { links: linkTo }: Pick<LiveModels, "links">) {
  const reading = openReading(MOST_AT_ONCE);
  /** By journal: another repository that has the name by now is not told of the runs of the one before. */
  const endedOf = new WeakMap<object, BoundedMap<string, Written>>();

  return {
    /** Newest first; undefined: there is no such repository. */
    async runs({ repository, rollout }: Place, { before, limit }: { before: number; limit: number }): Promise<RunHistory | undefined> {
      const journal = source.journal?.(repository);
      if (journal === undefined) return undefined;
      const all = await reading(() => journal.runs(rollout));
      const older = all.filter(({ number }) => number < before).toReversed();
      const items = older.slice(0, limit).map(({ startedAt, ...one }) => defined({ ...one, startedAt: startedAt || undefined }));
      const last = items.at(-1)?.number;
      const next = older.length > limit && last !== undefined ? `?before=${last}&limit=${limit}` : undefined;
      return { apiVersion: API_VERSION, kind: "RunHistory", repository, rollout, items, next };
    },

    async run({ repository, rollout }: Place, number: number): Promise<Written | undefined> {
      const journal = source.journal?.(repository);
      if (journal === undefined) return undefined;
      const ended = endedOf.get(journal) ?? new BoundedMap<string, Written>(MOST_KEPT);
      endedOf.set(journal, ended);
      const name = `${rollout}#${number}`;
      const kept = ended.get(name);
      if (kept !== undefined) return kept;
      const run = await reading(() => journal.run(rollout, number));
      if (run === undefined) return undefined;
      const document = runDocument(modelOf(run, clock.now(), { linkTo }), clock.now(), { repository });
      const text = writeDocument(document);
      if (isEnded(run)) ended.set(name, text);
      return text;
    },

    /** `target`: `hub/argocd/payments-eu-1`. undefined: the run has not reached it, or there is none. */
    async evidence({ repository, rollout }: Place, number: number, target: string): Promise<TargetEvidence | undefined> {
      const journal = source.journal?.(repository);
      const run = journal && (await reading(() => journal.run(rollout, number)));
      const batch = run?.batches.findLast(({ targets }) => targets.some(({ key }) => key === target));
      const { evidence } = batch?.targets.find(({ key }) => key === target) ?? {};
      if (batch === undefined) return undefined;
      const fields = Object.entries(evidence?.fields ?? {}).map(([name, value]) => ({ name, value: String(value ?? "none") }));
      return defined({
        ...{ apiVersion: API_VERSION, kind: "TargetEvidence" as const, repository, rollout, number, target, batch: batch.number },
        merged: batch.merged && { commit: batch.merged.commit, at: batch.merged.at },
        evidence: evidence && { verdict: evidence.verdict, clause: evidence.clause, readAt: evidence.readAt, fields },
      });
    },

    /** What was recorded of one run, oldest first: who did what. */
    async events({ repository, rollout }: Place, number: number): Promise<RunEvents | undefined> {
      const journal = source.journal?.(repository);
      const log = journal === undefined ? [] : await reading(() => journal.log(rollout, number));
      if (log.length === 0) return undefined;
      const items = log
        .slice(-MOST_EVENTS)
        .map(({ sha, at, subject, trailers }) => ({ at, says: subject, by: trailers["Stagecoach-Actor"], commit: sha, trailers }));
      return { apiVersion: API_VERSION, kind: "RunEvents", repository, rollout, number, items };
    },
  };
}
