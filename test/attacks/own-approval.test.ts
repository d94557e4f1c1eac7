import { afterEach, expect, test } from "vitest";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { type Journey, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const NOBODY = { name: "Release automation", email: "release@build.invalid" };
const why = ({ batches: [first] }: Run) => (first === undefined ? "" : sentenceOf(first.why));

test("one of the team pushes to somebody's release in another's name or nobody's, and approves it alone", async () => {
  journey = await startJourney({
    github: { app: { permissions: WITH_MEMBERS } },
    files: short({ stage: "approval: { teams: [sre], notBy: [author, merger] }" }),
  });
  const { world, until } = journey;
  const { github, repository } = world;
  github.team("acme", "sre", ["mallory", "erin", "bob", "carol"]);
  for (const login of ["mallory", "erin"]) github.collaborator(repository, login, "write");
  const [alice, bob, mallory, erin] = (["alice", "bob", "mallory", "erin"] as const).map((login) => github.actAs(login));
  if (alice === undefined || bob === undefined || mallory === undefined || erin === undefined) throw new Error("nobody is there");

  // In alice's name, by an account of GitHub's own; and in that of no account.
  const pull = await world.openReleasePull(alice);
  const branch = "release-v1.4.2";
  const inHers = { name: "alice", email: "alice@users.noreply.github.com" };
  await erin.push(repository, { branch, files: { "notes/a.md": "x\n" }, message: "Notes", author: inHers });
  await mallory.push(repository, { branch, files: { "notes/b.md": "x\n" }, message: "Notes", author: NOBODY });
  await bob.mergePull(repository, pull, "squash");

  const waiting = await until("it waits for approval", (run) => why(run).includes("to approve stage"));
  const batch = waiting.batches[0]?.pull?.number ?? 0;
  expect(waiting.trigger.accounts?.toSorted()).toEqual(["alice", "erin", "mallory"]);
  expect(waiting.trigger).toMatchObject({ merger: "bob", unlinked: [expect.stringMatching(/^[0-9a-f]{40}$/)] });

  // Who pushed it by GitHub's own word, and who merged it, approve nothing.
  await mallory.review(repository, batch, "APPROVE");
  for (const person of [mallory, erin, bob]) person.comment(repository, batch, "/promote");
  const refused = await until("all are refused", ({ commands }) => commands.length === 3);
  expect(refused.commands.map(({ outcome, message }) => `${outcome} ${message.code}`).toSorted()).toEqual([
    "refused APPROVER_MERGED",
    "refused APPROVER_RELEASED",
    "refused APPROVER_RELEASED",
  ]);

  // Whose the commit of nobody's is remains unknown: one alone is not enough, whoever that be.
  const carol = github.actAs("carol");
  await carol.review(repository, batch, "APPROVE");
  const alone = await until("carol's approval is seen", (run) => why(run).includes("@carol"));
  expect(alone.batches[0]?.why).toMatchObject({
    because: { code: "APPROVAL_WANTED", have: ["carol"], unlinked: [expect.any(String)] },
  });
  expect(alone.batches[0]?.merged).toBeUndefined();
  github.collaborator(repository, "dave", "write");
  github.team("acme", "sre", ["mallory", "erin", "bob", "carol", "dave"]);
  await github.actAs("dave").review(repository, batch, "APPROVE");
  await until("two others have looked", ({ batches: [first] }) => first?.merged !== undefined);
  expect(journey.errors).toEqual([]);
});
