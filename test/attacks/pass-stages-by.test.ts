import { afterEach, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";
import { SET_FILE } from "../support/pin-kinds.ts";

/** Somebody with write wants clusters changed at once, past the stages, by a label that says that it is meant. */
interface CheckRuns {
  check_runs: { conclusion: string | null; output: { summary: string | null } }[];
}

let journey: Journey;

afterEach(() => journey.close());

test("stagecoach/bypass counts from who may give /hotfix alone, and for what they had before them: not put on by a writer, nor for what was pushed since", async () => {
  journey = await startJourney({ files: short({ byHand: true }) });
  const { github, repository, clock } = journey.world;
  const page = githubPage(journey.world);
  const [alice, bob] = [github.actAs("alice"), github.actAs("bob")];
  const directory = github.repoDirectory(repository);
  const pinned = (version: string) => {
    const set = git(directory, "show", `main:${SET_FILE}`);
    return { [SET_FILE]: `${set.replace("targetRevision: v1.4.1", `targetRevision: ${version}`)}\n` };
  };
  const says = async (head: string, text: string) => {
    const look = async () => {
      const { check_runs: runs } = (await page.get(`/commits/${head}/check-runs?check_name=stagecoach%2Fplan`)) as CheckRuns;
      return runs.map(({ conclusion, output }) => `${conclusion}: ${output.summary}`).join("\n");
    };
    return await askUntil(clock, `the check says ${text}`, look, (said) => said.includes(text));
  };

  let head = await alice.push(repository, { branch: "by-hand", files: pinned("v1.4.2"), message: "All at once" });
  const pull = await alice.openPull(repository, { head: "by-hand", title: "By hand" });
  expect(await says(head, "UNSTAGED")).toMatch(/^failure/);
  await alice.label(repository, pull, ["stagecoach/bypass"]);
  expect(await says(head, sentenceOf({ code: "BYPASS_NOT_GIVEN", by: "alice" }).slice(1))).toMatch(/^failure/);

  await bob.label(repository, pull, []);
  await bob.label(repository, pull, ["stagecoach/bypass"]);
  await says(head, "success");

  head = await alice.push(repository, { branch: "by-hand", files: pinned("v6.6.6"), message: "What nobody saw" });
  expect(await says(head, sentenceOf({ code: "BYPASS_BEFORE_HEAD", by: "bob" }).slice(1))).toMatch(/^failure/);
});
