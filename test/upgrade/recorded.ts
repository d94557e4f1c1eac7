/**
 * Keeps a config repository in the middle of a run, as one version of the bot left it, and puts it back into the embedded GitHub: its Git as a
 * bundle, its pull requests, comments, checks and deployments as JSON. What Argo CD has it reads from Git by itself.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import type { App, Issue, Repo, User } from "../../src/sim/github/model/model.ts";
import { userOf } from "../../src/sim/github/model/world.ts";
import type { GitHubSim } from "../../src/sim/github/start.ts";

const KEPT = ["id", "nextNumber", "issues", "comments", "labels", "checks", "suites", "statuses", "deployments", "activities"] as const;

interface Recorded {
  /** Epoch milliseconds of the world's clock. */
  at: number;
  /** The newest id that GitHub had given. */
  lastId: number;
  repo: Partial<Repo>;
}

export function record(github: GitHubSim, repository: string, folder: string, at: number): void {
  const { world, repo } = github.inside(repository);
  mkdirSync(folder, { recursive: true });
  git(github.repoDirectory(repository), "bundle", "create", "--quiet", join(folder, "repo.bundle"), "--all");
  const kept = Object.fromEntries(KEPT.map((key) => [key, repo[key]]));
  const all: Recorded = { at, lastId: world.nextId(), repo: kept };
  writeFileSync(join(folder, "github.json"), `${JSON.stringify(all, asText, 1)}\n`);
}

function asText(key: string, value: unknown): unknown {
  // What GitHub works out anew.
  if (key === "mergeability" || key === "stats") return undefined;
  if (value instanceof Map) return { $map: [...value] };
  if (typeof value !== "object" || value === null) return value;
  if ("publicKey" in value) return { $app: (value as App).slug };
  return "login" in value ? { $user: (value as User).login, type: (value as User).type } : value;
}

export function recordedAt(folder: string): number {
  return (JSON.parse(readFileSync(join(folder, "github.json"), "utf8")) as Recorded).at;
}

/** Into a repository of that name, in place of what stands there. */
export async function putBack(github: GitHubSim, repository: string, folder: string): Promise<void> {
  const { world, repo } = github.inside(repository);
  const directory = github.repoDirectory(repository);
  const revive = (_: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if ("$map" in value) return new Map(value.$map as [unknown, unknown][]);
    if ("$app" in value) return world.app;
    return "$user" in value && "type" in value ? userOf(world, String(value.$user), value.type as User["type"]) : value;
  };
  const { lastId, repo: kept } = JSON.parse(readFileSync(join(folder, "github.json"), "utf8"), revive) as Recorded;
  while (world.nextId() < lastId);
  git(directory, "fetch", "--quiet", "--force", join(folder, "repo.bundle"), "+refs/*:refs/*");
  Object.assign(repo, kept);
  for (const [, { pull }] of repo.issues as Map<number, Issue>) if (pull !== undefined) delete pull.mergeability;
  // A run and its suite are one object in the model.
  for (const [, run] of repo.checks) run.suite = repo.suites.get(run.suite.id) ?? run.suite;
}
