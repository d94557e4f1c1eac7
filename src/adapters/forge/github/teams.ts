import { answerOf, forgeError } from "./errors.ts";
import type { RepoOctokit } from "./octokit.ts";

/**
 * Whether an account is in a team now. Teams are named by slug, with or without `org/` before it. A token that may not see
 * members is answered 404 just as for somebody who is none: only where the team itself can be seen is that a no.
 */
export async function inTeam(place: RepoOctokit, team: string, login: string): Promise<boolean | undefined> {
  const { octokit, owner } = place;
  const slug = team.split("/").at(-1) ?? team;
  const org = team.includes("/") ? (team.split("/")[0] ?? owner) : owner;
  try {
    const { data } = await octokit.rest.teams.getMembershipForUserInOrg({ org, team_slug: slug, username: login });
    return data.state === "active";
  } catch (error) {
    if (!unseen(error)) throw forgeError(`ask whether ${login} is in team ${slug}`, error);
  }
  try {
    await octokit.rest.teams.getByName({ org, team_slug: slug });
    return false;
  } catch (error) {
    if (unseen(error)) return undefined;
    throw forgeError(`look for team ${slug}`, error);
  }
}

function unseen(error: unknown): boolean {
  const answer = answerOf(error);
  if (answer === undefined) return false;
  const limited = forgeError("look", error).kind === "RateLimited";
  return answer.status === 404 || (answer.status === 403 && !limited);
}
