import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { openServerCell } from "../../src/surfaces/server/cell/open.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

const CELL = { cpuMs: 1500 };
const cell = openServerCell(CELL);
let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  cell.close();
  journey = undefined;
});

const SET = "appsets/my-app-set.yaml";
/** A set whose templates take most of an hour; the batches' lines stay as they are. */
const endless = (set: string) =>
  set
    .replace("spec:\n  generators:", "spec:\n  goTemplate: true\n  generators:")
    .replace("my-app-{{cluster}}", '"my-app-{{ .cluster }}{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}"');
/** What took most of a minute. */
const MERGES = `a: &a\n${Array.from({ length: 3000 }, (_, n) => `  k${n}: 1\n`).join("")}${"  <<: *a\n".repeat(3000)}`;

test("a stranger stops the server for everybody by a pull request that takes minutes or all memory to judge", async () => {
  journey = await startJourney({ files: short(), bot: () => ({ cell }) });
  const { world } = journey;
  const { github, repository, clock } = world;
  const page = githubPage(world);
  const fork = await github.fork(repository, "eve");
  const eve = github.actAs("eve");
  const alice = github.actAs("alice");
  const told = (pull: number, text: string) =>
    askUntil(
      clock,
      `#${pull} says ${text}`,
      async () => page.check((await page.pull(pull)).head.sha, "stagecoach/plan"),
      (seen) => seen?.includes(text) === true,
    );
  async function open(branch: string, file: string, text: string): Promise<number> {
    await eve.push(fork, { branch, files: { [file]: text }, message: branch });
    return await eve.openPull(repository, { head: `eve:${branch}`, title: branch });
  }

  // Nothing of a fork is read before somebody with write asks; that she asks herself changes nothing.
  const loops = await open("loops", SET, endless(readFileSync(new URL(`../../fixtures/fleet/${SET}`, import.meta.url), "utf8")));
  const merges = await open("merges", "rollouts/merges.yaml", MERGES);
  await told(loops, "comes from a fork");
  eve.comment(repository, loops, "/plan");
  await told(merges, "comes from a fork");

  // Somebody does: what passes the limits is ended twice and then left alone, what does not is judged. The run goes on to its end.
  for (const pull of [loops, merges]) alice.comment(repository, pull, "/plan");
  await journey.release();
  await told(loops, "alone until its head changes");
  await told(merges, "error");
  await journey.until("the run has ended", ended);
  expect(journey.run()?.phase).toBe("Succeeded");
  expect(journey.errors).toEqual([]);
});
