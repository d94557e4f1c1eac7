import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import type { Fleet } from "../../src/core/report/model/schema/fleet.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { isEnded } from "../../src/core/run/state/run.ts";
import { permit } from "../support/app-calls.ts";
import { askUntil } from "../support/ask-until.ts";
import { type GitHubPage, githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";

/** One world after the other in which GitHub refuses what the bot writes: whoever waits is told on GitHub, within a minute. */
let journey: Journey;
let page: GitHubPage;
let directory: string;

const JOURNAL = "refs/heads/stagecoach/journal";
const TITLE = "Stagecoach needs attention";
const MINUTE_MS = 60_000;
/** It is looked at this often. */
const LOOK_MS = 3000;

interface Shown {
  state: string;
  title: string;
  body: string;
}

beforeAll(async () => {
  const spec = "delivery: { labels: [rollout, staged], reviewers: { teams: [sre], users: [carol] } }";
  journey = await startJourney({ files: short({ byHand: true, spec }) });
  journey.world.github.team("acme", "sre", ["bob"]);
  await permit(journey.world, { ...WITH_MEMBERS, statuses: "read" });
  page = githubPage(journey.world);
  directory = journey.world.github.repoDirectory(journey.world.repository);
});

afterAll(() => journey.close());

/** The issue, as soon as this holds of it; it must do so within a minute of the world's clock, or two where no event tells of it. */
async function attention(what: string, holds: (issue: Shown | undefined) => boolean, minutes = 1): Promise<Shown | undefined> {
  const { clock } = journey.world;
  const began = clock.now();
  const look = async () => {
    const issues = (await page.get("/issues?state=all&labels=stagecoach&per_page=100")) as Shown[];
    const found = issues.filter(({ title }) => title === TITLE);
    expect(found.length).toBeLessThanOrEqual(1);
    return found[0];
  };
  const found = await askUntil(clock, what, look, holds);
  expect(clock.now() - began, what).toBeLessThanOrEqual(minutes * MINUTE_MS + LOOK_MS);
  return found;
}

const says = (text: string) => (issue: Shown | undefined) => issue?.state === "open" && issue.body.includes(text);
const isClosed = (issue: Shown | undefined) => issue?.state === "closed";

/** As in a repository that never had one. */
function forgetJournal(): void {
  git(directory, "update-ref", "-d", JOURNAL);
  journey.world.github.forgetChecks(journey.world.repository, "stagecoach/journal");
}

/** Requests that match, from now on. */
function counted(method: string, path: RegExp): { count: number } {
  const seen = { count: 0 };
  journey.world.github.faults.request = (request) => {
    if (request.method === method && path.test(request.path)) seen.count += 1;
    return undefined;
  };
  return seen;
}

async function passes(ms: number): Promise<void> {
  await new Promise<void>((resolve) => void journey.world.clock.after(ms, resolve));
}

describe("a journal that cannot be written", () => {
  test("a branch called stagecoach is no lost race: few tries, an issue, a line above the plan, checks; gone, it goes on by itself", async () => {
    const { github, repository, clock } = journey.world;
    await journey.stop();
    forgetJournal();
    git(directory, "update-ref", "refs/heads/stagecoach", "refs/heads/main");
    const creations = counted("POST", /\/git\/refs$/);
    await journey.start();
    await attention("it says what is in the way", says("beside a branch stagecoach"));
    const alice = github.actAs("alice");
    const pull = await journey.world.openReleasePull(alice, "v1.4.2");
    const plan = await journey.world.untilComment(pull, "v1.4.2");
    expect(plan).toContain(TITLE);
    const { head } = await page.pull(pull);
    const check = await askUntil(
      clock,
      "the plan's check",
      () => page.check(head.sha, "stagecoach/plan"),
      (seen) => seen !== undefined,
    );
    expect(check).toMatch(/^success/);
    await passes(10 * MINUTE_MS);
    // 2 s, then twice as long each time, up to a minute: it was 24 in a second.
    expect(creations.count).toBeLessThanOrEqual(17);
    git(directory, "update-ref", "-d", "refs/heads/stagecoach");
    await attention("it is closed", isClosed, 2);
    await askUntil(
      clock,
      "the line is gone",
      () => page.comments(pull),
      (seen) => seen.every(({ body }) => !body.includes(TITLE)),
    );
    expect(git(directory, "for-each-ref", JOURNAL)).not.toBe("");
    delete github.faults.request;
    const { head: last } = await page.pull(pull);
    expect(await page.check(last.sha, "stagecoach/gate")).toMatch(/^success/);
    await alice.closePull(repository, pull);
  });

  test("a rule against new branches, which GitHub does not name, is named; the PR of a release that was merged meanwhile says that its run waits", async () => {
    const { github, repository, clock } = journey.world;
    await journey.stop();
    forgetJournal();
    await journey.start();
    // What is there now is adopted; the rule is against what follows: the journal cannot even be moved.
    const include = ["refs/heads/stagecoach/**", "refs/heads/stagecoach-run/**"];
    const id = github.ruleset(repository, { rules: [{ type: "creation" }, { type: "update" }], include });
    const moves = counted("PATCH", /\/git\/refs\//);
    const pull = await journey.release("v1.4.3");
    await attention("it says the rule", says("Cannot update this protected ref"));
    await journey.world.untilComment(pull, "its run waits");
    expect(journey.run()).toBeUndefined();
    await journey.stop();
    forgetJournal();
    await journey.start();
    await attention("it says the other rule", says("creation"));
    await passes(10 * MINUTE_MS);
    expect(moves.count).toBeLessThanOrEqual(17);
    delete github.faults.request;
    github.removeRuleset(repository, id);
    await attention("it is closed", isClosed, 2);
    await askUntil(
      clock,
      "the journal is there",
      async () => git(directory, "for-each-ref", JOURNAL),
      (seen) => seen !== "",
    );
  });
});

describe("a journal that cannot be gone by", () => {
  let release: number;

  test("GitHub's verification is not asked: where it gives no answer the seals tell whose the journal is", async () => {
    const { github } = journey.world;
    release = await journey.release("v1.4.4");
    await journey.until("a batch is open", (run) => run.batches.some(({ phase }) => phase === "Open"));
    await journey.stop();
    github.faults.verification = () => "gpgverify_unavailable";
    // A machine that has seen nothing of the journal yet has its seals alone.
    await journey.start();
    await journey.until("it goes on", (run) => !isEnded(run));
    delete github.faults.verification;
    expect(journey.errors.map(({ fields }) => (fields as { because?: { code: string } }).because?.code)).not.toContain("JOURNAL_NOT_OURS");
  });

  test("a batch that waits for a person wears its labels and asks for its reviews at once", async () => {
    const run = await journey.until("a batch is open", (one) => one.batches.some(({ phase }) => phase === "Open"));
    const number = run.batches.find(({ phase }) => phase === "Open")?.pull?.number ?? 0;
    const dressed = await askUntil(
      journey.world.clock,
      "its labels",
      () => page.pull(number),
      ({ labels }) => labels.length > 0,
    );
    expect([dressed.labels.map(({ name }) => name), dressed.requested_teams.map(({ slug }) => slug)]).toEqual([
      ["rollout", "staged"],
      ["sre"],
    ]);
  });

  test("changed by somebody: plans, checks and /status are there all the same, and the batch must not be merged", async () => {
    const { github, repository, clock } = journey.world;
    const alice = github.actAs("alice");
    const run = await journey.until("a batch is open", (one) => one.batches.some(({ phase }) => phase === "Open"));
    const batch = run.batches.find(({ phase }) => phase === "Open");
    const before = git(directory, "rev-parse", JOURNAL);
    await alice.push(repository, { branch: "stagecoach/journal", files: { "note.txt": "x\n" }, message: "by hand" });
    await attention("it says who", says("by hand"));
    await alice.push(repository, { branch: "docs", files: { "docs/b.md": "b\n" }, message: "a note" });
    const other = await alice.openPull(repository, { head: "docs", title: "a note" });
    const { head } = await page.pull(other);
    const gate = (sha: string) => () => page.check(sha, "stagecoach/gate");
    expect(await askUntil(clock, "the gate of another PR", gate(head.sha), (seen) => seen !== undefined)).toMatch(/^success/);
    expect(
      await askUntil(
        clock,
        "its plan",
        () => page.check(head.sha, "stagecoach/plan"),
        (seen) => seen !== undefined,
      ),
    ).toMatch(/^success/);
    const locked = (seen: string | undefined) => seen?.startsWith("failure") === true;
    expect(await askUntil(clock, "the batch's gate", gate(batch?.pull?.head ?? ""), locked)).toContain("journal");
    const reacted = async (comment: number) => (await page.get(`/issues/comments/${comment}/reactions`)) as { content: string }[];
    const status = alice.comment(repository, release, "/status");
    await askUntil(
      clock,
      "an answer",
      () => reacted(status),
      (seen) => seen.some(({ content }) => content === "rocket"),
    );
    expect((await page.comments(release)).some(({ body }) => body.includes(TITLE) && body.includes("stagecoach:status"))).toBe(true);
    const pause = alice.comment(repository, release, "/pause");
    const answerOf = async () => (await page.comments(release)).find(({ body }) => body.includes(`stagecoach:answer:${pause}`))?.body ?? "";
    await askUntil(clock, "that it waits", answerOf, (body) => body.includes("by hand"));
    git(directory, "update-ref", JOURNAL, before);
    await attention("it is closed", isClosed, 2);
    await journey.until("it is paused, as was said meanwhile", (one) => one.paused !== undefined);
    expect(await askUntil(clock, "that it is done", answerOf, (body) => !body.includes("by hand"))).not.toBe("");
    alice.comment(repository, release, "/resume");
    expect(await askUntil(clock, "the batch's gate", gate(batch?.pull?.head ?? ""), (seen) => !locked(seen))).toBeDefined();
  });
});

describe("what GitHub refuses of a run", () => {
  test("a comment is sent a few times, not at every round, and is said; when the conversation is unlocked it is there", async () => {
    const { github, repository } = journey.world;
    const release = journey.run()?.trigger.pull ?? 0;
    let sent = 0;
    github.faults.request = ({ method, path }) => {
      const isOurs = method !== "GET" && new RegExp(`/issues/(${release}/comments|comments/\\d+)$`).test(path);
      if (!isOurs) return undefined;
      sent += 1;
      return { status: 403, body: { message: "Unable to create comment because issue is locked." } };
    };
    // Everything that a round may want to say there.
    for (const text of ["/pause", "/resume", "/pause", "/resume"]) {
      github.actAs("alice").comment(repository, release, text);
      await passes(MINUTE_MS);
    }
    await attention("it says which PR", says("is locked"));
    await passes(10 * MINUTE_MS);
    // 15 s, then twice as long each time, for each of the comments: it was 56.
    expect(sent).toBeLessThanOrEqual(20);
    delete github.faults.request;
    await attention("it is closed", isClosed, 30);
  });

  test("a batch's branch that a rule forbids is named on the release PR within a minute, and pauses the run; /resume tries it anew", async () => {
    const { github, repository, clock } = journey.world;
    const alice = github.actAs("alice");
    const first = journey.run();
    alice.comment(repository, first?.trigger.pull ?? 0, "/abort");
    await journey.until("it ends", (run) => run.number === first?.number && isEnded(run));
    const include = ["refs/heads/stagecoach-run/**"];
    const id = github.ruleset(repository, { rules: [{ type: "creation" }], include });
    const pull = await journey.release("v1.4.5");
    const began = clock.now();
    await journey.world.untilComment(pull, sentenceOf({ code: "OPENING_REFUSED", because: { code: "SAID", text: "" } }).slice(0, 40));
    expect(clock.now() - began).toBeLessThanOrEqual(MINUTE_MS);
    const paused = await journey.until("it pauses", (run) => run.number !== first?.number && run.phase === "Paused");
    expect(paused.paused?.reason).toMatchObject({ code: "NOT_OPENED", because: { code: "RULES_FORBID", rules: ["creation"] } });
    expect(clock.now() - began).toBeLessThanOrEqual(5 * MINUTE_MS);
    github.removeRuleset(repository, id);
    alice.comment(repository, pull, "/resume");
    await journey.until("its batch is open", (run) => run.number === paused.number && run.batches[0]?.phase === "Open");
  });
});

describe("a release that is merged though its plan was refused", () => {
  test("is said on its PR, on the page, in the metrics and in the journal; when the cause is gone its run does not begin unsaid", async () => {
    const { github, repository, clock } = journey.world;
    const alice = github.actAs("alice");
    const last = journey.run();
    alice.comment(repository, last?.trigger.pull ?? 0, "/abort");
    await journey.until("it ends", (run) => run.number === last?.number && isEnded(run));
    const path = "rollouts/my-app.yaml";
    const good = `${git(directory, "show", `main:${path}`)}\n`;
    const broken = good.replace("elements[cluster=", "elements[clusterName=");
    await alice.push(repository, { branch: "main", files: { [path]: broken }, message: "a pin that is nowhere" });
    const pull = await journey.release("v1.4.6");
    const why = await journey.world.untilComment(pull, "### ❌ No run started");
    expect(why).toContain("clusterName");
    const page = async () => (await (await fetch(`${journey.bot.insideUrl}/api/v1/fleet`)).json()) as Fleet;
    const refused = ({ rollouts }: Fleet) => rollouts.some((one) => one.refused?.pull === pull);
    await askUntil(clock, "the page", page, refused);
    const recorded = () => git(directory, "show", `${JOURNAL}:index.yaml`);
    expect(recorded()).toMatch(/refused:[\s\S]*pull: \d+/);
    expect(journey.run()?.number).toBe(last?.number);
    await alice.push(repository, { branch: "main", files: { [path]: good }, message: "the pin is where it was" });
    const said = await journey.world.untilComment(pull, "has begun");
    expect(said).toContain("was merged before, and refused since");
    const run = await journey.until("it begins", (one) => one.number !== last?.number);
    expect(run.trigger.refusedAt).toBeDefined();
    expect(recorded()).not.toContain("refused:");
    await askUntil(clock, "the page", page, (state) => !refused(state));
    await journey.world.untilComment(pull, "The problems are solved");
  });
});
