/** A stranger wants to slow a run down, or to have the bot write without end, by commands that anybody may write. */
import { afterEach, expect, test } from "vitest";
import { isEnded } from "../../src/core/run/state/run.ts";
import { askUntil } from "../support/ask-until.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

const STRANGERS = ["mallory", "oscar", "trudy", "eve", "chuck", "craig"];

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

test("six strangers with /status and /pause every three seconds: no merge waits for an answer; each is answered a few times, and never again", async () => {
  const here = await startJourney({ files: short() });
  journey = here;
  const { github, repository, clock } = here.world;
  for (const login of STRANGERS) github.collaborator(repository, login, "read");
  const answers: string[] = [];
  const gate = Promise.withResolvers<undefined>();
  const release = await here.release();
  await here.until("it began", () => true);
  // What is written to comments takes for ever, until the run has ended.
  github.faults.request = ({ method, path, actor }) => {
    if (!actor.endsWith("[bot]") || method === "GET" || !/\/issues\/(comments|\d+\/comments)/.test(path)) return undefined;
    answers.push(`${method} ${path}`);
    return gate.promise;
  };
  let comments = 0;
  while (!isEnded(here.run() ?? (await here.until("it is there", () => true)))) {
    if (comments < 120)
      for (const login of STRANGERS) github.actAs(login).comment(repository, release, comments++ % 12 < 6 ? "/status" : "/pause");
    await new Promise<void>((resolve) => void clock.after(3000, resolve));
  }
  const run = await here.until("it ends", ended);
  expect([run.phase, run.commands]).toEqual(["Succeeded", []]);

  // Then some more, and a maintainer's behind them.
  gate.resolve(undefined);
  for (let n = comments; n < 180; n++) github.actAs(STRANGERS[n % 6] ?? "").comment(repository, release, "/status");
  const headers = { authorization: `token ${github.token("alice")}` };
  const answered = (comment: number) =>
    askUntil(
      clock,
      "it is answered",
      async () => await (await fetch(`${github.url}/repos/${repository}/issues/comments/${comment}/reactions`, { headers })).text(),
      (seen) => seen.includes("rocket"),
    );
  await answered(github.actAs("bob").comment(repository, release, "/halt fire"));
  await here.bot.idle();
  // He is told before the others are: what they are owed still would be given by the process that begins anew.
  await new Promise<void>((resolve) => void clock.after(60_000, resolve));
  await here.bot.idle();
  // Fifty in ten minutes, each with a reaction before and after, and one comment for many: it was four writes for each of them: 720.
  expect(answers.length).toBeLessThan(240);

  // A process that begins anew answers none of them again: what was answered stands in the answer, what was refused below it.
  const before = answers.length;
  await here.stop();
  await here.start();
  await answered(github.actAs("bob").comment(repository, release, "/status"));
  await here.bot.idle();
  expect(answers.slice(before).length).toBeLessThan(12);
});
