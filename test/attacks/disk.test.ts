import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

const KIB = 1024;
const RELEASE = "releases/my-app.yaml";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

function bytesOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + (statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

function packsBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".pack")).length;
}

/** Random text of so many KiB in base64, which does not get smaller. */
const noise = (kib: number) => randomBytes((kib * KIB * 3) / 4).toString("base64");

test("a stranger fills the server's disk by a fork's pull requests, for ever or as long as they are open, and runs go on", async () => {
  const limits = { repository: 64 * 1024 * KIB, forkHead: 1024 * KIB, forkFile: 256 * KIB };
  journey = await startJourney({ files: short(), bot: () => ({ limits }) });
  const { world } = journey;
  const { github, repository, clock } = world;
  const page = githubPage(world);
  const fork = await github.fork(repository, "eve");
  const eve = github.actAs("eve");
  const told = (what: string, text: string) =>
    askUntil(
      clock,
      what,
      async () => page.check((await page.pull(pull)).head.sha, "stagecoach/plan"),
      (seen) => seen?.includes(text) === true,
    );
  async function open(branch: string, files: Record<string, string>): Promise<number> {
    await eve.push(fork, { branch, files: { ...files, [RELEASE]: "version: v1.4.1\n# mine\n" }, message: branch });
    return await eve.openPull(repository, { head: `eve:${branch}`, title: branch });
  }
  const before = bytesOf(journey.directory);

  // One file of 8 MiB: left out; what the pull request does is seen all the same.
  let pull = await open("one-file", { "large.txt": noise(8 * 1024) });
  github.actAs("alice").comment(repository, pull, "/plan");
  await told("it is judged", "my-app: 6 clusters");
  expect(bytesOf(journey.directory) - before).toBeLessThan(1024 * KIB);
  await eve.closePull(repository, pull);

  // Many of a usual size: not fetched beyond a head's cap, and that is said.
  pull = await open("many-files", Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`noise/${n}.txt`, noise(200)])));
  await told("it is said why it is not judged", "brings more than 1 MiB");
  expect(bytesOf(journey.directory) - before).toBeLessThan(1024 * KIB);
  await eve.closePull(repository, pull);

  // What was fetched of those that are closed is gone.
  await askUntil(
    clock,
    "nothing of it is left",
    async () => bytesOf(journey?.directory ?? ""),
    (bytes) => bytes - before < 100 * KIB,
  );

  // The repository's quota is used up: heads are not fetched any more, which the pull request and the issue say; a run goes on.
  await journey.stop();
  limits.repository = 1;
  await journey.start();
  pull = await open("no-room", { "small.txt": "small\n" });
  await told("it is said that there is no room", "is full");
  const issues = () => page.get("/issues?state=open&labels=stagecoach&per_page=100") as Promise<{ body: string }[]>;
  await askUntil(clock, "the issue says so, too", issues, (seen) => seen.some(({ body }) => body.includes("is full")));
  await journey.release();
  await journey.until("the run has ended", ended);
  expect(journey.run()?.phase).toBe("Succeeded");
  expect(journey.errors.filter(({ message }) => message !== "attention is needed")).toEqual([]);
});

test("mirrors that have no room at all are thrown away all the time, and a run loses nothing by it", async () => {
  journey = await startJourney({ files: short(), bot: () => ({ mostMirrored: 1 }) });
  await journey.release();
  await journey.until("the run has ended", ended);
  expect(journey.run()?.phase).toBe("Succeeded");
  expect(journey.errors.filter(({ message }) => message !== "attention is needed")).toEqual([]);
  const { bot, directory } = journey;
  // At the latest a minute after it was last needed.
  await askUntil(
    journey.world.clock,
    "it is thrown away",
    () => bot.idle().then(() => packsBelow(directory)),
    (packs) => packs === 0,
  );
});
