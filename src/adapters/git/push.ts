/** Pushes refs to a mirror's remote, all of them or none, each from where it is known to be. Called by `mirror.ts`, one push at a time. */
import { TAGS } from "../../core/base/ref-name.ts";
import { GitFailure, gitError, remoteWords } from "./git-errors.ts";
import { fullRef, objectId } from "./names.ts";
import { GitError, type RefUpdate } from "./port.ts";
import { ask, REMOTE_NAME, type Remote, remoteCommits } from "./remote.ts";
import type { GitResult } from "./run-git.ts";

/** All of the updates, or none. */
export async function pushRefs(remote: Remote, updates: readonly RefUpdate[], tries = 3): Promise<"ok" | "stale"> {
  if (updates.length === 0) return "ok";
  // Pushed to the remote by name: git then moves the mirror's own refs along, which saves a process.
  const leased = await withTagObjects(remote, updates);
  const result = await ask(remote, "push to", pushArguments(REMOTE_NAME, leased), { answers: [0, 1] });
  const verdict = judgePush(remote.url, updates, result);
  if (verdict !== "unsure") return verdict;
  const refs = await remoteCommits(
    remote,
    updates.map((update) => update.ref),
  );
  if (updates.some((update) => refs.get(update.ref) !== update.old)) return "stale";
  // Somebody held the remote's lock and has not moved the ref: theirs may have failed, so ours is tried again.
  if (tries > 1) return await pushRefs(remote, updates, tries - 1);
  throw new GitError(
    "Unavailable",
    `push to ${remote.url}: the remote's refs stay locked: ${remoteWords(result.stderr) || "no reason given"}`,
  );
}

/** An annotated tag is an object of its own, by which the remote tells whether it has moved: whoever asks knows the commit that it means. */
async function withTagObjects(remote: Remote, updates: readonly RefUpdate[]): Promise<readonly RefUpdate[]> {
  const tags = updates.filter(({ ref, old }) => old !== undefined && ref.startsWith(TAGS)).map(({ ref }) => fullRef(ref));
  if (tags.length === 0) return updates;
  const { stdout } = await ask(remote, "ask", [
    "ls-remote",
    "--quiet",
    "--end-of-options",
    remote.url,
    ...tags.flatMap((ref) => [ref, `${ref}^{}`]),
  ]);
  const there = new Map(stdout.split("\n").map((line) => line.split("\t").reverse() as [string, string]));
  return updates.map((update) =>
    there.get(`${update.ref}^{}`) === update.old ? { ...update, old: there.get(update.ref) ?? update.old } : update,
  );
}

/** Arguments of one atomic push that is refused unless every ref is at its `old`. */
function pushArguments(remote: string, updates: readonly RefUpdate[]): string[] {
  const leases: string[] = [];
  const refspecs: string[] = [];
  const seen = new Set<string>();
  for (const update of updates) {
    const ref = fullRef(update.ref);
    if (seen.has(ref)) throw new GitError("Invalid", `${ref} is in one push twice`);
    seen.add(ref);
    leases.push(`--force-with-lease=${ref}:${update.old === undefined ? "" : objectId(update.old)}`);
    refspecs.push(`${update.new === undefined ? "" : objectId(update.new)}:${ref}`);
  }
  return ["push", "--porcelain", "--atomic", "--no-verify", "--no-signed", ...leases, "--end-of-options", remote, ...refspecs];
}

/** What one ref came to: the flag and the words in brackets of `--porcelain`. */
interface RefOutcome {
  ref: string;
  flag: string;
  summary: string;
}

function outcomes(stdout: string): RefOutcome[] {
  const found: RefOutcome[] = [];
  for (const line of stdout.split("\n")) {
    const parts = line.split("\t");
    const [flag = "", refs = "", summary = ""] = parts;
    if (parts.length < 3 || flag.length !== 1) continue;
    found.push({ ref: refs.slice(refs.indexOf(":") + 1), flag, summary });
  }
  return found;
}

/** The remote's words for "somebody was faster", between our look at the refs and its own. */
const RACE = /failed to update ref|cannot lock ref|incorrect old value|reference already exists|fetch first|non-fast-forward/i;

/**
 * Whether a finished push went through. `unsure`: refused in a way a race and a fault both have; the refs must be looked
 * at. Rejects with GitError for everything else, a hook's or ruleset's refusal as `Invalid` with its own words.
 */
function judgePush(url: string, updates: readonly RefUpdate[], result: GitResult): "ok" | "stale" | "unsure" {
  const refs = outcomes(result.stdout);
  if (result.exitCode === 0) {
    // A ref that was at `new` already is "up to date" to git, whatever the lease says: somebody else put it there.
    const moved = updates.filter((update) => update.old !== update.new);
    const already = refs.filter((ref) => ref.flag === "=").map((ref) => ref.ref);
    return moved.length > 0 && moved.every((update) => already.includes(update.ref)) ? "stale" : "ok";
  }
  // Git keeps no branch below another: a fault that trying again does not mend.
  const inTheWay = /'refs\/\S+' exists; cannot create '\S+'/.exec(result.stderr)?.[0];
  if (inTheWay !== undefined) throw new GitError("Invalid", `push to ${url}: ${inTheWay}`);
  const rejected = refs.filter((ref) => ref.flag === "!");
  if (rejected.some((ref) => ref.summary.includes("stale info"))) return "stale";
  if (rejected.length > 0 && (RACE.test(result.stderr) || rejected.some((ref) => RACE.test(ref.summary)))) return "unsure";
  const named = rejected.filter((ref) => !/atomic (push|transaction) fail/i.test(ref.summary));
  const refused = (named.length > 0 ? named : rejected).find((ref) => ref.summary.includes("[remote rejected]"));
  if (refused === undefined) throw gitError(`push to ${url}`, new GitFailure(result.exitCode, result.stdout, result.stderr));
  const reason = /\((.*)\)/.exec(refused.summary)?.[1] ?? refused.summary;
  const words = remoteWords(result.stderr);
  throw new GitError("Invalid", `push to ${url}: the remote refused ${refused.ref} (${reason})${words === "" ? "" : `: ${words}`}`);
}
