import type { Review } from "../../../adapters/forge/port.ts";
import { iso } from "../../../core/base/time.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import { givenApprovals, wantsApproval } from "../../../core/run/gates/approval.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Approver, Lapsed, ObservedPull, World } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/command.ts";
import { parseRepoConfig } from "../../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { RepoContext } from "../context.ts";
import { keep, type RepoMemory } from "../memory.ts";

/** Reviews of a PR that waits for approval are read anew after this long at the latest, whatever was or was not heard. */
const REVIEWS_MS = 60_000;
/** Memberships are asked for by person: somebody who left the team a moment ago must not approve. */
const MEMBER_MS = 10_000;

type Bounds = Pick<World, "freezes" | "limits" | "settingsBroken">;

/** What the repo's settings at the base, and the server's, say of when and how much may move. */
export async function observeBounds(context: RepoContext, memory: RepoMemory, base: string): Promise<Bounds> {
  const { bounds, problems } = parseRepoConfig(await memory.commits.snapshot(base).read(SETTINGS_FILE), SETTINGS_FILE);
  const error = problems.find((problem) => problem.severity === "error");
  if (error !== undefined) return { settingsBroken: `${error.file}:${error.line}:${error.column}: ${sayProblem(error).message}` };
  memory.journalKeep = bounds.keep;
  const freezes = [
    ...bounds.freezes.map((window) => ({ ...window, where: SETTINGS_FILE })),
    ...(context.freezes ?? []).map((window) => ({ ...window, where: "the server" })),
  ];
  return { freezes, ...(bounds.limits === undefined ? {} : { limits: bounds.limits }) };
}

/**
 * Who has approved the PRs of batches that want it: by an approving review of the very head, as a member of a team that may, now. Who
 * approved by command is asked about again: they may have left it since.
 */
export async function observeApprovals(
  context: RepoContext,
  memory: RepoMemory,
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
    const gone = await lapsedOf(context, memory, run, batch, wanted.teams);
    if (gone.length > 0) lapsed.set(batch.number, gone);
    const approvers = await approversOf(context, memory, batch, pull, wanted.teams);
    unread ||= approvers === undefined;
    if (approvers !== undefined) found.set(batch.number, approvers);
  }
  const now = lapsed.size === 0 ? {} : { lapsed };
  return unread || found.size === 0 ? now : { approvals: found, ...now };
}

/** Approvals by command of people who are in none of the teams now, or of whom that cannot be seen. */
async function lapsedOf(context: RepoContext, memory: RepoMemory, run: Run, batch: Batch, teams: readonly string[]): Promise<Lapsed[]> {
  const lapsed: Lapsed[] = [];
  for (const { by } of givenApprovals(run, batch.stage)) {
    const { teams: now } = await teamsOf(context, memory, teams, by, REVIEWS_MS);
    if (now === undefined) lapsed.push({ by, why: "whether they are in one of them still cannot be seen just now" });
    else if (now.length === 0) lapsed.push({ by, why: "is in none of them any more" });
  }
  return lapsed;
}

async function approversOf(
  context: RepoContext,
  memory: RepoMemory,
  batch: Batch,
  pull: ObservedPull,
  teams: readonly string[],
): Promise<readonly Approver[] | undefined> {
  const key = `${batch.branch}@${pull.head}`;
  const now = context.clock.now();
  const known = memory.approvals.get(key);
  if (known !== undefined && now - known.at < REVIEWS_MS) return known.approvers;
  try {
    const approvers: Approver[] = [];
    for (const review of approving(await context.forge.reviews(pull.number), pull.head)) {
      if (await inOneOf(context, teams, review.author)) approvers.push({ by: review.author, at: review.at });
    }
    keep(memory.approvals, key, { at: now, approvers });
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
export async function withTeams(context: RepoContext, memory: RepoMemory, run: Run, commands: readonly Command[]): Promise<Command[]> {
  const teams = [...new Set(run.spec.stages.flatMap((stage) => stage.approval?.teams ?? []))];
  const handled = new Set(run.commands.map((command) => command.id));
  const told: Command[] = [];
  for (const command of commands) {
    if (command.name !== "promote" || teams.length === 0 || handled.has(command.id)) told.push(command);
    else told.push({ ...command, ...(await teamsOf(context, memory, teams, command.actor)) });
  }
  return told;
}

async function teamsOf(
  context: RepoContext,
  memory: RepoMemory,
  teams: readonly string[],
  login: string,
  mostMs = MEMBER_MS,
): Promise<{ teams?: string[] }> {
  const now = context.clock.now();
  const key = `${login.toLowerCase()} ${teams.join(",")}`;
  const known = memory.members.get(key);
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
  keep(memory.members, key, { at: now, teams: answer });
  return answer === undefined ? {} : { teams: answer };
}
