import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import type { CommandName } from "../../src/core/spec/commands.ts";
import { CommandError } from "../../src/surfaces/cli/command.ts";
import * as release from "../../src/surfaces/cli/plan/release.ts";
import { postCommand } from "../../src/surfaces/cli/steer/post-command.ts";
import { askUntil } from "../support/ask-until.ts";
import { type Journey, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";

let journey: Journey | undefined;
let folder: string | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
  await journey?.close();
  journey = undefined;
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  folder = undefined;
});

/** As in app.yml, so that teams can be seen. */

/** Runs a subcommand in this process, as the person whose token is in the environment. */
async function stagecoach(name: "release" | CommandName, ...args: string[]): Promise<{ exit: number; out: string }> {
  let out = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  try {
    const command = name === "release" ? release : postCommand(name);
    return { exit: await command.run(args), out };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { exit: error.exitCode, out: error.message };
  } finally {
    spy.mockRestore();
  }
}

/** A clone of the config repo, and the variables that make this process speak to the embedded GitHub as this person. */
async function cloneAs({ world }: Journey, login: string): Promise<string> {
  folder ??= await mkdtemp(join(tmpdir(), "stagecoach-commands-"));
  const token = world.github.token(login);
  vi.stubEnv("GITHUB_API_URL", world.github.url);
  vi.stubEnv("GH_TOKEN", token);
  const clone = join(folder, login);
  // Not in step: the embedded GitHub answers from this very process.
  await promisify(execFile)("git", [
    "clone",
    "--quiet",
    `${world.github.gitUrl.replace("://", `://x:${token}@`)}/${world.repository}.git`,
    clone,
  ]);
  return clone;
}

interface Comment {
  id: number;
  body: string;
  user: { login: string };
}

async function ask<T>({ world }: Journey, path: string): Promise<T> {
  const headers = { authorization: `token ${world.github.token("carol")}` };
  return (await (await fetch(`${world.github.url}/repos/${world.repository}${path}`, { headers })).json()) as T;
}

const comments = (journey: Journey, pull: number) => ask<Comment[]>(journey, `/issues/${pull}/comments?per_page=100`);

/** As soon as the comment wears this mark. */
async function reacted(journey: Journey, comment: number, mark: string): Promise<void> {
  const look = () => ask<{ content: string }[]>(journey, `/issues/comments/${comment}/reactions`);
  await askUntil(journey.world.clock, `comment ${comment} has ${mark}`, look, (all) => all.some(({ content }) => content === mark));
}

const answers = (all: readonly Comment[]) => all.filter(({ body }) => /^<!-- stagecoach:answer(:r?\d+)? -->/.test(body));

