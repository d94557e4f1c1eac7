import { mayAs, mustHave, seesRepo } from "../http/auth.ts";
import { READ, TAKE_PART, WRITE } from "../http/router.ts";
import type { Actor, Issue, IssueComment, Label, MergeQueue, QueueEntry, Repo, Review, Team, User, World } from "../model/model.ts";
import type { PullIssue } from "../model/world.ts";
import { noAccess } from "./failures.ts";

/** What stands behind a node of the graph. */
export type Found =
  | { kind: "repository"; repo: Repo }
  | { kind: "pull"; repo: Repo; issue: PullIssue }
  | { kind: "issue"; repo: Repo; issue: Issue }
  | { kind: "comment"; repo: Repo; comment: IssueComment }
  | { kind: "review"; repo: Repo; issue: PullIssue; review: Review }
  | { kind: "label"; repo: Repo; label: Label }
  | { kind: "ref"; repo: Repo; ref: string }
  | { kind: "commit"; repo: Repo; sha: string }
  | { kind: "entry"; repo: Repo; queue: MergeQueue; entry: QueueEntry }
  | { kind: "queue"; repo: Repo; queue: MergeQueue }
  | { kind: "user"; user: User }
  | { kind: "team"; team: Team };

/**
 * What every resolver is given: the world, and who asks. `print` gives any node: nodes point to each other in circles, and the files
 * that make them do not.
 */
export interface Context {
  world: World;
  actor: Actor;
  print(found: Found): unknown;
}

/** Can the repository be seen at all? */
export function sees({ actor }: Context, repo: Repo): boolean {
  try {
    mustHave(repo, actor, READ("metadata"));
    return true;
  } catch {
    return false;
  }
}

/** Throws FORBIDDEN where the token lacks the permission; a person needs the role that goes with it. */
export function mustWrite({ actor }: Context, repo: Repo, ...permissions: string[]): void {
  if (actor.kind === "installation" && !(seesRepo(repo, actor) && mayAs(actor, WRITE(...permissions)))) throw noAccess();
  mustHave(repo, actor, WRITE(...permissions));
}

/** As `mustWrite`, for what every account that sees the repository may do. */
export function mustTakePart({ actor }: Context, repo: Repo, ...permissions: string[]): void {
  if (actor.kind === "installation" && !(seesRepo(repo, actor) && mayAs(actor, WRITE(...permissions)))) throw noAccess();
  mustHave(repo, actor, TAKE_PART(...permissions));
}

export function mustRead({ actor }: Context, repo: Repo, ...permissions: string[]): void {
  if (actor.kind === "installation" && seesRepo(repo, actor) && !mayAs(actor, READ(...permissions))) throw noAccess();
}
