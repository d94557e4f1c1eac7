/**
 * Puts labels on a PR and asks for reviews, in one request, adding only what was never there. Called by `index.ts`.
 */
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Labelled } from "../people.ts";
import { type Forge, ForgeError, type Pull, type PullPushed } from "../port.ts";
import { asking, askingOrNone } from "./errors.ts";
import { LABEL_PULL, type LabelledPull, type LabelPullResult } from "./graphql/documents.ts";
import { refusedError, sendGraphQL } from "./graphql/send.ts";
import { type BaseChange, LABELLED_BY, type LabelEvent, type LabelledByResult } from "./graphql/texts.ts";
import { askedFor, NEVER_RETRY, type RepoOctokit } from "./octokit.ts";
import type { Shared } from "./shared.ts";

type Wanted = Parameters<Forge["labelPull"]>[1];

/**
 * Adds what is not there yet, in one request; nothing is sent where all of it is. Somebody who was asked and has reviewed, or
 * was taken off by a person, is not asked again by this process. Throws ForgeError `Invalid` naming whom GitHub does not know:
 * what could be set is set then.
 */
export function labeller(shared: Shared): (number: number, asked: Wanted) => Promise<void> {
  const { place, freshPulls } = shared;
  const known = new BoundedMap<number, Set<string>>(1000);
  return async (number, asked) => {
    const before = known.get(number) ?? (freshPulls.delete(number) ? new Set<string>() : await alreadyThere(place, number));
    const lacking = (kind: string, names: readonly string[]) =>
      [...new Set(names)].filter((name) => !before.has(`${kind} ${name.toLowerCase()}`));
    const wanted = {
      labels: lacking("label", asked.labels),
      teams: lacking("team", asked.teams.map(slug)),
      users: lacking("user", asked.users),
    };
    if (wanted.labels.length + wanted.teams.length + wanted.users.length > 0) await put(shared, number, wanted);
    for (const name of wanted.labels) before.add(`label ${name.toLowerCase()}`);
    for (const name of wanted.teams) before.add(`team ${name.toLowerCase()}`);
    for (const name of wanted.users) before.add(`user ${name.toLowerCase()}`);
    known.set(number, before);
  };
}

function slug(team: string): string {
  return team.split("/").at(-1) ?? team;
}

async function put(shared: Shared, number: number, wanted: Wanted): Promise<void> {
  const { place, ids } = shared;
  const labels = await idsOf(wanted.labels, ids.label);
  const users = await idsOf(wanted.users, ids.user);
  const teams = await idsOf(wanted.teams, ids.team);
  await send(shared, number, { labels: labels.found, users: users.found, teams: teams.found });
  const unknown = [...users.missing.map((name) => `user ${name}`)];
  for (const team of teams.missing) if (!(await requestTeam(place, number, team))) unknown.push(`team ${team}`);
  if (unknown.length === 0) return;
  const message = `pull request ${number}: GitHub knows no ${unknown.join(", no ")}, or does not let it review here`;
  throw new ForgeError("Invalid", 422, message);
}

async function idsOf(names: readonly string[], look: (name: string) => Promise<string | undefined>) {
  const found: string[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const id = await look(name);
    if (id === undefined) missing.push(name);
    else found.push(id);
  }
  return { found, missing };
}

async function send({ place, ids, merged }: Shared, number: number, { labels, users, teams }: Wanted): Promise<void> {
  const withLabels = labels.length > 0;
  const withReviews = users.length + teams.length > 0;
  if (!withLabels && !withReviews) return;
  const variables = { pull: await ids.pull(number), labels, users, teams, withLabels, withReviews };
  const { data, errors } = await asking(() => sendGraphQL<LabelPullResult>(place, LABEL_PULL, variables));
  // The later of the two fields tells of both.
  const now = data.addLabelsToLabelable?.labelable ?? data.requestReviews?.pullRequest;
  const done = now === undefined || now === null ? undefined : mergedPull(now);
  if (done !== undefined) merged.set(done.number, done);
  if (errors[0] !== undefined) throw refusedError(LABEL_PULL, errors[0]);
}

/** By its slug, which needs no permission to see members: GraphQL wants a team's id, and that is hidden without `members: read`. */
async function requestTeam({ octokit, owner, repo }: RepoOctokit, number: number, team: string): Promise<boolean> {
  const asked = { owner, repo, pull_number: number, team_reviewers: [team], ...NEVER_RETRY };
  return (await askingOrNone(() => octokit.rest.pulls.requestReviewers(asked), [404, 410, 422])) !== undefined;
}

