import { afterEach, expect, test } from "vitest";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Exchange } from "../../src/sim/github/model/model.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";
import { withLedger } from "../support/second-rollout.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const ROLLOUT = "rollouts/my-app.yaml";
const RELEASE = "releases/my-app.yaml";

test("a stranger is shown another tenant's clusters by a fork's pull request or by installing the App, or opens a repository with a token for theirs", async () => {
  const stages = "  stages: [{ name: all, clusters: {} }]\n";
  const own = new Map<string, string>();
  const asked: Exchange[] = [];
  journey = await startJourney({
    github: { onExchange: (exchange) => void asked.push(exchange) },
    files: (files) => {
      withLedger(files, stages);
      short()?.(files);
      for (const [path, text] of files) own.set(path, text);
    },
  });
  const { world } = journey;
  const { github, repository, clock } = world;
  const planned = (what: string, name = repository) => {
    const there = githubPage({ ...world, repository: name }, name === repository ? "carol" : "mallory");
    return async (pull: number, title: RegExp) => {
      const seen = await askUntil(
        clock,
        what,
        async () => there.check((await there.pull(pull)).head.sha, "stagecoach/plan"),
        (check) => check !== undefined && title.test(check),
      );
      const texts = (await there.comments(pull)).map(({ body }) => body);
      const { check_runs: runs } = (await there.get(`/commits/${(await there.pull(pull)).head.sha}/check-runs`)) as {
        check_runs: { output: { summary: string } }[];
      };
      return [seen, ...texts, ...runs.map(({ output }) => output.summary)].join("\n");
    };
  };

  const fork = await github.fork(repository, "eve");
  const eve = github.actAs("eve");
  const text = (own.get(ROLLOUT) ?? "").replace("name: my-app-set", "name: ledger-set").replace("my-app-set.yaml", "ledger-set.yaml");
  const files = { [ROLLOUT]: text, [RELEASE]: "version: v1.4.2\n" };
  await eve.push(fork, { branch: "peek", files, message: "Peek" });
  const pull = await eve.openPull(repository, { head: "eve:peek", title: "Peek" });
  github.actAs("alice").comment(repository, pull, "/plan");
  const shown = await planned("it is judged")(pull, /^(success|failure)/);
  expect(shown).not.toContain("ledger-us-east");
  expect(shown).toContain(sentenceOf({ code: "NOTE_SOURCE_OF_FORK", rollout: "my-app" }));

  // The App is installed for somebody else, who names what is not theirs.
  const set = own.get("appsets/my-app-set.yaml") ?? "";
  const config = await github.createRepo({
    owner: "globex",
    name: "config",
    files: new Map([
      [ROLLOUT, own.get(ROLLOUT) ?? ""],
      [RELEASE, "version: v1.4.1\n"],
      ["appsets/my-app-set.yaml", set],
    ]),
  });
  github.collaborator(config.repository, "mallory", "admin");
  const mallory = github.actAs("mallory");
  await mallory.push(config.repository, { branch: "peek", files: { [RELEASE]: "version: v1.4.2\n" }, message: "Peek" });
  const theirs = await mallory.openPull(config.repository, { head: "peek", title: "Peek" });
  const told = await planned("it is refused", config.repository)(theirs, /may use no control plane|^success/);
  expect(told).not.toContain("my-app-us-east");

  // Whatever could be had of the work on one repository opens that one, and of the work on none lists what there is.
  const byToken = asked.filter(({ actor, token }) => actor === github.app.login && token !== undefined);
  expect(new Set(byToken.flatMap(({ token }) => token?.repositories ?? []))).toEqual(new Set([repository, config.repository]));
  const opening = byToken.filter(({ path, token }) => {
    const [, about] = /^\/repos\/([^/]+\/[^/]+)/.exec(path) ?? [];
    if (token?.repositories === undefined) return about !== undefined || Object.keys(token?.permissions ?? {}).join() !== "metadata";
    return token.repositories.length !== 1 || (about !== undefined && about !== token.repositories[0]);
  });
  expect(opening.map(({ method, path, token }) => [method, path, token])).toEqual([]);
});
