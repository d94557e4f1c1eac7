import { CommandError } from "../command.ts";
import { git } from "./git.ts";

/** Lines of a file as the commit left it, from the one to before the other; of no length where something was taken out. */
interface Span {
  from: number;
  to: number;
}

/** What somebody has done to a place since. */
interface Since {
  commit: string;
  file: string;
}

/** So many commits are looked through for the one that did it; past them the seen one is named. */
const MOST_COMMITS = 200;
const DIFF = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--text", "-U0"];

/**
 * Of revisions that contain a commit, those in which what it changed has been changed again: line by line, so that other lines of
 * the same files, such as the pins of later batches, do not count. By revision: the first commit that did, and in which file.
 */
export async function changedSince(dir: string, commit: string, seen: readonly string[]): Promise<Map<string, Since>> {
  const found = new Map<string, Since>();
  const later = seen.filter((revision) => revision.toLowerCase() !== commit);
  if (later.length === 0) return found;
  const before = await parentOf(dir, commit);
  const changed = await filesBetween(dir, before, commit);
  for (const revision of later) {
    const touched = new Set(await filesBetween(dir, commit, revision));
    for (const file of changed) {
      if (!touched.has(file) || !(await isTouched(dir, { before, commit, file }, revision))) continue;
      found.set(revision, { commit: await whoDid(dir, { before, commit, file }, revision), file });
      break;
    }
  }
  return found;
}

interface Place {
  before: string;
  commit: string;
  file: string;
}

/** Its first parent, or the empty tree. A clone that is cut off there cannot tell what the commit changed. */
async function parentOf(dir: string, commit: string): Promise<string> {
  const parent = await git(dir, ["rev-parse", "--verify", "--quiet", `${commit}^1`]);
  if (parent.code === 0) return parent.out;
  const shallow = await git(dir, ["rev-parse", "--is-shallow-repository"]);
  if (shallow.out === "true")
    throw new CommandError(
      2,
      `--repo ${dir} is a shallow clone that ends at the commit, so what it changed cannot be told: git fetch --unshallow`,
    );
  return (await output(dir, ["hash-object", "-t", "tree", "/dev/null"])).trim();
}

async function filesBetween(dir: string, from: string, to: string): Promise<string[]> {
  return (await output(dir, ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", from, to])).split("\0").filter(Boolean);
}

async function isTouched(dir: string, { before, commit, file }: Place, revision: string): Promise<boolean> {
  const ours = spansOf(await output(dir, [...DIFF, before, commit, "--", file]), "after");
  const since = await output(dir, [...DIFF, commit, revision, "--", file]);
  if (since === "") return false;
  const theirs = spansOf(since, "before");
  // A change that git shows no lines of, such as of a mode, is one of the whole file.
  if (ours.length === 0 || theirs.length === 0) return true;
  return ours.some((one) => theirs.some((other) => meet(one, other)));
}

/** What was put in beside a line leaves it as it is; where the commit took something out, what stands beside that place counts too. */
function meet(ours: Span, theirs: Span): boolean {
  if (ours.from === ours.to) return theirs.from <= ours.from && ours.from <= theirs.to;
  if (theirs.from === theirs.to) return ours.from < theirs.from && theirs.from < ours.to;
  return ours.from < theirs.to && theirs.from < ours.to;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** `@@ -FROM,COUNT +FROM,COUNT @@`; with a count of 0 the place is after that line. */
function spansOf(diff: string, side: "before" | "after"): Span[] {
  const spans: Span[] = [];
  for (const line of diff.split("\n")) {
    const [, a, b = "1", c, d = "1"] = HUNK.exec(line) ?? [];
    if (a === undefined || c === undefined) continue;
    const [start, count] = side === "before" ? [Number(a), Number(b)] : [Number(c), Number(d)];
    spans.push(count === 0 ? { from: start + 1, to: start + 1 } : { from: start, to: start + count });
  }
  return spans;
}

async function whoDid(dir: string, place: Place, revision: string): Promise<string> {
  const args = ["rev-list", "--reverse", "--ancestry-path", `${place.commit}..${revision}`, "--", place.file];
  for (const commit of (await output(dir, args)).split("\n").filter(Boolean).slice(0, MOST_COMMITS)) {
    if (await isTouched(dir, place, commit)) return commit;
  }
  return revision;
}

async function output(dir: string, args: string[]): Promise<string> {
  const { code, raw, error } = await git(dir, args);
  if (code !== 0) throw new CommandError(2, `--repo ${dir}: ${error === "" ? `git ${args[0] ?? ""} ended with ${code}` : error}`);
  return raw;
}
