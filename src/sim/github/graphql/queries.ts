import { rateOf } from "../http/rate-limit.ts";
import { findRepo, movedRepo, seconds } from "../model/world.ts";
import { type Context, type Found, sees } from "./context.ts";
import { FieldFailure, noNode } from "./failures.ts";
import { commitNodeOf, refNode } from "./git-nodes.ts";
import { findNode } from "./lookup.ts";
import { actorNode, teamNode } from "./people.ts";
import { pullNode, reviewNode } from "./pull-node.ts";
import { entryNode, queueNode } from "./queue-nodes.ts";
import { commentNode, issueNode, labelNode, repositoryNode } from "./repository-node.ts";

/** Prints whatever node it is. */
export function printNode(context: Context, found: Found) {
  if (found.kind === "user") return actorNode(context, found.user);
  if (found.kind === "team") return teamNode(context, found.team);
  const { repo } = found;
  if (found.kind === "repository") return repositoryNode(context, repo);
  if (found.kind === "pull") return pullNode(context, repo, found.issue);
  if (found.kind === "issue") return issueNode(context, repo, found.issue);
  if (found.kind === "comment") return commentNode(context, repo, found.comment);
  if (found.kind === "review") return reviewNode(context, repo, found.issue, found.review);
  if (found.kind === "label") return labelNode(context, repo, found.label);
  if (found.kind === "ref") return refNode(context, repo, found.ref);
  if (found.kind === "commit") return commitNodeOf(context, repo, found.sha);
  if (found.kind === "queue") return queueNode(context, repo, found.queue);
  return entryNode(context, repo, found.queue, found.entry);
}

function account(context: Context, login: string, type: "User" | "Organization") {
  const user = context.world.users.get(login.toLowerCase());
  if (user?.type === type) return actorNode(context, user);
  const article = type === "User" ? "a User" : "an Organization";
  throw new FieldFailure("NOT_FOUND", `Could not resolve to ${article} with the login of '${login}'.`);
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** The root of queries. */
export function queryRoot(context: Context) {
  const { world, actor } = context;
  const one = (id: string) => {
    const found = findNode(context, id);
    if (found === undefined) throw noNode(id);
    return context.print(found);
  };
  return {
    id: "Q",
    node: ({ id }: { id: string }) => one(id),
    // One that is not there is null with an error of its own.
    nodes: ({ ids }: { ids: readonly string[] }) => ids.map((id) => attempt(() => one(id))),
    viewer: () => ({ ...actorNode(context, actor.user), __typename: "User", login: actor.user.login }),
    user: ({ login }: { login: string }) => account(context, login, "User"),
    organization: ({ login }: { login: string }) => account(context, login, "Organization"),
    repository({ owner, name, followRenames }: { owner: string; name: string; followRenames?: boolean | null }) {
      const repo = findRepo(world, owner, name) ?? (followRenames === false ? undefined : movedRepo(world, owner, name));
      if (repo !== undefined && sees(context, repo)) return repositoryNode(context, repo);
      throw new FieldFailure("NOT_FOUND", `Could not resolve to a Repository with the name '${owner}/${name}'.`);
    },
    rateLimit() {
      const { limit, used, remaining, reset } = rateOf(world, actor, "graphql");
      return { cost: 1, nodeCount: 0, limit, used, remaining, resetAt: seconds(reset * 1000) };
    },
  };
}
