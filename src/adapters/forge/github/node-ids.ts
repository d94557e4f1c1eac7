import { BoundedMap } from "../../../core/base/bounded.ts";
import { asking, askingOrNone } from "./errors.ts";
import { askedFor, type RepoOctokit } from "./octokit.ts";

/** GraphQL names things by node id. They never change, so each is asked for once. */
export interface NodeIds {
  repository(): Promise<string>;
  pull(number: number): Promise<string>;
  /** Made where there is none of that name. */
  label(name: string): Promise<string>;
  /** undefined: no such account. */
  user(login: string): Promise<string | undefined>;
  /** Of the repository's organisation, or `org/slug`. undefined: there is none, or it cannot be seen. */
  team(team: string): Promise<string | undefined>;
  /** What another answer has told already. */
  learnPull(number: number, id: string): void;
}

export function nodeIds(place: RepoOctokit): NodeIds {
  const { octokit, owner, repo } = place;
  const known = new Map<string, string>();
  const pulls = new BoundedMap<number, string>(1000);

  async function once<T extends string | undefined>(key: string, ask: () => Promise<T>): Promise<T> {
    const id = known.get(key);
    if (id !== undefined) return id as T;
    const found = await ask();
    if (found !== undefined) known.set(key, found);
    return found;
  }

  return {
    learnPull: (number, id) => void pulls.set(number, id),
    repository: () => once("repository", () => asking(async () => (await octokit.rest.repos.get({ owner, repo })).data.node_id)),
    async pull(number) {
      const id = pulls.get(number);
      if (id !== undefined) return id;
      const { data } = await asking(() => octokit.rest.pulls.get({ owner, repo, pull_number: number }));
      pulls.set(number, data.node_id);
      return data.node_id;
    },
    label: (name) => once(`label ${name.toLowerCase()}`, () => labelId(place, name)),
    user: (login) =>
      once(`user ${login.toLowerCase()}`, () =>
        orHidden(async () => (await octokit.rest.users.getByUsername({ username: login, headers: askedFor(place) })).data.node_id),
      ),
    team: (team) =>
      once(`team ${team.toLowerCase()}`, () => {
        const [slug = team, org = owner] = team.split("/").reverse();
        return orHidden(async () => (await octokit.rest.teams.getByName({ org, team_slug: slug, headers: askedFor(place) })).data.node_id);
      }),
  };
}

/** undefined: there is none, or it cannot be seen. */
function orHidden<T>(ask: () => Promise<T>): Promise<T | undefined> {
  return askingOrNone(ask, [403, 404]);
}

async function labelId({ octokit, owner, repo }: RepoOctokit, name: string): Promise<string> {
  const there = await orHidden(async () => (await octokit.rest.issues.getLabel({ owner, repo, name })).data.node_id);
  if (there !== undefined) return there;
  return asking(async () => (await octokit.rest.issues.createLabel({ owner, repo, name })).data.node_id);
}
