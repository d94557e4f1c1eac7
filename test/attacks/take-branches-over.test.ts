import { afterEach, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { ATTENTION_TITLE } from "../../src/core/report/run/attention.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { type Attacker, attackerOf } from "./support/attacker.ts";

/** Somebody with write wants the branches that the bot keeps its state on and makes its batches on, to stop its runs or have its pull requests. */
let journey: Journey;
let eve: Attacker;

afterEach(async () => {
  await eve.close();
  await journey.close();
});

test("where anybody with write may take the bot's branches over it opens nothing; by the ruleset that it prints they are its own, and it goes on", async () => {
  journey = await startJourney({ files: short(), unprotected: true, bot: () => ({ allowUnprotected: false }) });
  const { world } = journey;
  eve = await attackerOf(world, "alice");
  const page = githubPage(world);
  const bare = (...args: string[]) => git(world.github.repoDirectory(world.repository), ...args);
  const look = async () =>
    (await page.get("/issues?state=all&labels=stagecoach&per_page=100")) as { title: string; state: string; body: string }[];
  const attention = async (state: string) => {
    const found = await askUntil(world.clock, `it is ${state}`, look, (all) =>
      all.some((one) => one.title === ATTENTION_TITLE && one.state === state),
    );
    return found.find(({ title }) => title === ATTENTION_TITLE)?.body ?? "";
  };

  const pull = await world.openReleasePull(world.github.actAs("alice"));
  expect(await world.untilComment(pull, "Plan:")).toContain("BRANCHES_UNPROTECTED");
  await world.github.actAs("alice").mergePull(world.repository, pull, "squash");
  const waiting = await journey.until("it waits", ({ why }) => why.code === "NOT_OPENED_YET");
  expect(waiting.why).toMatchObject({
    because: {
      code: "UNPROTECTED",
      bare: [{ branch: "stagecoach/journal" }, { branch: "stagecoach-run/my-app/…", lacks: ["creation", "update", "deletion"] }],
    },
  });
  const issue = await attention("open");
  expect(await world.untilComment(pull, ATTENTION_TITLE)).toContain("`mode: Run`");
  expect(bare("for-each-ref", "refs/heads/stagecoach-run")).toBe("");

  // An administrator pastes the call.
  const [, place = "", ruleset = ""] = /gh api repos\/(\S+) --input - <<'JSON'\n([\s\S]*?)\nJSON/.exec(issue) ?? [];
  const made = await fetch(`${world.github.url}/repos/${place}`, {
    method: "POST",
    headers: { authorization: `token ${world.github.token("carol")}`, "content-type": "application/json" },
    body: ruleset,
  });
  expect(made.status).toBe(201);
  await journey.until("it goes on", ({ batches }) => batches.some(({ phase }) => phase === "Merged"));
  // Not the head itself: where a batch was merged just now its branch may stand there, and a push of that changes nothing.
  for (const branch of ["stagecoach/journal", journey.run()?.batches.at(-1)?.branch ?? ""]) {
    await eve.git("fetch", "--quiet", "origin", "main");
    await expect(eve.git("push", "--quiet", "--force", "origin", `FETCH_HEAD~1:refs/heads/${branch}`)).rejects.toThrow("rule violations");
  }
  expect((await journey.until("it ends", ended)).phase).toBe("Succeeded");
  await attention("closed");
});
