import type { Repo } from "../model/model.ts";
import { isPull, kindOf, nodeId } from "../model/world.ts";
import { type Context, type Found, sees } from "./context.ts";
import { noNode } from "./failures.ts";

/** What a node id names, as far as the caller may see it. */
export function findNode(context: Context, id: string): Found | undefined {
  const at = id.indexOf("_");
  const key = Buffer.from(id.slice(at + 1), "base64url").toString();
  const kind = id.slice(0, at);
  if (nodeId(kind, key) !== id) return undefined;
  const found = inRepos(context, kind, key) ?? outside(context, kind, Number(key));
  return found !== undefined && "repo" in found && !sees(context, found.repo) ? undefined : found;
}

function outside({ world }: Context, kind: string, id: number): Found | undefined {
  if (kind === "T") {
    const team = [...world.teams.values()].find((one) => one.id === id);
    return team === undefined ? undefined : { kind: "team", team };
  }
  const user = [...world.users.values()].find((one) => one.id === id && kindOf(one) === kind);
  return user === undefined ? undefined : { kind: "user", user };
}

function inRepos({ world }: Context, kind: string, key: string): Found | undefined {
  if (kind === "REF" || kind === "C") {
    const [, id, rest = ""] = /^(\d+):(.+)$/.exec(key) ?? [];
    const repo = [...world.repos.values()].find((one) => one.id === Number(id));
    if (repo === undefined) return undefined;
    return kind === "REF" ? { kind: "ref", repo, ref: rest } : { kind: "commit", repo, sha: rest };
  }
  for (const repo of world.repos.values()) {
    const found = inRepo(repo, kind, Number(key));
    if (found !== undefined) return found;
  }
  return undefined;
}

function inRepo(repo: Repo, kind: string, id: number): Found | undefined {
  if (kind === "R") return repo.id === id ? { kind: "repository", repo } : undefined;
  if (kind === "PR") {
    const issue = [...repo.issues.values()].filter(isPull).find((one) => one.pull.id === id);
    return issue === undefined ? undefined : { kind: "pull", repo, issue };
  }
  if (kind === "I") {
    const issue = [...repo.issues.values()].find((one) => one.id === id);
    return issue === undefined ? undefined : { kind: "issue", repo, issue };
  }
  if (kind === "IC") {
    const comment = repo.comments.get(id);
    return comment === undefined ? undefined : { kind: "comment", repo, comment };
  }
  if (kind === "PRR") {
    for (const issue of [...repo.issues.values()].filter(isPull)) {
      const review = issue.pull.reviews.find((one) => one.id === id);
      if (review !== undefined) return { kind: "review", repo, issue, review };
    }
    return undefined;
  }
  if (kind === "LA") {
    const label = [...repo.labels.values()].find((one) => one.id === id);
    return label === undefined ? undefined : { kind: "label", repo, label };
  }
  if (kind === "MQ" || kind === "MQE") return inQueues(repo, kind, id);
  return undefined;
}

function inQueues(repo: Repo, kind: string, id: number): Found | undefined {
  for (const queue of repo.queues.values()) {
    if (kind === "MQ" && queue.id === id) return { kind: "queue", repo, queue };
    const entry = kind === "MQE" ? queue.entries.find((one) => one.id === id) : undefined;
    if (entry !== undefined) return { kind: "entry", repo, queue, entry };
  }
  return undefined;
}

/** Throws NOT_FOUND where the id names nothing of that kind. */
export function nodeOf<K extends Found["kind"]>(context: Context, id: string, ...kinds: K[]): Extract<Found, { kind: K }> {
  const found = findNode(context, id);
  const wanted: readonly string[] = kinds;
  if (found === undefined || !wanted.includes(found.kind)) throw noNode(id);
  return found as Extract<Found, { kind: K }>;
}
