import type { Forge, Review } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { givenApprovals, wantsApproval } from "../../../core/run/gates/approval.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Approver, Lapsed, ObservedPull, World } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
import type { RepoContext } from "../context.ts";

/** Reviews of a PR that waits for approval are read anew after this long at the latest, whatever was or was not heard. */
const REVIEWS_MS = 60_000;
/** Memberships are asked for by person: somebody who left the team a moment ago must not approve. */
const MEMBER_MS = 10_000;

const MOST_KEPT = 1000;

type Context = Pick<RepoContext, "forge" | "clock" | "log">;

/** Who may approve what, as GitHub last said. */
export class People {
  readonly #context: Context;
  /** `branch@head` → who has approved it, as last read. */
  readonly #approvals = new BoundedMap<string, { at: number; approvers: readonly Approver[] }>(MOST_KEPT);
  /** Person and teams → those the person is in, as last asked; undefined: could not be seen. */
  readonly #members = new BoundedMap<string, { at: number; teams: string[] | undefined }>(MOST_KEPT);

  constructor(context: Context) {
    this.#context = context;
  }

  /** What somebody has just said in a review counts in the next round. */
  forgetReviews(): void {
    this.#approvals.clear();
  }

  forgetTeams(): void {
    this.#members.clear();
  }

  /**
   * Who has approved the PRs of batches that want it: by an approving review of the very head, as a member of a team that may, now. Who
   * approved by command is asked about again: they may have left it since.
   */
  async observeApprovals(run: Run, pulls: ReadonlyMap<number, ObservedPull | null>): Promise<Pick<World, "approvals" | "lapsed">> {
    const found = new Map<number, readonly Approver[]>();
    const lapsed = new Map<number, readonly Lapsed[]>();
    let unread = false;
    for (const batch of run.batches) {
      const wanted = wantsApproval(run, batch);
      const pull = pulls.get(batch.number);
      if (wanted === undefined || batch.phase !== "Open" || pull == null || pull.state !== "open" || pull.number === 0) continue;
      const gone = await this.#lapsedOf(run, batch, wanted.teams);
      if (gone.length > 0) lapsed.set(batch.number, gone);
      const approvers = await this.#approversOf(batch, pull, wanted.teams);
      unread ||= approvers === undefined;
      if (approvers !== undefined) found.set(batch.number, approvers);
    }
    return { approvals: unread ? undefined : found, lapsed: lapsed.size === 0 ? undefined : lapsed };
  }

  /** Approvals by command of people who are in none of the teams now, or of whom that cannot be seen. */
  async #lapsedOf(run: Run, batch: Batch, teams: readonly string[]): Promise<Lapsed[]> {
    const lapsed: Lapsed[] = [];
    for (const { by } of givenApprovals(run, batch.stage)) {
      const now = await this.#teamsOf(teams, by, REVIEWS_MS);
      if (now === undefined) lapsed.push({ by, why: engineReason("APPROVER_UNSEEN") });
      else if (now.length === 0) lapsed.push({ by, why: engineReason("APPROVER_LEFT") });
    }
    return lapsed;
  }

  async #approversOf(batch: Batch, pull: ObservedPull, teams: readonly string[]): Promise<readonly Approver[] | undefined> {
    const { forge, clock, log } = this.#context;
    const key = `${batch.branch}@${pull.head}`;
    const now = clock.now();
    const known = this.#approvals.get(key);
    if (known !== undefined && now - known.at < REVIEWS_MS) return known.approvers;
    try {
      const approvers: Approver[] = [];
      for (const review of approving(await forge.reviews(pull.number), pull.head)) {
        if (await inOneOf(forge, teams, review.author)) approvers.push({ by: review.author, at: review.at });
      }
      this.#approvals.set(key, { at: now, approvers });
      return approvers;
    } catch (error) {
      log.warn({ pull: pull.number, error: String(error) }, "reviews could not be read");
      return undefined;
    }
  }

  /** Commands that may be approvals, with the teams their author is in now. */
  async withTeams(run: Run, commands: readonly Command[]): Promise<Command[]> {
    const teams = [...new Set(run.spec.stages.flatMap((stage) => stage.approval?.teams ?? []))];
    const handled = new Set(run.commands.map((command) => command.id));
    const told: Command[] = [];
    for (const command of commands) {
      if (command.name !== "promote" || teams.length === 0 || handled.has(command.id)) told.push(command);
      else told.push({ ...command, ...defined({ teams: await this.#teamsOf(teams, command.actor) }) });
    }
    return told;
  }

  /** undefined: it cannot be seen. */
  async #teamsOf(teams: readonly string[], login: string, mostMs = MEMBER_MS): Promise<string[] | undefined> {
    const { forge, clock, log } = this.#context;
    const now = clock.now();
    const key = `${login.toLowerCase()} ${teams.join(",")}`;
    const known = this.#members.get(key);
    if (known !== undefined && now - known.at < mostMs) return known.teams;
    const mine: string[] = [];
    let unseen = false;
    for (const team of teams) {
      const member = await forge.inTeam(team, login).catch(() => undefined);
      if (member === true) mine.push(team);
      unseen ||= member === undefined;
    }
    // Being in one of them is enough; not being seen in any is not the same as not being in any.
    const answer = unseen && mine.length === 0 ? undefined : mine;
    log.debug({ login }, "looked up the teams of somebody who promotes");
    this.#members.set(key, { at: now, teams: answer });
    return answer;
  }
}

async function inOneOf(forge: Pick<Forge, "inTeam">, teams: readonly string[], login: string): Promise<boolean> {
  for (const team of teams) if ((await forge.inTeam(team, login)) === true) return true;
  return false;
}

/** The last word of each person, where it approves this very head. What an App says never counts. */
export function approving(reviews: readonly Review[], head: string): Review[] {
  const last = new Map<string, Review>();
  for (const review of reviews) if (!review.authorIsBot && review.state !== "COMMENTED") last.set(review.author.toLowerCase(), review);
  return [...last.values()].filter((review) => review.state === "APPROVED" && review.head === head);
}
