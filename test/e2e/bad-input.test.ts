import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";

const ROLLOUT = "rollouts/my-app.yaml";
const SET = "appsets/my-app-set.yaml";
const RELEASE = "releases/my-app.yaml";

let journey: Journey;
let files: Record<string, string>;
let number = 0;

beforeAll(async () => {
  journey = await startJourney({ files: short() });
  const show = (path: string) => `${git(journey.world.github.repoDirectory(journey.world.repository), "show", `main:${path}`)}\n`;
  files = { [ROLLOUT]: show(ROLLOUT), [SET]: show(SET), [RELEASE]: show(RELEASE) };
});

afterAll(() => journey.close());

type Change = (files: Record<string, string>) => Record<string, string>;

function rollout(from: string | RegExp, to: string): Change {
  return (now) => ({ [ROLLOUT]: (now[ROLLOUT] ?? "").replace(from, to) });
}

const SECOND_OWNER = "rollouts/second.yaml";

/** What is merged as a release, and what the PR's comment has to name: the place, and the next step. */
const CASES: [string, Change, RegExp, RegExp][] = [
  ["an unknown key", rollout("maxClusters:", "maxCluster:"), /rollouts\/my-app\.yaml:\d+:\d+/, /maxClusters/],
  ["a wrong type", rollout("maxClusters: 2", "maxClusters: [2]"), /rollouts\/my-app\.yaml:\d+:\d+/, /neither a count nor a percentage/],
  ["a percentage over 100", rollout("maxClusters: 2", 'maxClusters: "150%"'), /rollouts\/my-app\.yaml:\d+:\d+/, /100/],
  ["zero", rollout("maxUnavailable: 2", "maxUnavailable: 0"), /rollouts\/my-app\.yaml:\d+:\d+/, /0 is less than 1/],
  ["a negative number", rollout("maxUnavailable: 2", "maxUnavailable: -3"), /rollouts\/my-app\.yaml:\d+:\d+/, /-3/],
  ["a duplicate stage", rollout("name: us-east-1", "name: canary"), /rollouts\/my-app\.yaml:\d+:\d+/, /canary/],
  [
    "a selector that cannot match",
    rollout(
      "{ matchLabels: { region: us-east-1 } }",
      "{ matchExpressions: [ { key: a, operator: Exists }, { key: a, operator: DoesNotExist } ] }",
    ),
    /rollouts\/my-app\.yaml:\d+:\d+/,
    /selector|match/,
  ],
  ["a pin path that matches nothing", rollout("elements[cluster=", "elements[clusterName="), /my-app(-set)?\.yaml:\d+:\d+/, /clusterName/],
  [
    "a pin path that matches two places",
    (now) => ({ [SET]: (now[SET] ?? "").replace("- cluster: us-east-1-b\n", "- cluster: us-east-1-a\n") }),
    /my-app(-set)?\.yaml:\d+:\d+/,
    /us-east-1-a|us-east-1-b/,
  ],
  [
    "a pin file that is not there",
    rollout("file: appsets/my-app-set.yaml", "file: appsets/other.yaml"),
    /rollouts\/my-app\.yaml:\d+:\d+/,
    /add the file/,
  ],
  [
    "a huge rollout file",
    (now) => ({ [ROLLOUT]: `${now[ROLLOUT]}# ${"x".repeat(11 * 1024 * 1024)}\n` }),
    /rollouts\/my-app\.yaml:\d+:\d+/,
    /plain file of at most/,
  ],
  [
    "an alias bomb",
    (now) => ({
      [ROLLOUT]: `${now[ROLLOUT]}  a: &a [x, x, x, x, x, x, x, x, x, x]\n${["b", "c", "d", "e", "f", "g", "h"].map((name, i) => `  ${name}: &${name} [${Array(10).fill(`*${"abcdefg"[i]}`).join(", ")}]\n`).join("")}`,
    }),
    /rollouts\/my-app\.yaml:\d+:\d+/,
    /alias/,
  ],
  [
    "`..` in a pin file's path",
    rollout("file: appsets/my-app-set.yaml", "file: ../other/set.yaml"),
    /rollouts\/my-app\.yaml:\d+:\d+/,
    /config repo/,
  ],
  [
    "a base that is not the default branch",
    rollout("  stages:", "  delivery: { base: live }\n  stages:"),
    /rollouts\/my-app\.yaml:\d+:\d+/,
    /default branch is `?main/,
  ],
  [
    "a second rollout of the same ApplicationSet",
    (now) => ({ [SECOND_OWNER]: (now[ROLLOUT] ?? "").replace("name: my-app\n", "name: second\n") }),
    /rollouts\/second\.yaml:\d+:\d+/,
    /one rollout only/,
  ],
];

describe("merged to main as a release, no run starts and the PR's comment says where, what, and what to do", () => {
  test.each(CASES)("%s", async (_name, change, where, what) => {
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const changed = change(files);
    expect(Object.entries(changed).some(([path, text]) => files[path] !== text)).toBe(true);
    const version = `v2.0.${++number}`;
    const branch = `bad-${number}`;
    const released = { [RELEASE]: (files[RELEASE] ?? "").replace("v1.4.1", version) };
    await alice.push(world.repository, { branch, files: { ...released, ...changed }, message: `Release ${version}` });
    const pull = await alice.openPull(world.repository, { head: branch, title: `Release ${version}` });
    await alice.mergePull(world.repository, pull, "squash");
    const comment = await world.untilComment(pull, "No run started");
    expect(comment).toMatch(where);
    expect(comment).toMatch(what);
    await journey.bot.idle();
    expect([journey.run(), journey.errors]).toEqual([undefined, []]);
    const back: Record<string, string | null> = { ...files, ...(SECOND_OWNER in changed ? { [SECOND_OWNER]: null } : {}) };
    await alice.push(world.repository, { branch: "main", files: back, message: `take ${version} back` });
  });

  test("a pin file that is a symbolic link", async () => {
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const branch = "bad-link";
    const path = "appsets/link.yaml";
    await alice.push(world.repository, {
      branch,
      files: {
        [RELEASE]: (files[RELEASE] ?? "").replace("v1.4.1", "v3.0.0"),
        [ROLLOUT]: (files[ROLLOUT] ?? "").replace(SET, path),
        [path]: { link: "/etc/passwd" },
      },
      message: "Release v3.0.0",
    });
    const pull = await alice.openPull(world.repository, { head: branch, title: "Release v3.0.0" });
    await alice.mergePull(world.repository, pull, "squash");
    const comment = await world.untilComment(pull, "No run started");
    expect(comment).toMatch(/rollouts\/my-app\.yaml:\d+:\d+/);
    expect(comment).toContain("symbolic link");
    expect([journey.run(), journey.errors]).toEqual([undefined, []]);
  });
});

/** What `stagecoach/plan` says on the head of a PR, as soon as it says so. */
async function planCheck(pull: number, holds: RegExp): Promise<string> {
  const page = githubPage(journey.world);
  const { sha } = (await page.pull(pull)).head;
  for (let n = 0; n < 300; n++) {
    const said = await page.check(sha, "stagecoach/plan");
    if (said !== undefined && holds.test(said)) return said;
    await new Promise<void>((resolve) => journey.world.clock.after(2000, resolve));
  }
  throw new Error(`the check of #${pull} says ${await page.check(sha, "stagecoach/plan")}`);
}

describe("pull requests that nobody merges", () => {
  test("one from a fork that edits rollouts/ is judged on its own tree, and nothing of it acts", async () => {
    const { world } = journey;
    const { github, repository } = world;
    const mallory = github.actAs("mallory");
    const fork = await github.fork(repository, "mallory");
    const version = { [RELEASE]: (files[RELEASE] ?? "").replace("v1.4.1", "v6.6.6") };
    const broken = (files[ROLLOUT] ?? "").replace("maxClusters: 2", "maxClusters: lots");
    await mallory.push(fork, { branch: "evil", files: { ...version, [ROLLOUT]: broken }, message: "mine now" });
    const pull = await mallory.openPull(repository, { head: "mallory:evil", title: "Release v6.6.6" });
    expect(await planCheck(pull, /fork/)).toMatch(/comes from a fork/);
    github.actAs("alice").comment(repository, pull, "/plan");
    expect(await planCheck(pull, /^failure/)).toMatch(/1 error: no run would start/);
    mallory.comment(repository, pull, "/retry\n/rollback");
    await journey.bot.resync();
    await journey.bot.idle();
    expect([journey.run(), journey.errors, journey.versions().get("us-east-1-a")]).toEqual([undefined, [], "v1.4.1"]);
    expect((await githubPage(world).pull(pull)).state).toBe("open");
    // A repository may want all of them planned.
    await github.actAs("alice").push(repository, {
      branch: "main",
      files: { ".github/stagecoach.yaml": "plans: { forks: Always }\n" },
      message: "Plan pull requests of forks",
    });
    await mallory.push(fork, { branch: "evil", files: { ...version, [ROLLOUT]: `${broken}\n` }, message: "once more" });
    expect(await planCheck(pull, /^failure/)).toMatch(/1 error: no run would start/);
  });

  test("a rollout file that is a symbolic link is an error that names it; what it points to is never read", async () => {
    const { world } = journey;
    const alice = world.github.actAs("alice");
    await alice.push(world.repository, {
      branch: "linked",
      files: { "rollouts/linked.yaml": { link: "../../../etc/passwd" } },
      message: "a rollout from elsewhere",
    });
    const pull = await alice.openPull(world.repository, { head: "linked", title: "Linked" });
    expect(await planCheck(pull, /^failure/)).toMatch(/1 error: no run would start/);
    const comment = await world.untilComment(pull, "No run would start");
    expect(comment).toMatch(/rollouts\/linked\.yaml:1:1[\s\S]*symbolic link/);
    expect(comment).not.toContain("root:");
    // Merged against its failing check it is still followed by nobody, and said on its pull request.
    await alice.mergePull(world.repository, pull, "squash");
    await journey.bot.resync();
    const told = await world.untilComment(pull, "stagecoach:refused");
    expect(told).toMatch(/rollouts\/linked\.yaml:1:1[\s\S]*symbolic link/);
    expect(told).not.toContain("root:");
    // Pushed past any pull request there is none to say it on: the page does.
    await alice.push(world.repository, { branch: "main", files: { "rollouts/pushed.yaml": "kind: Rollout\n" }, message: "pushed" });
    await journey.bot.resync();
    await journey.bot.idle();
    const fleet = (await (await fetch(`${journey.bot.insideUrl}/api/v1/fleet`)).json()) as { rollouts: { refused?: object }[] };
    expect(JSON.stringify(fleet.rollouts.flatMap(({ refused = {} }) => refused))).toMatch(
      /commit [0-9a-f]{7} started no run.*rollouts\/pushed\.yaml:1:1/,
    );
    expect([journey.run(), journey.errors]).toEqual([undefined, []]);
  });
});
