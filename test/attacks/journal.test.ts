import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { askUntil } from "../support/ask-until.ts";
import { type GitHubPage, githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";
import { type Attacker, attackerOf } from "./support/attacker.ts";

/** What somebody with write does to the journal, to have merged what nobody released or to undo what somebody said. */
const JOURNAL = "stagecoach/journal";
const APP = "stagecoach[bot]";

let journey: Journey;
let eve: Attacker;
let page: GitHubPage;

/** Alice has write, as everybody who may push a branch; nobody has approved anything of hers. */
async function begin(files = short({ byHand: true })): Promise<void> {
  journey = await startJourney({ files, unprotected: true });
  eve = await attackerOf(journey.world, "alice");
  page = githubPage(journey.world);
}

afterEach(async () => {
  await eve.close();
  await journey.close();
});

const bare = (...args: string[]) => git(journey.world.github.repoDirectory(journey.world.repository), ...args);

/** Files of the journal at its head, with what `change` makes of each; null leaves it out. */
async function forgedFiles(change: (path: string, text: string) => [path: string, text: string][]): Promise<void> {
  await eve.git("fetch", "--quiet", "origin", JOURNAL);
  await eve.git("checkout", "--quiet", "-B", "forged", "FETCH_HEAD");
  const paths = (await readdir(eve.directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(".git"))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of paths) {
    const text = await readFile(file, "utf8");
    for (const [path, changed] of change(file.slice(eve.directory.length + 1), text)) {
      await mkdir(dirname(join(eve.directory, path)), { recursive: true });
      await writeFile(join(eve.directory, path), changed);
    }
  }
  await eve.git("add", "--all");
  await eve.git("commit", "--quiet", "-m", "forged");
}

/** A second run, of a version that nobody released, in a mode that nobody chose. */
function anotherRun(path: string, text: string): [string, string][] {
  const forged = text.replaceAll("v1.4.2", "v6.6.6");
  if (path === "index.yaml") return [[path, forged.replace("lastRun: 1", "lastRun: 2")]];
  const place = path.replace("runs/my-app/1/", "runs/my-app/2/");
  if (path.endsWith("plan.yaml")) return [[place, forged.replace("mode: Propose", "mode: Run")]];
  if (!path.endsWith("run.yaml")) return [];
  return [[place, forged.replace("number: 1", "number: 2").replace("batches: 1", "batches: 0")]];
}

async function attention(text: string): Promise<string> {
  const look = async () => (await page.get("/issues?state=all&labels=stagecoach&per_page=100")) as { title: string; body: string }[];
  const found = await askUntil(journey.world.clock, "it is said on GitHub", look, (all) => all.some(({ body }) => body.includes(text)));
  return found.find(({ body }) => body.includes(text))?.body ?? "";
}

/** The journal's head as the App anchored it last: what was recorded since may have none. */
async function anchoredHead(): Promise<string> {
  const root = bare("rev-list", "--first-parent", "--max-parents=0", "main");
  const { check_runs } = (await page.get(`/commits/${root}/check-runs?check_name=stagecoach/journal`)) as {
    check_runs: { external_id: string }[];
  };
  return check_runs[0]?.external_id.split(":")[2] ?? "";
}

async function passes(ms: number): Promise<void> {
  await new Promise<void>((resolve) => void journey.world.clock.after(ms, resolve));
}

describe("the journal taken over", () => {
  test("a forged journal that GitHub itself wrote and verified in the App's name merges nothing", async () => {
    await begin();
    await journey.release("v1.4.2");
    const run = await journey.until("its pull request is open", ({ batches }) => batches[0]?.phase === "Open");
    const pull = run.batches[0]?.pull?.number ?? 0;
    await eve.git("fetch", "--quiet", "origin", "main");
    await eve.git("push", "--quiet", "origin", "FETCH_HEAD:refs/tags/v6.6.6");
    // While the bot is replaced by a newer version its own pull request is given another head and another base.
    await journey.stop();
    await forgedFiles(anotherRun);
    const forged = await eve.git("rev-parse", "HEAD");
    await eve.git("push", "--quiet", "origin", "HEAD~1:refs/heads/elsewhere");
    await eve.git("push", "--quiet", "--force", "origin", `HEAD:refs/heads/stagecoach-run/my-app/1/1-1-1`);
    await eve.api("PATCH", `/pulls/${pull}`, { base: "elsewhere" });
    // GitHub writes the commit in the name of the pull request's author, and signs it.
    const message = { commit_title: "my-app #2: begun", commit_message: `Stagecoach-Run: my-app/2\nStagecoach-App: ${APP}` };
    const { sha } = await eve.api<{ sha: string }>("PUT", `/pulls/${pull}/merge`, { merge_method: "squash", sha: forged, ...message });
    const shown = (await page.get(`/commits/${sha}`)) as {
      commit: { verification: { verified: boolean } };
      author: { login: string };
      committer: { login: string };
    };
    expect([shown.commit.verification.verified, shown.author.login, shown.committer.login]).toEqual([true, APP, "web-flow"]);
    await eve.git("fetch", "--quiet", "origin", "elsewhere");
    await eve.git("push", "--quiet", "origin", `${sha}:refs/heads/${JOURNAL}`);
    await journey.start();
    await passes(10 * 60_000);
    expect(bare("show", "main:appsets/my-app-set.yaml")).not.toContain("v6.6.6");
    expect(await attention("Somebody else changed the journal")).toContain("no seal of this server's key");
    expect(bare("log", "--format=%s", "main")).not.toContain("v6.6.6");
    expect(bare("for-each-ref", "refs/heads/stagecoach-run/my-app/2")).toBe("");
  });
});

describe("what was said taken back", () => {
  test("an older journal of the bot's own lifts no halt, and a deleted one is no new one, though its cache is lost", async () => {
    await begin(short());
    const pull = await journey.release("v1.4.2");
    await journey.until("a batch is under way", ({ batches }) => batches[0]?.phase === "Merged");
    const before = bare("rev-parse", JOURNAL);
    journey.world.github.actAs("bob").comment(journey.world.repository, pull, "/halt something smells of smoke");
    await journey.until("it is halted", ({ commands }) => commands.length > 0);
    await passes(60_000);
    await journey.stop();
    const last = bare("rev-parse", JOURNAL);
    const merged = bare("rev-parse", "main");
    await eve.git("fetch", "--quiet", "origin", JOURNAL);
    await eve.git("push", "--quiet", "--force", "origin", `${before}:refs/heads/${JOURNAL}`);
    await journey.start();
    const anchored = await anchoredHead();
    expect(await attention("Somebody else changed the journal")).toContain(`does not descend from ${anchored.slice(0, 10)}`);
    await passes(5 * 60_000);
    expect(bare("rev-parse", "main")).toBe(merged);
    // Without a pull request of the bot's that would show that there has been a journal.
    await journey.stop();
    const open = (await page.get("/pulls?state=open")) as { number: number }[];
    for (const { number } of open) await eve.api("PATCH", `/pulls/${number}`, { state: "closed" });
    await eve.git("push", "--quiet", "origin", `:refs/heads/${JOURNAL}`);
    await journey.start();
    await attention(`its last commit was ${anchored.slice(0, 10)}`);
    await passes(5 * 60_000);
    expect([bare("rev-parse", "main"), bare("for-each-ref", `refs/heads/${JOURNAL}`)]).toEqual([merged, ""]);
    // Put back where it was it is gone on with, and the halt stands.
    await eve.git("push", "--quiet", "origin", `${last}:refs/heads/${JOURNAL}`);
    await journey.until("it is halted still", (run) => run.commands.length > 0);
    await passes(5 * 60_000);
    expect(bare("rev-parse", "main")).toBe(merged);
  });
});
