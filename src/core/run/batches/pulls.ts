import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { approvedBy } from "../gates/approval.ts";
import { tooEarlyFor } from "../gates/gates.ts";
import { refusalKey } from "../gates/github.ts";
import { obstaclesIn, whatToChange } from "../gates/github-words.ts";
import { changedPull } from "../gates/sound.ts";
import { batchOf, changeBatch, type Draft, mapTargets, moveBatch, moveTarget, noteBatch, pause, wakeAt } from "../state/draft.ts";
import { batchRef, pullRef } from "../state/names.ts";
import { INTENTION_MS } from "../state/progress.ts";
import type { Batch } from "../state/run.ts";
import type { ObservedPull } from "../state/world.ts";
import { pauseWhereBuiltOften } from "./close.ts";
import { arrive } from "./merged.ts";

/** How often a PR in a merge queue is looked at. */
const QUEUE_MS = 30_000;

/** Takes in what the forge says of each batch's PR. Only looks: whether to merge is judged later, in gates.ts. */
export function observePulls(draft: Draft): void {
  for (const { number } of draft.run.batches) {
    const batch = batchOf(draft.run, number);
    if (batch.merged !== undefined || batch.phase === "Settled" || batch.phase === "Closed") continue;
    const pull = draft.world.pulls.get(number);
    if (pull === undefined) continue;
    if (pull === null) absent(draft, batch);
    else if (pull.state === "merged") merged(draft, batch, pull);
    else if (pull.state === "closed") closed(draft, batch, pull);
    else open(draft, batch, pull);
  }
}

/** What the batch keeps of its PR; nothing where it moves branches. */
function seenPull({ number, url, head, openedAt }: ObservedPull): Batch["pull"] {
  return number === 0 ? undefined : { number, url, head, openedAt };
}

/** No PR for the branch: one of ours that was to be closed is not there to be merged either. */
function absent(draft: Draft, batch: Batch): void {
  if (batch.closing !== undefined) {
    afterClose(draft, batch);
    return;
  }
  const head = draft.world.taken?.get(batch.number);
  if (head === undefined) return;
  pause(draft, "Refused", "Git", runReason("BRANCH_TAKEN", { branch: batch.branch, head }), runReason("ASK_DELETE_BRANCH"));
}

function open(draft: Draft, batch: Batch, pull: ObservedPull): void {
  const seen = seenPull(pull);
  if (batch.phase === "Proposing") {
    const event = runReason("BATCH_PROPOSED", { batch: batchRef(draft.run, batch), pull: pullRef(pull) });
    // Before its turn nothing hangs on it, and its branch tells it again.
    if (batch.ahead === true) noteBatch(draft, batch.number, { phase: "Open", since: draft.at, pull: seen }, event);
    else moveBatch(draft, batch.number, "Open", { pull: seen }, event);
    mapTargets(draft, batch.number, (target) =>
      target.phase === "Pending" ? moveTarget(draft, target, "Proposed", runReason("TARGET_IN_PULL", { pull: pullRef(pull) })) : target,
    );
  } else if (seen !== undefined && pull.headIsOurs && (batch.pull?.head !== pull.head || batch.pull.number !== pull.number)) {
    changeBatch(draft, batch.number, { pull: seen });
  }
  if (batch.closing !== undefined) {
    draft.effects.push({ kind: "Close", batch: batch.number, pull: pull.number, why: batch.closing.why });
    return;
  }
  lapse(draft, batchOf(draft.run, batch.number), pull);
  if (!pull.headIsOurs) {
    const reason = runReason("CHANGED_NOT_MERGED", { because: changedPull(pull) });
    pause(draft, "HeadMoved", "stagecoach", reason, runReason("ASK_BUILD_AGAIN"));
  }
}

/**
 * An outstanding intention ends by GitHub's answer that a person has to change something or that something has to happen first,
 * by leaving the merge queue, or 30 s after it was journalled: a call of an older one cannot be under way.
 */
function lapse(draft: Draft, batch: Batch, pull: ObservedPull): void {
  const { intention } = batch;
  if (intention === undefined || inQueue(draft, batch, intention, pull)) return;
  const answer = pull.refusal?.to === undefined || pull.refusal.to === intention.at ? pull.refusal : undefined;
  if (answer?.kind === "Human") {
    moveBatch(draft, batch.number, "Open", { intention: undefined });
    const reason = runReason("GITHUB_REFUSES", { pull: pullRef(pull), obstacles: obstaclesIn(answer.message), message: answer.message });
    pause(draft, "Refused", "GitHub", reason, runReason("ASK_GITHUB_CHANGE", { change: whatToChange(answer.message) }));
    return;
  }
  if (answer?.kind === "Wait") {
    const refused = { message: answer.message, at: intention.at, key: refusalKey(pull) };
    moveBatch(draft, batch.number, "Open", { intention: undefined, refused }, runReason("GITHUB_WAITS", { pull: pullRef(pull) }));
    return;
  }
  const ends = epoch(intention.at) + INTENTION_MS;
  if (draft.now < ends) {
    wakeAt(draft, ends);
    return;
  }
  moveBatch(draft, batch.number, "Open", { intention: undefined }, runReason("INTENTION_LAPSED", { pull: pullRef(pull) }));
}