test("from the command line: release opens the PR, /plan refreshes it, the run is steered, and every answer comes back", async () => {
  const settings = "mode: Propose\ncommands:\n  skip: { teams: [sre] }\n";
  journey = await startJourney({
    github: { app: { permissions: WITH_MEMBERS } },
    files: (files) => {
      short({ byHand: true })(files);
      files.set(".github/stagecoach.yaml", settings);
    },
  });
  const here = journey;
  const { world } = here;
  const { repository } = world;
  world.github.team("acme", "sre", ["bob"]);
  const clone = await cloneAs(here, "alice");
  const repo = ["--repo", clone, "--repository", repository];

  // The release PR, as alice, changing one value.
  const opened = await stagecoach("release", "my-app", "v1.4.2", ...repo);
  expect(opened).toMatchObject({ exit: 0, out: expect.stringContaining("releases/my-app.yaml: version v1.4.1 → v1.4.2\nOpened: ") });
  const release = Number(/\/pull\/(\d+)/.exec(opened.out)?.[1]);
  const again = await stagecoach("release", "my-app", "v1.4.2", ...repo);
  expect(again.out).toContain(`There is one already: ${/Opened: (.*)/.exec(opened.out)?.[1]}`);
  expect((await stagecoach("release", "my-app", "v1.4.1", ...repo)).out).toContain("is released at v1.4.1 already");
  expect((await stagecoach("release", "my-ap", "v1", ...repo)).out).toContain('main has no rollout "my-ap"; it has my-app');

  // Before there is a run: /plan is answered, anything else is told that there is none.
  await world.untilComment(release, "Plan: my-app");
  const alice = world.github.actAs("alice");
  const plan = alice.comment(repository, release, "/plan");
  const early = alice.comment(repository, release, "/pause");
  await reacted(here, plan, "rocket");
  await world.untilComment(release, "No run has begun that `/pause` could be for");
  // Told first, so that nobody is left with a mark and no reason.
  await reacted(here, early, "confused");

  await alice.mergePull(repository, release, "squash");
  const first = await here.until("its first batch is open", (run) => run.batches[0]?.phase === "Open");
  const batch = first.batches[0]?.pull?.number ?? 0;

  // The same rules, permissions and record as by hand.
  const paused = await stagecoach("pause", "my-app", "errors", "at", "checkout", ...repo);
  expect(paused).toMatchObject({ exit: 0, out: expect.stringContaining("Done: ") });
  expect(here.run()?.commands.at(-1)).toMatchObject({
    actor: "alice",
    text: "/pause --rollout my-app errors at checkout",
    outcome: "done",
  });
  expect((await stagecoach("pause", "my-app", ...repo)).exit).toBe(1);
  const skipped = await stagecoach("skip", "my-app", "us-east-1-a", ...repo, "-o", "json");
  expect([skipped.exit, JSON.parse(skipped.out)]).toMatchObject([1, { outcome: "refused", message: expect.stringContaining("`sre`") }]);
  expect((await stagecoach("resume", "my-app", ...repo)).out).toMatch(/^Done: /m);
  vi.stubEnv("GH_TOKEN", world.github.token("bob"));
  expect((await stagecoach("skip", "my-app", "us-east-1-a", ...repo)).out).toMatch(/^Done: .*us-east-1-a/m);
  expect((await stagecoach("abort", "my-app", "--no-wait", ...repo, "--repository", "acme/nothing")).exit).toBe(1);

  // Questions are answered where they are asked; one comment each, edited in place.
  const asked = world.github.actAs("bob").comment(repository, batch, "/status\n/help skip");
  await reacted(here, asked, "rocket");
  expect(await world.untilComment(batch, "stagecoach:status:my-app")).toMatch(/### .* my-app #\u200b1: v1\.4\.2[\s\S]*\[every cluster\]\(/);
  expect(await world.untilComment(batch, "`/skip`")).toContain("leaves clusters out of this run");

  // A command in a review acts like one in a comment, and is answered below it; one that is edited never acts.
  const bob = world.github.actAs("bob");
  bob.editReview(repository, batch, await bob.review(repository, batch, "COMMENT", "Hm."), "/abort");
  await bob.review(repository, batch, "COMMENT", "I would wait.\n\n/pause the graphs look odd");
  await world.untilComment(batch, "/pause the graphs look odd");
  bob.comment(repository, batch, "/resume they are fine");
  await here.until("it goes on", (run) => run.commands.some(({ text, outcome }) => text === "/resume they are fine" && outcome === "done"));
  expect(here.run()?.commands.some(({ text }) => text === "/abort")).toBe(false);

  // Each refused comment has an answer of its own.
  world.github.collaborator(repository, "mallory", "read");
  const mallory = world.github.actAs("mallory");
  mallory.comment(repository, release, "/abort");
  mallory.comment(repository, release, "/paus");
  alice.comment(repository, release, "/promote eu-1");
  await world.untilComment(release, "takes no words");
  expect(
    answers(await comments(here, release))
      .map(({ body }) => /\n> `([^`]*)`/.exec(body)?.[1])
      .slice(-3),
  ).toEqual(["/abort", "/paus", "/promote eu-1"]);

  // A bot is heard once the settings on the default branch name it; a pull request that would say so changes nothing.
  world.github.collaborator(repository, "renovate[bot]", "write");
  const renovate = world.github.actAs("renovate[bot]");
  const wider = `${settings}bots: ["renovate[bot]"]\n`;
  await alice.push(repository, { branch: "wider", files: { ".github/stagecoach.yaml": wider }, message: "wider" });
  await alice.openPull(repository, { head: "wider", title: "wider" });
  renovate.comment(repository, release, "/pause first");
  alice.comment(repository, release, "/requeue nowhere");
  await world.untilComment(release, 'no cluster "nowhere"');
  expect(here.run()?.phase).toBe("Progressing");
  await alice.push(repository, { branch: "main", files: { ".github/stagecoach.yaml": wider }, message: "bots" });
  renovate.comment(repository, release, "/pause second");
  const stopped = await here.until("it pauses", (run) => run.phase === "Paused");
  expect(stopped.why).toHaveCode("PAUSED_BY", { by: "renovate[bot]" });
  expect(here.errors).toEqual([]);
});
