import { text } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { gateReason } from "../../reasons/gates.ts";
import { approvedBy } from "../gates/approval.ts";
import { tooEarlyFor } from "../gates/gates.ts";
import { refusalKey, whatToChange } from "../gates/github.ts";
import { INTENTION_MS } from "../state/progress.ts";
import type { Batch } from "../state/run.ts";
import { batchOf, changeBatch, type Draft, mapTargets, moveBatch, moveTarget, pause, wakeAt } from "../state/run-draft.ts";
import { batchName, pullName, whatChanged } from "../state/run-names.ts";
import type { ObservedPull } from "../state/world.ts";
import { arrive } from "./batch-arrive.ts";

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
  const reason = `somebody else made the branch ${batch.branch} (at ${head.slice(0, 10)}): no pull request is opened on it`;
  pause(draft, "Refused", "Git", reason, `delete that branch, then \`/resume\`; or \`/abort\` ends the run`);
}

function open(draft: Draft, batch: Batch, pull: ObservedPull): void {
  const seen = seenPull(pull);
  if (batch.phase === "Proposing") {
    const event = `${batchName(draft.run, batch)} proposed: ${pullName(pull)}`;
    moveBatch(draft, batch.number, "Open", { pull: seen }, event);
    mapTargets(draft, batch.number, (target) =>
      target.phase === "Pending" ? moveTarget(draft, target, "Proposed", `in ${pullName(pull)}, not merged yet`) : target,
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
    pause(
      draft,
      "HeadMoved",
      "stagecoach",
      `${pullName(pull)} was changed: ${whatChanged(pull)}, so it is not merged`,
      "`/resume` closes it and builds it again, `/abort` ends the run",
    );
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
    const reason = `GitHub refuses to merge ${pullName(pull)}: ${text(answer.message)}`;
    pause(draft, "Refused", "GitHub", reason, gateReason("ASK_GITHUB_CHANGE", { change: whatToChange(answer.message) }));
    return;
  }
  if (answer?.kind === "Wait") {
    const refused = { message: answer.message, at: draft.at, key: refusalKey(pull) };
    moveBatch(draft, batch.number, "Open", { intention: undefined, refused }, `GitHub does not merge ${pullName(pull)} yet`);
    return;
  }
  const ends = epoch(intention.at) + INTENTION_MS;
  if (draft.now < ends) {
    wakeAt(draft, ends);
    return;
  }
  moveBatch(draft, batch.number, "Open", { intention: undefined }, `the intention to merge ${pullName(pull)} lapsed`);
}

/** In a merge queue the intention stands for as long as its PR does; a PR that left the queue unmerged is not put in again by itself. */
function inQueue(draft: Draft, batch: Batch, intention: NonNullable<Batch["intention"]>, pull: ObservedPull): boolean {
  if (pull.queue != null) {
    // Its merge group is built and built again without a word of it to the PR.
    wakeAt(draft, draft.now + QUEUE_MS);
    if (intention.queued !== undefined) return true;
    changeBatch(draft, batch.number, { intention: { ...intention, queued: draft.at } }, `${pullName(pull)} is in GitHub's merge queue`);
    return true;
  }
  if (intention.queued === undefined) return false;
  if (pull.queue === undefined) return true;
  moveBatch(draft, batch.number, "Open", { intention: undefined }, `${pullName(pull)} left the merge queue`);
  const said = pull.refusal === undefined ? "" : `: ${text(pull.refusal.message)}`;
  const reason = `GitHub took ${pullName(pull)} out of its merge queue without merging it${said}`;
  pause(draft, "Refused", "GitHub", reason, "look at its checks in the queue, then `/resume` puts it in again; or `/abort`");
  return true;
}

function closed(draft: Draft, batch: Batch, pull: ObservedPull): void {
  if (batch.closing !== undefined) {
    afterClose(draft, batch);
    return;
  }
  if (batch.phase === "Proposing" && batch.pull === undefined) {
    // Closed before it was ever seen open: by a person all the same.
    changeBatch(draft, batch.number, { pull: seenPull(pull) });
  }
  const by = pull.closedBy ?? "somebody";
  moveBatch(draft, batch.number, "Closed", { intention: undefined }, `${pullName(pull)} was closed by ${by}`);
  unpropose(draft, batch.number);
  const reason = `${by} closed ${pullName(pull)} (${batchName(draft.run, batch)}) without merging it`;
  pause(
    draft,
    "PullClosed",
    by,
    reason,
    "`/resume` opens it again as a new PR, `/skip CLUSTER` leaves clusters out, `/abort` ends the run",
  );
}

/** Built again in run-stage.ts, by a run that is not paused or ending. */
function afterClose(draft: Draft, batch: Batch): void {
  moveBatch(draft, batch.number, "Closed", { closing: undefined, intention: undefined });
  unpropose(draft, batch.number);
}

function unpropose(draft: Draft, number: number): void {
  mapTargets(draft, number, (target) =>
    target.phase === "Proposed" ? moveTarget(draft, target, "Pending", "its PR was closed without a merge") : target,
  );
}

function merged(draft: Draft, batch: Batch, pull: ObservedPull): void {
  // A forge that says merged without saying how is read again: the merge commit may lag behind the state.
  if (pull.merged === undefined) return;
  const { commit, at, by, byUs, exact } = pull.merged;
  const early = byUs || batch.phase === "Merging" ? undefined : tooEarlyFor(draft, batch, pull, at);
  arrive(draft, batch, { commit, at, by });
  const seen = seenPull(pull);
  const event = `${batchName(draft.run, batch)} merged: ${pullName(pull)} as ${commit.slice(0, 10)}${byUs ? "" : ` by ${by}`}`;
  const approved = early === undefined ? approvedBy(draft.run, batch) : {};
  changeBatch(draft, batch.number, { pull: seen, intention: undefined, closing: undefined, ...approved }, event);
  if (!exact) {
    const reason = `the merge commit ${commit.slice(0, 10)} of ${pullName(pull)} does not change exactly the pins of its batch`;
    pause(draft, "UnexpectedMerge", by, reason, "look at the commit; `/resume` accepts it, `/abort` ends the run");
  } else if (early !== undefined) {
    const reason = `${by} merged ${pullName(pull)} before its gates allowed it: ${text(early)}`;
    pause(draft, "MergedByOther", by, reason, "`/resume` goes on from there once its clusters are confirmed, `/abort` ends the run");
  }
}