/** In a merge queue the intention stands for as long as its PR does; a PR that left the queue unmerged is not put in again by itself. */
function inQueue(draft: Draft, batch: Batch, intention: NonNullable<Batch["intention"]>, pull: ObservedPull): boolean {
  if (pull.queue != null) {
    // Its merge group is built and built again without a word of it to the PR.
    wakeAt(draft, draft.now + QUEUE_MS);
    if (intention.queued !== undefined) return true;
    changeBatch(
      draft,
      batch.number,
      { intention: { ...intention, queued: draft.at } },
      runReason("QUEUE_ENTERED", { pull: pullRef(pull) }),
    );
    return true;
  }
  if (intention.queued === undefined) return false;
  if (pull.queue === undefined) return true;
  moveBatch(draft, batch.number, "Open", { intention: undefined }, runReason("QUEUE_LEFT", { pull: pullRef(pull) }));
  const { message, failed } = pull.refusal ?? {};
  const told = message ? { message, obstacles: obstaclesIn(message) } : {};
  const why = { ...told, failed: failed?.checks.map((name) => `"${name}"`), head: failed?.head };
  pause(draft, "Refused", "GitHub", runReason("QUEUE_REFUSED", { pull: pullRef(pull), ...why }), runReason("ASK_QUEUE"));
  return true;
}

function closed(draft: Draft, batch: Batch, pull: ObservedPull): void {
  if (batch.closing !== undefined) {
    afterClose(draft, batch);
    return;
  }
  if (pull.closedByUs === true) {
    // Another process of ours had its reason, and no person has said anything by it: it is built again, for so many times.
    const because = runReason("PULL_CLOSED", { pull: pullRef(pull), by: pull.closedBy ?? "" });
    draft.events.push(because);
    pauseWhereBuiltOften(draft, batch, because);
    afterClose(draft, batch);
    return;
  }
  if (batch.phase === "Proposing" && batch.pull === undefined) {
    // Closed before it was ever seen open: by a person all the same.
    changeBatch(draft, batch.number, { pull: seenPull(pull) });
  }
  const by = pull.closedBy ?? "somebody";
  moveBatch(draft, batch.number, "Closed", { intention: undefined }, runReason("PULL_CLOSED", { pull: pullRef(pull), by }));
  unpropose(draft, batch.number);
  const reason = runReason("CLOSED_UNMERGED", { by, pull: pullRef(pull), batch: batchRef(draft.run, batch) });
  pause(draft, "PullClosed", by, reason, runReason("ASK_CLOSED"));
}

/** Built again in stage.ts, by a run that is not paused or ending. */
function afterClose(draft: Draft, batch: Batch): void {
  moveBatch(draft, batch.number, "Closed", { closing: undefined, intention: undefined });
  unpropose(draft, batch.number);
}

function unpropose(draft: Draft, number: number): void {
  mapTargets(draft, number, (target) =>
    target.phase === "Proposed" ? moveTarget(draft, target, "Pending", runReason("TARGET_PULL_CLOSED")) : target,
  );
}

function merged(draft: Draft, batch: Batch, pull: ObservedPull): void {
  // A forge that says merged without saying how is read again: the merge commit may lag behind the state.
  if (pull.merged === undefined) return;
  const { commit, at, by, byUs, exact } = pull.merged;
  const early = byUs || batch.phase === "Merging" ? undefined : tooEarlyFor(draft, batch, pull, at);
  // What was meant stands in the journal, and that it came about is seen again by the PR's number: no record of its own. A rollback's
  // last merge restores the release, and is told by its record from one that somebody releases.
  const put = byUs && batch.intention !== undefined && draft.run.kind !== "Rollback" ? noteBatch : changeBatch;
  arrive(draft, batch, { commit, at, by }, put);
  const seen = seenPull(pull);
  const who = byUs ? {} : { by };
  const event = runReason("BATCH_MERGED", { batch: batchRef(draft.run, batch), pull: pullRef(pull), commit, ...who });
  const approved = early === undefined ? approvedBy(draft.run, batch) : {};
  put(draft, batch.number, { pull: seen, intention: undefined, closing: undefined, ...approved }, event);
  if (!exact) {
    const reason = runReason("MERGE_UNEXPECTED", { commit, pull: pullRef(pull) });
    pause(draft, "UnexpectedMerge", by, reason, runReason("ASK_UNEXPECTED"));
  } else if (early !== undefined) {
    const reason = runReason("MERGED_EARLY", { by, pull: pullRef(pull), because: early });
    pause(draft, "MergedByOther", by, reason, runReason("ASK_MERGED_EARLY"));
  }
}
