import { text } from "../../base/reason.ts";
import type { Approval, Batch, Run } from "../state/run.ts";
import { amendedSince, approvalHash } from "../state/run-amend.ts";
import type { Draft } from "../state/run-draft.ts";
import { pullName } from "../state/run-names.ts";
import type { Approver } from "../state/world.ts";
import type { Blocked } from "./pull-gates.ts";

export { approvalHash } from "../state/run-amend.ts";

/** Approvals of a stage by command that have not lapsed by a change of what it holds. */
export function givenApprovals(run: Run, stage: number): Approval[] {
  const hash = approvalHash(run, stage);
  return (run.approvals ?? []).filter((one) => one.stage === stage && one.hash === hash);
}

/**
 * Who has approved a stage: by command, and by review of the batch's PR at its head since the stage holds what it does. Nobody twice, never who released it, and
 * nobody who is not in one of the teams any more.
 */
export function approversOf(draft: Draft, batch: Batch): string[] {
  const { run, world } = draft;
  const gone = new Set(world.lapsed?.get(batch.number)?.map(({ by }) => by.toLowerCase()));
  const byCommand = givenApprovals(run, batch.stage).filter(({ by }) => !gone.has(by.toLowerCase()));
  const byReview = reviewsOf(draft, batch).filter(({ at }) => !amendedSince(run, batch.stage, at));
  const people = new Map([...byCommand, ...byReview].map(({ by }) => [by.toLowerCase(), by]));
  for (const login of releasedBy(run)) people.delete(login.toLowerCase());
  return [...people.values()];
}

/** Approving reviews of its pull request at its head, by members. */
function reviewsOf({ world }: Draft, batch: Batch): readonly Approver[] {
  return world.approvals?.get(batch.number) ?? [];
}

/** Reviews that were given before the stage became what it is: who has to look again. */
function outdated(draft: Draft, batch: Batch, have: readonly string[]): string {
  const late = reviewsOf(draft, batch).filter(({ by, at }) => amendedSince(draft.run, batch.stage, at) && !have.includes(by));
  return late.map(({ by }) => `; @${by} approved it before what the stage holds changed`).join("");
}

/** Accounts that brought the release in. */
function releasedBy({ trigger }: Run): string[] {
  return trigger.accounts ?? [trigger.author];
}

function butNot(run: Run): string {
  const released = releasedBy(run);
  if (released.length > 0) return `not ${released.map((login) => `@${login}`).join(" or ")}, who released it`;
  return `GitHub knows no account that released it (its commit says ${run.trigger.author}), so nobody is excluded`;
}

/** Wanted before anything of the stage has merged. */
export function wantsApproval(run: Run, batch: Batch): { teams: string[]; count: number } | undefined {
  const approval = run.spec.stages[batch.stage]?.approval;
  if (approval === undefined) return undefined;
  // Begun by us, which takes the approval. What was at the release already, or a person merged past the gates, has none.
  // A merge that was intended and never came has taken none either: its PR may be another by now.
  const taken = (one: Batch) => one.intention !== undefined || (one.approved === true && one.merged !== undefined);
  const begun = run.batches.some((one) => one.stage === batch.stage && taken(one));
  return begun ? undefined : approval;
}

export function approvalGate(draft: Draft, batch: Batch): Blocked | undefined {
  const wanted = wantsApproval(draft.run, batch);
  if (wanted === undefined) return undefined;
  const have = approversOf(draft, batch);
  if (have.length >= wanted.count) return undefined;
  const teams = wanted.teams.map((team) => `@${team}`).join(" or ");
  const so = have.length === 0 ? "" : `, approved so far by ${have.map((by) => `@${by}`).join(", ")}`;
  const of = wanted.count === 1 ? `a member of ${teams}` : `${wanted.count} members of ${teams} (${have.length} of ${wanted.count}${so})`;
  const lapsed = (draft.world.lapsed?.get(batch.number) ?? []).map(({ by, why }) => `; @${by} approved it, and ${text(why)}`).join("");
  const seen = draft.world.approvals === undefined ? "; reviews could not be read just now" : "";
  const name = pullName(batch.pull);
  return {
    why: `stage "${draft.run.plan.stages[batch.stage]?.name ?? ""}" wants the approval of ${of}${lapsed}${outdated(draft, batch, have)}${seen}`,
    next: { what: `one of them approves ${name} or comments \`/promote\` on it; ${butNot(draft.run)}` },
  };
}

/** `/promote` as an approval. A sentence where it is none: why not. undefined: the batch wants no approval. */
export function approve(draft: Draft, batch: Batch, actor: string, teams: readonly string[] | undefined): Approval | string | undefined {
  const wanted = wantsApproval(draft.run, batch);
  if (wanted === undefined || approversOf(draft, batch).length >= wanted.count) return undefined;
  if (releasedBy(draft.run).some((login) => login.toLowerCase() === actor.toLowerCase()))
    return `@${actor} released it, and somebody else has to approve`;
  const names = wanted.teams.map((team) => `@${team}`).join(" or ");
  if (teams === undefined) return `whether @${actor} is in ${names} cannot be seen: the App needs \`members: read\``;
  if (!wanted.teams.some((team) => teams.includes(team))) return `@${actor} is not in ${names}, who approve this stage`;
  return { stage: batch.stage, hash: approvalHash(draft.run, batch.stage), by: actor, at: draft.at };
}
