import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { type BareRepo, createBareRepo } from "./bare-repo.ts";
import { fetchAnswer } from "./pack.ts";

let at: Workspace;
let repo: BareRepo;

beforeEach(async () => {
  at = workspace({ "a/b/c.txt": "1", "a/d.txt": "2", "e.txt": "3" });
  repo = await createBareRepo(at.origin, { branch: "main", files: new Map(), at: 0 });
});

afterEach(() => {
  repo.close();
  at.remove();
});

/** Packs lie in pieces behind the first packet. */
function packIn(answer: Buffer | undefined): Buffer {
  const pieces: Buffer[] = [];
  for (let from = 4 + "packfile\n".length; answer !== undefined && from + 4 < answer.length; ) {
    const length = Number.parseInt(answer.toString("latin1", from, from + 4), 16);
    pieces.push(answer.subarray(from + 5, from + length));
    from += length;
  }
  return Buffer.concat(pieces);
}

test("what a fetch lacks is sent with no process, and nothing it has: files, a merge, a file that comes back", async () => {
  const clone = join(at.directory, "clone.git");
  git(at.directory, "clone", "--quiet", "--bare", at.origin, clone);
  const have = git(at.origin, "rev-parse", "main");
  at.commitFiles({ "a/b/c.txt": "4", "e.txt": null, "f/g/h.txt": "x".repeat(70_000) });
  git(at.checkout, "checkout", "--quiet", "-b", "side", have);
  at.commitFiles({ "a/d.txt": "5" });
  git(at.checkout, "checkout", "--quiet", "main");
  git(at.checkout, "merge", "--quiet", "--no-ff", "-m", "merge", "side");
  const want = at.commitFiles({ "e.txt": "3", "a/b/c.txt": "1" });
  const pack = packIn(await fetchAnswer(repo, ["command=fetch", "thin-pack", "ofs-delta", `want ${want}`, `have ${have}`, "done"]));
  execFileSync("git", ["unpack-objects", "-q", "--strict"], { cwd: clone, input: pack });
  expect(git(clone, "rev-list", "--objects", want)).toBe(git(at.origin, "rev-list", "--objects", want));
  const sent = git(at.origin, "rev-list", "--objects", want, `^${have}`).split("\n").length;
  // A file that comes back is not known to have been there.
  expect(pack.readUInt32BE(8)).toBeLessThanOrEqual(sent + 3);
});

test("a clone, a shallow one and one without large files are git's to answer", async () => {
  const want = `want ${git(at.origin, "rev-parse", "main")}`;
  const have = want.replace("want", "have");
  for (const lines of [[want], [want, have, "deepen 1"], [want, have, "filter blob:limit=10"], [want, have, "shallow 1"]])
    expect(await fetchAnswer(repo, ["command=fetch", ...lines, "done"])).toBeUndefined();
  expect(await fetchAnswer(repo, ["command=fetch", want, have])).toBeUndefined();
});
