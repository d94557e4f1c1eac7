import { mayAs, mustHave, seesRepo } from "../http/auth.ts";
import { READ, TAKE_PART, WRITE } from "../http/router.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { noAccess } from "./failures.ts";

/** What every resolver is given: the world, and who asks. */
export interface Context {
  world: World;
  actor: Actor;
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
