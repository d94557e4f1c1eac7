import { afterEach, expect, test } from "vitest";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** Somebody with write moves a tag, as `git push --force origin v1.4.2` does. */
async function moveTag({ world }: Journey, login: string, tag: string, sha: string): Promise<void> {
  const response = await fetch(`${world.github.url}/repos/${world.repository}/git/refs/tags/${tag}`, {
    method: "PATCH",
    headers: { authorization: `token ${world.github.token(login)}`, "content-type": "application/json" },
    body: JSON.stringify({ sha, force: true }),
  });
  if (response.status !== 200) throw new Error(`tag ${tag}: ${response.status} ${await response.text()}`);
}

type Shown = { status?: { sync?: { revision?: string } } };

const MERGED = new Set(["Merged", "Baking", "Settled"]);

test("a tag is moved while its release is rolled out, and nothing of the other commit is confirmed or merged", async () => {
  journey = await startJourney({ files: short({ bake: "2m" }) });
  const { world, release, until } = journey;
  world.github.collaborator(world.repository, "mallory", "write");
  const mallory = world.github.actAs("mallory");
  const pull = await release();
  const baking = await until("the first batch bakes", ({ batches: [first] }) => first?.phase === "Baking");
  const [released] = baking.resolved ?? [];

  const other = await mallory.push(world.repository, { branch: "mine", files: { "apps/my-app/evil.yaml": "a: 1\n" }, message: "Mine" });
  await moveTag(journey, "mallory", "v1.4.2", other);
  const paused = await until("it pauses", ({ phase }) => phase === "Paused");
  expect(released).toMatchObject({ revision: "v1.4.2", commit: expect.stringMatching(/^[0-9a-f]{40}$/) });
  expect(paused.paused).toMatchObject({ kind: "Moved", reason: { code: "REVISION_MOVED", from: released?.commit, to: other } });
  expect(paused.batches.filter(({ phase }) => MERGED.has(phase))).toHaveLength(1);
  const { comments } = githubPage(world);
  expect((await comments(pull)).map(({ body }) => body).join("\n")).toContain("v1.4.2");

  // Going on is for nobody while it is another one; put back, it goes on.
  const bob = world.github.actAs("bob");
  bob.comment(world.repository, pull, "/resume");
  await until("it pauses again", ({ commands, phase }) => commands.length === 1 && phase === "Paused");
  await moveTag(journey, "mallory", "v1.4.2", released?.commit ?? "");
  // Clusters of later batches follow the tag as well: one that still shows the other commit holds the run rightly.
  const shown = () => (world.kubernetes.store.list("applications") as Shown[]).map(({ status }) => status?.sync?.revision);
  await askUntil(
    world.clock,
    "Argo CD shows it put back everywhere",
    async () => shown(),
    (seen) => seen.includes(released?.commit) && !seen.includes(other),
  );
  // Told at once that it may go on, the bot would judge by what its watch told it before.
  await new Promise<void>((resolve) => void world.clock.after(60_000, resolve));
  bob.comment(world.repository, pull, "/resume");
  await until("it goes on", ({ batches: [, second] }) => second?.merged !== undefined);
  expect(journey.errors).toEqual([]);
});
