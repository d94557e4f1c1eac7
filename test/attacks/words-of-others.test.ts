import { afterEach, expect, test } from "vitest";
import { type Journey, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

test("a writer puts /promote into a maintainer's comment or review within its second, and nobody has approved", async () => {
  journey = await startJourney({
    github: { app: { permissions: WITH_MEMBERS } },
    files: short({ stage: "approval: { teams: [sre] }" }),
  });
  const { world, release, until, run } = journey;
  const { github, repository } = world;
  github.team("acme", "sre", ["bob", "carol"]);
  github.collaborator(repository, "mallory", "write");
  const mallory = github.actAs("mallory");
  const bob = github.actAs("bob");
  const steered = await release();
  const waiting = await until("it waits for approval", ({ batches: [first] }) => first?.why.code === "PULL_WAITS");
  const batch = waiting.batches[0]?.pull?.number ?? 0;

  mallory.editComment(repository, bob.comment(repository, batch, "Looks fine"), "/promote");
  mallory.editComment(repository, bob.comment(repository, steered, "I am having a look"), "/skip eu-west-1-a");
  mallory.editReview(repository, batch, await bob.review(repository, batch, "COMMENT", "Nice"), "/promote");
  // Written after them, and so read with them.
  bob.comment(repository, batch, "/pause");
  const paused = await until("the last comment was read", ({ phase }) => phase === "Paused");
  expect(paused.approvals).toBeUndefined();
  expect(paused.commands.map(({ text, actor }) => `${actor}: ${text}`)).toEqual(["bob: /pause"]);
  expect(paused.skipped).toEqual([]);

  // His own words count as ever, also where no webhook told of them.
  bob.comment(repository, batch, "/resume");
  await until("it goes on", ({ phase }) => phase === "Progressing");
  bob.comment(repository, batch, "/promote");
  const approved = await until("he has approved", ({ approvals = [] }) => approvals.length > 0);
  expect(approved.approvals).toMatchObject([{ by: "bob", stage: 0 }]);
  expect(run()?.commands.map(({ text }) => text)).toEqual(["/pause", "/resume", "/promote"]);
  expect(journey.errors).toEqual([]);
});
