import { execFile } from "node:child_process";
import type { Ancestry } from "../argocd/liveness.ts";
import type { ApplicationView } from "../argocd/port.ts";
import { normalRepo } from "../argocd/same.ts";
import { CommandError } from "./command.ts";

/** Runs git in a clone of the user's; resolves to its exit code and output. */
function git(dir: string, args: string[]): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    execFile("git", ["-C", dir, ...args], { encoding: "utf8" }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 128;
      // Where git said nothing the exit code says all: execFile's own message is the command line again. A number is git's, a word is the system's.
      const unsaid = error === null || typeof error.code === "number" ? "" : error.message;
      resolve({ code, out: out.trim(), error: err.trim() || unsaid });
    });
  });
}

/** The full id of a commit; throws where the clone has none by that name. */
export async function commitIn(dir: string, name: string): Promise<string> {
  const { code, out, error } = await git(dir, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  if (code !== 0)
    throw new CommandError(2, `--commit ${name}: no such commit in ${dir}${error === "" ? "; fetch it first" : `: ${error}`}`);
  return out;
}

/** The commit that a tag of the clone means; undefined: it has no such tag. */
export async function tagIn(dir: string, tag: string): Promise<string | undefined> {
  const { code, out, error } = await git(dir, ["rev-parse", "--verify", "--quiet", "--end-of-options", `refs/tags/${tag}^{commit}`]);
  if (code !== 0 && error !== "") throw new CommandError(2, `--repo ${dir}: ${error}`);
  return code === 0 ? out : undefined;
}

/** How the Applications spell the repo of the clone: its origin, or the one Git repo they read where that is no help. */
export async function repoOf(dir: string, views: readonly ApplicationView[]): Promise<string> {
  const { code, out } = await git(dir, ["remote", "get-url", "origin"]);
  const sources = views.flatMap((view) => view.spec.sources).filter((source) => source.chart === undefined);
  const known = new Map(sources.map((source) => [normalRepo(source.repoURL), source.repoURL]));
  if (code === 0 && known.has(normalRepo(out))) return out;
  // Which commit a revision is stays proven by the clone, so a wrong guess here cannot make anything live.
  const [only] = known.values();
  if (only !== undefined && known.size === 1) return only;
  if (code === 0 && known.size === 0) return out;
  if (views.length === 0) return "";
  throw new CommandError(2, `which of ${[...known.values()].join(", ")} is the clone ${dir}? say it by --repo-url`);
}

/** Every full id that the Applications mention, so that their ancestry can be looked up beforehand. */
export function seenRevisions(views: readonly ApplicationView[]): string[] {
  const found = new Set<string>();
  for (const { status } of views) {
    const { operation, hydrator } = status;
    const all = [...status.sync.revisions, ...(operation?.appliedRevisions ?? []), ...(operation?.requestedRevisions ?? [])];
    for (const dry of [hydrator?.current?.drySHA, hydrator?.last?.drySHA, hydrator?.lastComparedDryRevision])
      if (dry !== undefined) all.push(dry);
    for (const revision of all) if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(revision)) found.add(revision);
  }
  return [...found];
}

export async function ancestryIn(dir: string, commit: string, seen: readonly string[]): Promise<(revision: string) => Ancestry> {
  const known = new Map<string, Ancestry>();
  for (const revision of seen) {
    const { code } = await git(dir, ["merge-base", "--is-ancestor", commit, revision]);
    known.set(revision, code === 0 ? "contains" : code === 1 ? "missing" : "unknown");
  }
  return (revision) => known.get(revision) ?? "unknown";
}
