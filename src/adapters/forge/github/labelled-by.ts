import { defined } from "../../../core/base/defined.ts";
import type { Labelled, PullPushed } from "../people.ts";
import { asking, askingOrNone } from "./errors.ts";
import { refusedError, sendGraphQL } from "./graphql/send.ts";
import { type BaseChange, LABELLED_BY, type LabelEvent, type LabelledByResult } from "./graphql/texts.ts";
import { askedFor, type RepoOctokit } from "./octokit.ts";

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
