/** Other bots that write versions into the same repo: Renovate opens the release that is carried; who writes a pin meanwhile is held up and named. */
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";
import { onMain } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const ROLLOUT = "rollouts/my-app.yaml";
const SET = "appsets/my-app-set.yaml";

/** Renovate's settings as docs/releases.md has them, word for word. */
const DOCUMENTED = /```json\n(\{\n {2}"\$schema": "https:\/\/docs\.renovatebot\.com.*?\n\})\n```/s.exec(
  readFileSync(new URL("../../docs/releases.md", import.meta.url), "utf8"),
)?.[1];

interface Settings {
  ignorePaths: string[];
  customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
}

/** What Renovate's regex manager makes of a file: the first match's version replaced, and what is looked up. */
function renovated(settings: Settings, file: string, text: string, version: string): { text: string; depName: string } | undefined {
  const [manager] = settings.customManagers;
  const mayRead = manager?.managerFilePatterns.some((pattern) => new RegExp(pattern.replaceAll(/^\/|\/$/g, "")).test(file));
  const match = mayRead === true ? new RegExp(manager?.matchStrings[0] ?? "").exec(text) : null;
  const { currentValue = "", depName = "" } = match?.groups ?? {};
  if (match === null || currentValue === "") return undefined;
  return { text: text.replace(match[0], match[0].replace(currentValue, version)), depName };
}

test("Renovate finds a rollout's version by the settings of our docs and opens its release, which is carried; a pull request of its own on pins fails", async () => {
  const settings = JSON.parse(DOCUMENTED ?? "{}") as Settings;
  journey = await startJourney({
    files(files) {
      short()(files);
      const inline = "  release: # renovate: datasource=docker depName=ghcr.io/acme/my-app\n    version: v1.4.1\n";
      files.set(ROLLOUT, (files.get(ROLLOUT) ?? "").replace(/ {2}release:.*\n(?: {4}.*\n)*/, inline));
      files.set("renovate.json", DOCUMENTED ?? "");
      files.delete("releases/my-app.yaml");
    },
  });
  const { world } = journey;
  const { github, repository } = world;
  github.collaborator(repository, "renovate[bot]", "write");
  const renovate = github.actAs("renovate[bot]");
  const page = githubPage(world);
  const planned = (head: string) =>
    askUntil(
      world.clock,
      `stagecoach/plan of ${head}`,
      async () => (await page.check(head, "stagecoach/plan")) ?? "",
      (check) => /^(success|failure|neutral):/.test(check),
    );

  git(github.repoDirectory(repository), "tag", "v1.4.2", "main");

  // Without `ignorePaths` it would bump the pins themselves, and all clusters with one merge.
  const pins = onMain(journey, SET).replaceAll("targetRevision: v1.4.1", "targetRevision: v1.4.2");
  const bad = await renovate.push(repository, { branch: "renovate/pins", files: { [SET]: pins }, message: "Update my-app to v1.4.2" });
  const onPins = await renovate.openPull(repository, { head: "renovate/pins", title: "Update my-app to v1.4.2" });
  expect(await planned(bad)).toMatch(/^failure: /);
  expect(settings.ignorePaths).toContain("appsets/**");

  const bumped = renovated(settings, ROLLOUT, onMain(journey, ROLLOUT), "v1.4.2");
  expect(bumped?.depName).toBe("ghcr.io/acme/my-app");
  const files = { [ROLLOUT]: bumped?.text ?? "" };
  const head = await renovate.push(repository, { branch: "renovate/my-app-1.x", files, message: "Update my-app to v1.4.2" });
  const release = await renovate.openPull(repository, { head: "renovate/my-app-1.x", title: "Update my-app to v1.4.2" });
  expect(await planned(head)).toMatch(/^success: /);
  await renovate.mergePull(repository, release, "squash");
  const run = await journey.until("it ends", ended);
  expect([run.phase, run.trigger.author, run.trigger.pull, journey.errors]).toEqual(["Succeeded", "renovate[bot]", release, []]);
  expect(SHORT_CLUSTERS.map((cluster) => journey?.versions().get(cluster))).toEqual(SHORT_CLUSTERS.map(() => "v1.4.2"));
  const changed = git(github.repoDirectory(repository), "log", "--format=%an", "main", "--", SET).trim().split("\n");
  expect([new Set(changed).has("renovate[bot]"), (await page.pull(onPins)).merged]).toEqual([false, false]);
});

test.each([
  ["argocd-image-updater", "take the image out of Argo CD Image Updater"],
  ["kargo", "remove that step of Kargo's Stage"],
  ["renovate[bot]", "add that file to Renovate's ignorePaths"],
])("%s writes a pin of a run in progress: it pauses, says what to switch off, and goes on once that is undone", async (login, off) => {
  journey = await startJourney({ files: short({ bake: "24h" }) });
  const { world } = journey;
  const { github, repository } = world;
  github.collaborator(repository, login, "write");
  const release = await journey.release();
  await journey.until("the canary bakes", (run) => run.batches[0]?.phase === "Baking");
  const before = onMain(journey, SET);
  const theirs = before.replace("targetRevision: v1.4.2", "targetRevision: v1.4.9");
  const commit = await github
    .actAs(login)
    .push(repository, { branch: "main", files: { [SET]: theirs }, message: "Update my-app to v1.4.9" });
  const paused = await journey.until("it pauses", (run) => run.phase === "Paused");
  expect(paused.why).toMatchObject({ code: "PIN_DRIFT", by: { commit } });
  expect(await world.untilComment(release, off)).toContain(off);
  expect([...journey.versions().values()].filter((version) => version === "v1.4.2")).toHaveLength(1);
  const alice = github.actAs("alice");
  await alice.push(repository, { branch: "main", files: { [SET]: before }, message: "Undo what it wrote" });
  alice.comment(repository, release, "/resume");
  const resumed = await journey.until("it goes on", (run) => run.phase === "Progressing");
  expect([resumed.batches[0]?.targets.length, journey.errors]).toEqual([2, []]);
});
