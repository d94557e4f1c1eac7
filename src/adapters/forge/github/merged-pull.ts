import type { Pull } from "../port.ts";
import type { DressedPull } from "./graphql/dress-pull.ts";

/**
 * A pull request that an answer showed merged, as it would be read. Merged is for ever, and so are who did it, when, and as
 * which commit. undefined: it is not, or the answer does not tell all of that.
 */
export function mergedPull(data: DressedPull): Pull | undefined {
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
