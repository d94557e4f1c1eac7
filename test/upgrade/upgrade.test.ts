import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openSeal, SEAL_TRAILER } from "../../src/adapters/git/journal/seal.ts";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { parseRepoConfig } from "../../src/core/spec/parse/config.ts";
import { parseRollouts } from "../../src/core/spec/parse/parse.ts";
import { parseServerConfig } from "../../src/surfaces/server/config/file.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, SHORT_CLUSTERS, startJourney } from "../support/journey.ts";
import { putBack, recordedAt } from "./recorded.ts";
import { RECORDED, SEALED_BY } from "./world.ts";

const HERE = import.meta.dirname;
const versions = globSync("*/github.json", { cwd: HERE })
  .map((path) => path.split("/")[0] ?? "")
  .sort();

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** A world where a bot of that version was stopped in the middle of a run; no bot runs. */
async function leftBy(version: string): Promise<Journey> {
  const folder = join(HERE, version);
  const found = await startJourney({ ...RECORDED, start: recordedAt(folder) });
  await found.stop();
  await putBack(found.world.github, found.world.repository, folder);
  return found;
}

describe.each(versions)("what version %s left behind in the middle of a run", (version) => {
  test("is gone on with to its end: each batch merged once, its evidence kept, its past told", async () => {
    journey = await leftBy(version);
    const merged = () => journey?.subjects().filter((subject) => subject.startsWith("my-app v1.4.2: ")) ?? [];
    const before = merged();
    expect(before).toHaveLength(2);
    await journey.start();
    const begun = await journey.until("the journal is read", ({ batches }) => batches.length >= 2);
    expect(begun.batches[0]?.targets.every(({ evidence }) => evidence !== undefined)).toBe(true);
    const run = await journey.until("it ends", ended);
    expect([run.phase, run.number, journey.errors]).toEqual(["Succeeded", 1, []]);
    expect(merged()).toHaveLength(3);
    expect(merged().slice(1)).toEqual(before);
    const values = journey.versions();
    expect(SHORT_CLUSTERS.map((cluster) => values.get(cluster))).toEqual(SHORT_CLUSTERS.map(() => "v1.4.2"));
    const api = `${journey.bot.insideUrl}/api/v1/repos/${journey.world.repository}/rollouts/my-app/runs`;
    const told = async (path: string) => await (await fetch(`${api}${path}`)).text();
    expect(JSON.parse(await told(""))).toMatchObject({ items: [{ number: 1, phase: "Succeeded" }] });
    const events = (await told("/1/events?format=jsonl"))
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { says: string }).says);
    for (const words of ["started for v1.4.2", "merged #2 of batch 1", 'batch 2 of stage "us-east-1" is done'])
      expect(
        events.filter((says) => says.includes(words)),
        words,
      ).toHaveLength(1);
  });
});

describe.each(versions)("configuration of version %s", (version) => {
  const read = (name: string) => readFileSync(join(HERE, version, name), "utf8");

  test("is read without a word: the server's, a repository's, each rollout", () => {
    expect(parseServerConfig(read("stagecoach.yaml"), "stagecoach.yaml").problems).toEqual([]);
    expect(parseRepoConfig(read("repository.yaml"), ".github/stagecoach.yaml").problems).toEqual([]);
    const { rollouts, problems } = parseRollouts(read("rollouts.yaml"), "rollouts.yaml");
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(rollouts.length).toBeGreaterThan(20);
  });
});

/** A commit on the journal's branch as a later version would make it, which seals with the same key. */
function writtenByNewer(
  { world, directory }: Journey,
  file: string,
  change: (text: string) => string,
  stamped = (seal: string) => seal,
): void {
  const { repo } = world.github.inside(world.repository);
  const origin = world.github.repoDirectory(world.repository);
  const checkout = join(directory, "..", `newer-${file.replaceAll("/", "-")}`);
  git(origin, "clone", "--quiet", "--branch", "stagecoach/journal", origin, checkout);
  writeFileSync(join(checkout, file), change(readFileSync(join(checkout, file), "utf8")));
  git(checkout, "add", "--all");
  const [author = "", subject = "", ...body] = git(checkout, "log", "-1", "--format=%an <%ae>%n%B").split("\n");
  const lines = body.filter((line) => line.startsWith("Stagecoach-"));
  const trailers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]));
  const sequence = Number(trailers[SEAL_TRAILER]?.split(".")[2]) + 1;
  const [parent, tree] = [git(checkout, "rev-parse", "HEAD"), git(checkout, "write-tree")];
  const seal = stamped(openSeal(SEALED_BY, String(repo.id)).stamp(sequence, { parent, tree, trailers }));
  const message = [subject, "", ...lines.map((line) => (line.startsWith(SEAL_TRAILER) ? `${SEAL_TRAILER}: ${seal}` : line))].join("\n");
  git(checkout, "commit", "--quiet", "--allow-empty", "--author", author, "-m", message);
  git(origin, "fetch", "--quiet", checkout, "+HEAD:refs/heads/stagecoach/journal");
}

const RUN = "runs/my-app/1/run.yaml";

test.each([
  [
    "a run of a newer format",
    RUN,
    (text: string) => text.replace("format: 2", "format: 3"),
    undefined,
    "it has format 3, and this version reads format 2: a newer version wrote it (run that one)",
  ],
  [
    "an index of a newer format",
    "index.yaml",
    (text: string) => text.replace("format: 1", "format: 2"),
    undefined,
    "it has format 2, and this version reads format 1: a newer version wrote it (run that one)",
  ],
  [
    "a seal of a newer kind",
    RUN,
    (text: string) => text,
    (seal: string) => seal.replace(/^v1/, "v2"),
    "carries a seal of a newer version (v2): run the version that wrote it, or a later one",
  ],
] as const)("%s is refused in one sentence, and nothing of it is written over", async (_, file, change, stamped, words) => {
  journey = await leftBy(versions.at(-1) ?? "");
  writtenByNewer(journey, file, change, stamped);
  const { world } = journey;
  const head = () => git(world.github.repoDirectory(world.repository), "rev-parse", "refs/heads/stagecoach/journal");
  const before = head();
  await journey.start();
  const page = githubPage(world);
  await askUntil(
    world.clock,
    "it is said",
    async () => JSON.stringify(await page.get("/issues?state=open")),
    (said) => said.includes(words),
  );
  expect(head()).toBe(before);
  expect(journey.subjects().filter((subject) => subject.startsWith("my-app v1.4.2: "))).toHaveLength(2);
});

test("something was recorded", () => expect(versions).toContain("0.1.0"));