async function alreadyThere({ octokit, owner, repo }: RepoOctokit, number: number): Promise<Set<string>> {
  const { data } = await asking(() => octokit.rest.pulls.get({ owner, repo, pull_number: number }));
  const there = new Set<string>();
  for (const label of data.labels) there.add(`label ${label.name.toLowerCase()}`);
  for (const user of data.requested_reviewers ?? []) there.add(`user ${user.login.toLowerCase()}`);
  for (const team of data.requested_teams ?? []) there.add(`team ${team.slug.toLowerCase()}`);
  return there;
}

/**
 * A pull request that an answer showed merged, as it would be read. Merged is for ever, and so are who did it, when, and as
 * which commit. undefined: it is not, or the answer does not tell all of that.
 */
function mergedPull(data: LabelledPull): Pull | undefined {
  const { mergedAt, mergedBy, mergeCommit } = data;
  if (mergedAt === null || mergedBy === null || mergeCommit === null) return undefined;
  return {
    number: data.number,
    url: data.url,
    title: data.title,
    body: data.body,
    state: "merged",
    draft: data.isDraft,
    branch: data.headRefName,
    headRepository: data.headRepository?.nameWithOwner ?? null,
    head: data.headRefOid,
    base: data.baseRefName,
    author: data.author === null ? "ghost" : loginOf(data.author),
    authorIsBot: data.author?.__typename === "Bot",
    mergeable: null,
    mergeableState: "unknown",
    createdAt: new Date(data.createdAt).toISOString(),
    mergedAt: new Date(mergedAt).toISOString(),
    mergedBy: loginOf(mergedBy),
    mergeCommit: mergeCommit.oid,
    labels: (data.labels?.nodes ?? []).map(({ name }) => name),
  };
}

/** GraphQL leaves out what REST puts behind an App's name. */
function loginOf({ __typename: kind, login }: { __typename: string; login: string }): string {
  return kind === "Bot" && !login.endsWith("[bot]") ? `${login}[bot]` : login;
}

/** See Forge.labelledBy. Of a label that was put on before the last 100 times that any was, or its base was changed, nobody is known. */
export async function labelledBy(place: RepoOctokit, pull: PullPushed, label: string): Promise<Labelled | undefined> {
  const { owner, repo: name } = place;
  const { data, errors } = await asking(() => sendGraphQL<LabelledByResult>(place, LABELLED_BY, { owner, name, number: pull.number }));
  const [failed] = errors;
  if (failed !== undefined) throw refusedError(LABELLED_BY, failed);
  const events = data.repository?.pullRequest?.timelineItems.nodes ?? [];
  const event = lastOf(events, label);
  if (event?.actor == null) return undefined;
  const { __typename: kind, login } = event.actor;
  const pushed = await pushedAt(place, pull);
  const isBot = kind === "Bot";
  // What a head changes depends on the branch that it is for.
  const retargeted = events.flatMap((one) => (one == null || one.__typename === "LabeledEvent" ? [] : [Date.parse(one.createdAt)]));
  // Times are whole seconds: what came within the same one may have come after it.
  const sawHead = pushed === undefined ? undefined : Date.parse(event.createdAt) > Math.max(pushed, ...retargeted);
  return defined({ login: isBot ? `${login}[bot]` : login, isBot, sawHead });
}

/** The event that put a label on: the last of its name, unless the label was changed since, as one that had another name then. */
export function lastOf(events: readonly (LabelEvent | BaseChange | null)[], label: string): LabelEvent | undefined {
  const event = events.findLast((one): one is LabelEvent => one?.__typename === "LabeledEvent" && one.label?.name === label);
  if (event?.label == null) return undefined;
  const { createdAt, updatedAt } = event.label;
  const isUnchanged = updatedAt === null || updatedAt === createdAt || Date.parse(updatedAt) < Date.parse(event.createdAt);
  return isUnchanged ? event : undefined;
}

/** When the head came to its branch, in epoch milliseconds, by GitHub's own word. undefined: it does not say. */
async function pushedAt(place: RepoOctokit, { branch, head, headRepository }: PullPushed): Promise<number | undefined> {
  const [owner = "", repo = ""] = headRepository?.split("/") ?? [];
  if (owner === "") return undefined;
  const asked = { owner, repo, ref: `refs/heads/${branch}`, per_page: 1, headers: askedFor(place) };
  const found = await askingOrNone(() => place.octokit.rest.repos.listActivities(asked), [403, 404, 410, 422, 451]);
  // An earlier push of the same commit may be from before others that the label was not put on for.
  const newest = found?.data[0];
  return newest?.after === head ? Date.parse(newest.timestamp) : undefined;
}
