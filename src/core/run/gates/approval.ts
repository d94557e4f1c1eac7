import type { AnyReason } from "../../base/reason.ts";
import { iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import type { Stage } from "../../spec/rollout.ts";
import { amendedSince, approvalHash } from "../state/amend.ts";
import { type Scene, type Wait, wait } from "../state/decision.ts";
import { pullRef } from "../state/names.ts";
import type { Approval, Batch, Run } from "../state/run.ts";
import type { Approver } from "../state/world.ts";

/** Approvals of a stage by command that have not lapsed by a change of what it holds. */
export function givenApprovals(run: Run, stage: number): Approval[] {
  const hash = approvalHash(run, stage);
  return (run.approvals ?? []).filter((one) => one.stage === stage && one.hash === hash);
}

/**
 * Who has approved a stage: by command, and by review of the batch's PR at its head since the stage holds what it does. Nobody twice, never who released it, and
 * nobody who is not in one of the teams any more.
 */
function approversOf(scene: Scene, batch: Batch): string[] {
  const { run, world } = scene;
  const gone = new Set(world.lapsed?.get(batch.number)?.map(({ by }) => by.toLowerCase()));
  const byCommand = givenApprovals(run, batch.stage).filter(({ by }) => !gone.has(by.toLowerCase()));
  const byReview = reviewsOf(scene, batch).filter(({ at }) => !amendedSince(run, batch.stage, at));
  const people = new Map([...byCommand, ...byReview].map(({ by }) => [by.toLowerCase(), by]));
  for (const login of excluded(run, batch.stage)) people.delete(login.toLowerCase());
  return [...people.values()];
}

/**
 * Whether enough have approved. A commit that nobody can be held to have made may be any approver's own: one person more has to have looked
 * at it then, here or in a review of the release's pull request.
 */
function isApproved({ run }: Scene, batch: Batch, want: number, have: readonly string[]): boolean {
  if (have.length < want) return false;
  if ((run.trigger.unlinked ?? []).length === 0) return true;
  return new Set([...have, ...reviewedBy(run, batch.stage)].map((login) => login.toLowerCase())).size > want;
}

/** Who reviewed the release itself, of those who may approve. */
function reviewedBy(run: Run, stage: number): string[] {
  const out = new Set(excluded(run, stage).map((login) => login.toLowerCase()));
  return (run.trigger.reviewers ?? []).filter((login) => !out.has(login.toLowerCase()));
}

/** Approving reviews of its pull request at its head, by members. */
function reviewsOf({ world }: Scene, batch: Batch): readonly Approver[] {
  return world.approvals?.get(batch.number) ?? [];
}

/** Who approved it before the stage became what it is, and has to look again. */
function outdated(scene: Scene, batch: Batch, have: readonly string[]): string[] {
  const late = reviewsOf(scene, batch).filter(({ by, at }) => amendedSince(scene.run, batch.stage, at) && !have.includes(by));
  return late.map(({ by }) => by);
}

/** Accounts that do not approve this stage: who released, and who merged that where the stage says so. */
function excluded(run: Run, stage: number): string[] {
  return notApprovers(run, stage).map(({ by }) => by);
}

/** Whoever cannot approve it, whatever their teams, each with why. */
export function notApprovers(run: Run, stage: number): { by: string; code: "APPROVER_RELEASED" | "APPROVER_MERGED" }[] {
  return [
    ...releasedBy(run).map((by) => ({ by, code: "APPROVER_RELEASED" as const })),
    ...mergerOf(run, stage).map((by) => ({ by, code: "APPROVER_MERGED" as const })),
  ];
}

function mergerOf({ spec, trigger: { merger } }: Run, stage: number): string[] {
  return merger !== undefined && spec.stages[stage]?.approval?.notBy?.includes("merger") === true ? [merger] : [];
}

/** Accounts that brought the release in. */
function releasedBy({ trigger }: Run): string[] {
  return trigger.accounts ?? [trigger.author];
}

/** Wanted before anything of the stage has merged. */
export function wantsApproval(run: Run, batch: Pick<Batch, "stage">): Stage["approval"] {
  const approval = run.spec.stages[batch.stage]?.approval;
  if (approval === undefined) return undefined;
  // Begun by us, which takes the approval. What was at the release already, or a person merged past the gates, has none.
  // A merge that was intended and never came has taken none either: its PR may be another by now.
  const taken = (one: Batch) => one.intention !== undefined || (one.approved === true && one.merged !== undefined);
  const begun = run.batches.some((one) => one.stage === batch.stage && taken(one));
  return begun ? undefined : approval;
}

export function approvalGate(scene: Scene, batch: Batch): Wait | undefined {
  const { run, world } = scene;
  const wanted = wantsApproval(run, batch);
  if (wanted === undefined) return undefined;
  const have = approversOf(scene, batch);
  if (isApproved(scene, batch, wanted.count, have)) return undefined;
  const why = runReason("APPROVAL_WANTED", {
    stage: run.plan.stages[batch.stage]?.name ?? "",
    teams: wanted.teams,
    want: wanted.count,
    have,
    lapsed: (world.lapsed?.get(batch.number) ?? []).map(({ by, why: because }) => ({ by, because })),
    outdated: outdated(scene, batch, have),
    unread: world.approvals === undefined,
    unlinked: run.trigger.unlinked ?? [],
    reviewed: reviewedBy(run, batch.stage),
  });
  const left = Math.max(1, wanted.count - have.length);
  const people = {
    teams: wanted.teams,
    left,
    released: releasedBy(run),
    author: run.trigger.author,
    merger: mergerOf(run, batch.stage)[0],
  };
  return wait(why, { what: runReason("NEXT_APPROVED", { pull: pullRef(batch.pull), ...people }) });
}

/** `/promote` as an approval; a reason where it is none: why not. undefined: the batch wants no approval. */
export function approve(scene: Scene, batch: Batch, by: string, memberOf: readonly string[] | undefined): Approval | AnyReason | undefined {
  const { run, now } = scene;
  const wanted = wantsApproval(run, batch);
  if (wanted === undefined || isApproved(scene, batch, wanted.count, approversOf(scene, batch))) return undefined;
  const not = notApprovers(run, batch.stage).find((one) => one.by.toLowerCase() === by.toLowerCase());
  if (not !== undefined) return runReason(not.code, { by });
  const { teams } = wanted;
  if (memberOf === undefined) return runReason("APPROVER_TEAMS_UNSEEN", { by, teams });
  if (!teams.some((team) => memberOf.includes(team))) return runReason("APPROVER_IN_NO_TEAM", { by, teams });
  return { stage: batch.stage, hash: approvalHash(run, batch.stage), by, at: iso(now) };
}

/** Every gate was open, that of approval too: the stage's later batches want none. */
export function approvedBy(run: Run, batch: Batch): { approved?: true } {
  return run.spec.stages[batch.stage]?.approval === undefined ? {} : { approved: true };
}
