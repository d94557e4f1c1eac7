import { ApiFailure, refused } from "../http/failure.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { moveRefusals, NO_CREATION, ruleViolation } from "../rules/ref-rules.ts";
import { type Moved, refsMoved } from "./refs-moved.ts";

/** Moves refs all or none by the API, held to the rules, and everything that follows. Call it within `repo.serial`. */
export async function moveRefs(world: World, repo: Repo, actor: Actor, moves: readonly Moved[]): Promise<void> {
  for (const move of moves) {
    const refusals = await moveRefusals(world, repo, actor, move);
    if (refusals[0]?.startsWith("refusing to allow") === true) throw new ApiFailure(403, refusals[0]);
    // A rule against new branches is not named: GitHub says no more than for a branch below another (github/rest-api-description#4887).
    if (refusals.includes(NO_CREATION)) throw refused("Reference update failed");
    if (refusals.length > 0) throw refused(ruleViolation(refusals));
  }
  if (!(await repo.git.updateRefs(moves))) throw refused("Reference update failed");
  await refsMoved(world, repo, actor, moves);
}

/** Is the new commit a descendant of the old one? */
export async function isForward(repo: Repo, old: string, next: string): Promise<boolean> {
  if (old === next || (await repo.git.commit(next))?.parents.includes(old) === true) return true;
  return (await repo.git.mergeBase(old, next)) === old;
}
