import type { Review } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { iso } from "../../../core/base/time.ts";
import { givenApprovals, wantsApproval } from "../../../core/run/gates/approval.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Approver, Lapsed, ObservedPull, World } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
import type { RepoContext } from "../context.ts";

/** Reviews of a PR that waits for approval are read anew after this long at the latest, whatever was or was not heard. */
const REVIEWS_MS = 60_000;
/** Memberships are asked for by person: somebody who left the team a moment ago must not approve. */
const MEMBER_MS = 10_000;

/** Who may approve what, as GitHub last said. */
export interface People {
  observeApprovals(run: Run, pulls: ReadonlyMap<number, ObservedPull | null>): Promise<Pick<World, "approvals" | "lapsed">>;
  /** Commands that may be approvals, with the teams their author is in now. */
  withTeams(run: Run, commands: readonly Command[]): Promise<Command[]>;
  /** What somebody has just said in a review counts in the next round. */
  forgetReviews(): void;
  forgetTeams(): void;
}

const MOST_KEPT = 1000;

export function openPeople(context: RepoContext): People {
  const parts: Parts = { context, approvals: new BoundedMap(MOST_KEPT), members: new BoundedMap(MOST_KEPT) };
  return {
    observeApprovals: (run, pulls) => observeApprovals(parts, run, pulls),
    withTeams: (run, commands) => withTeams(parts, run, commands),
    forgetReviews: () => parts.approvals.clear(),
    forgetTeams: () => parts.members.clear(),
  };
}

interface Parts {
  context: RepoContext;
  /** `branch@head` → who has approved it, as last read. */
  approvals: Map<string, { at: number; approvers: readonly Approver[] }>;
  /** Person and teams → those the person is in, as last asked; undefined: could not be seen. */
  members: Map<string, { at: number; teams: string[] | undefined }>;
}

/**
 * Who has approved the PRs of batches that want it: by an approving review of the very head, as a member of a team that may, now. Who
 * approved by command is asked about again: they may have left it since.
 */
async function observeApprovals(
  parts: Parts,
  run: Run,
  pulls: ReadonlyMap<number, ObservedPull | null>,
): Promise<Pick<World, "approvals" | "lapsed">> {
  const found = new Map<number, readonly Approver[]>();
  const lapsed = new Map<number, readonly Lapsed[]>();
  let unread = false;
  for (const batch of run.batches) {
    const wanted = wantsApproval(run, batch);
    const pull = pulls.get(batch.number);
    if (wanted === undefined || batch.phase !== "Open" || pull == null || pull.state !== "open" || pull.number === 0) continue;
    const gone = await lapsedOf(parts, run, batch, wanted.teams);
    if (gone.length > 0) lapsed.set(batch.number, gone);
    const approvers = await approversOf(parts, batch, pull, wanted.teams);
    unread ||= approvers === undefined;
    if (approvers !== undefined) found.set(batch.number, approvers);
  }
  const now = lapsed.size === 0 ? {} : { lapsed };
  return unread || found.size === 0 ? now : { approvals: found, ...now };
}

/** Approvals by command of people who are in none of the teams now, or of whom that cannot be seen. */
async function lapsedOf(parts: Parts, run: Run, batch: Batch, teams: readonly string[]): Promise<Lapsed[]> {
  const lapsed: Lapsed[] = [];
  for (const { by } of givenApprovals(run, batch.stage)) {
    const { teams: now } = await teamsOf(parts, teams, by, REVIEWS_MS);
    if (now === undefined) lapsed.push({ by, why: "whether they are in one of them still cannot be seen just now" });
    else if (now.length === 0) lapsed.push({ by, why: "is in none of them any more" });
  }
  return lapsed;
}

async function approversOf(
  { context, approvals }: Parts,
  batch: Batch,
  pull: ObservedPull,
  teams: readonly string[],
): Promise<readonly Approver[] | undefined> {
  const key = `${batch.branch}@${pull.head}`;
  const now = context.clock.now();
  const known = approvals.get(key);
  if (known !== undefined && now - known.at < REVIEWS_MS) return known.approvers;
  try {
    const approvers: Approver[] = [];
    for (const review of approving(await context.forge.reviews(pull.number), pull.head)) {
      if (await inOneOf(context, teams, review.author)) approvers.push({ by: review.author, at: review.at });
    }
    approvals.set(key, { at: now, approvers });
    return approvers;
  } catch (error) {
    context.log.warn({ pull: pull.number, error: String(error) }, "reviews could not be read");
    return undefined;
  }
}

/** The last word of each person, where it approves this very head. What an App says never counts. */
function approving(reviews: readonly Review[], head: string): Review[] {
  const last = new Map<string, Review>();
  for (const review of reviews) if (!review.authorIsBot && review.state !== "COMMENTED") last.set(review.author.toLowerCase(), review);
  return [...last.values()].filter((review) => review.state === "APPROVED" && review.head === head);
}

async function inOneOf(context: RepoContext, teams: readonly string[], login: string): Promise<boolean> {
  for (const team of teams) if ((await context.forge.inTeam(team, login)) === true) return true;
  return false;
}

/** Commands that may be approvals, with the teams their author is in now. */
async function withTeams(parts: Parts, run: Run, commands: readonly Command[]): Promise<Command[]> {
  const teams = [...new Set(run.spec.stages.flatMap((stage) => stage.approval?.teams ?? []))];
  const handled = new Set(run.commands.map((command) => command.id));
  const told: Command[] = [];
  for (const command of commands) {
    if (command.name !== "promote" || teams.length === 0 || handled.has(command.id)) told.push(command);
    else told.push({ ...command, ...(await teamsOf(parts, teams, command.actor)) });
  }
  return told;
}

async function teamsOf(
  { context, members }: Parts,
  teams: readonly string[],
  login: string,
  mostMs = MEMBER_MS,
): Promise<{ teams?: string[] }> {
  const now = context.clock.now();
  const key = `${login.toLowerCase()} ${teams.join(",")}`;
  const known = members.get(key);
  if (known !== undefined && now - known.at < mostMs) return known.teams === undefined ? {} : { teams: known.teams };
  const mine: string[] = [];
  let unseen = false;
  for (const team of teams) {
    const member = await context.forge.inTeam(team, login).catch(() => undefined);
    if (member === true) mine.push(team);
    unseen ||= member === undefined;
  }
  // Being in one of them is enough; not being seen in any is not the same as not being in any.
  const answer = unseen && mine.length === 0 ? undefined : mine;
  context.log.debug({ login, at: iso(now) }, "looked up the teams of somebody who promotes");
  members.set(key, { at: now, teams: answer });
  return answer === undefined ? {} : { teams: answer };
}
