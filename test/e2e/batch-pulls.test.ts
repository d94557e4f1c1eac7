import { afterEach, describe, expect, test } from "vitest";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const TIMEOUT = { timeout: 120_000 };

/** What the App asks of GitHub's API, without what renews tokens, Git itself, and the release's own start and end. */
interface Calls {
  pulls: number;
  merges: number;
  checks: number;
  edits: number;
  others: string[];
}

function counting(world: EmbeddedWorld, release: () => number): Calls {
  const calls: Calls = { pulls: 0, merges: 0, checks: 0, edits: 0, others: [] };
  world.github.faults.request = ({ method, path, actor }) => {
    if (actor !== world.github.app.login || method === "GET" || path.includes("access_tokens")) return undefined;
    if (/\/pulls$/.test(path)) calls.pulls += 1;
    else if (/\/merge$/.test(path)) calls.merges += 1;
    else if (/\/check-runs(\/\d+)?$/.test(path)) calls.checks += 1;
    else if (/\/issues\/comments\/\d+$/.test(path)) calls.edits += 1;
    else if (path.endsWith(`/issues/${release()}/comments`)) calls.others.push("comment");
    else calls.others.push(`${method} ${path.split("/").slice(4).join("/").replace(/\d+/g, "N")}`);
    return undefined;
  };
  return calls;
}

const ALLOWED = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "read",
} as const;

/** The account's owner gives the App these permissions. */
async function permit({ github, repository }: EmbeddedWorld, permissions: Record<string, "read" | "write">): Promise<void> {
  const told = new Promise<number>((resolve) => {
    github.faults.webhook = ({ body }) => {
      const payload = JSON.parse(body) as { installation?: { id: number } };
      if (payload.installation !== undefined) resolve(payload.installation.id);
      return "deliver";
    };
  });
  await github.actAs("alice").push(repository, { branch: "permissions", files: { "docs/asked.md": "please\n" }, message: "asked for" });
  github.setPermissions(await told, permissions);
  github.expireTokens();
}

describe("a batch's cost", () => {
  test("over a whole journey: at most 6 calls that change something a batch, 3 of them content, and a few a stage", TIMEOUT, async () => {
    // Slow enough that no batch takes the five minutes after which its page is edited once more.
    journey = await startJourney({ speed: 30, files: short({ bake: "1m", spec: "delivery: { labels: [rollout] }" }) });
    const { world } = journey;
    const page = githubPage(world);
    await permit(world, { ...ALLOWED, deployments: "write" });
    let pull = 0;
    const calls = counting(world, () => pull);
    pull = await journey.release();
    const run = await journey.until("it ends", ended);
    await world.untilComment(pull, "**Succeeded**");
    const batches = run.batches.length;
    const dressed = calls.others.filter((one) => /graphql|labels/.test(one)).length;
    const deployments = calls.others.filter((one) => one.includes("deployments")).length;
    console.log(`${batches} batches: ${JSON.stringify(calls)}`);
    expect([run.phase, calls.pulls, calls.merges]).toEqual(["Succeeded", batches, batches]);
    // The first and the last edit are the run's, not a batch's; so are the comments that open and close it.
    const edits = calls.edits - 2;
    expect(calls.pulls + calls.merges + edits).toBeLessThanOrEqual(3 * batches);
    expect(calls.pulls + calls.merges + calls.checks + dressed + edits).toBeLessThanOrEqual(6 * batches);
    expect(deployments).toBeGreaterThan(0);
    expect(deployments).toBeLessThanOrEqual(4 * run.plan.stages.length);
    const deployed = (await page.get("/deployments")) as { environment: string; task: string }[];
    expect(deployed.map(({ environment, task }) => `${environment} ${task}`).sort()).toEqual([
      "my-app/canary my-app #1",
      "my-app/us-east-1 my-app #1",
    ]);
    expect(calls.others.filter((one) => one === "comment").length).toBeLessThanOrEqual(3);
    // Each batch's gate was passed, and each label set.
    for (const { pull: one } of run.batches) {
      expect(await page.check(one?.head ?? "", "stagecoach/gate")).toMatch(/^success: may be merged/);
      expect((await page.pull(one?.number ?? 0)).labels.map(({ name }) => name)).toEqual(["rollout"]);
    }
    await aReleaseUnderStrictRules(journey);
  });
});

/** In the same world, since worlds are dear: the base moves under a strict rule, and the repository is archived for a while. */
async function aReleaseUnderStrictRules(now: Journey): Promise<void> {
  const { world, until } = now;
  const { github, repository } = world;
  const page = githubPage(world);
  const alice = github.actAs("alice");
  world.github.faults.request = () => undefined;
  await now.release("v1.4.3");
  const strict = { strict_required_status_checks_policy: true, required_status_checks: [{ context: "ci" }] };
  const rule = github.ruleset(repository, { rules: [{ type: "required_status_checks", parameters: strict }] });
  const first = await until("the first batch is open", (run) => run.number === 2 && run.batches[0]?.phase === "Open");
  const branch = first.batches[0]?.branch ?? "";
  await alice.push(repository, { branch: "main", files: { "docs/note.md": "moved\n" }, message: "a note" });
  await page.status(first.batches[0]?.pull?.head ?? "", "ci", "success");
  const again = await until("it is built again", (run) => run.batches[0]?.attempt === 2 && run.batches[0].phase === "Open");
  const old = await page.pull(first.batches[0]?.pull?.number ?? 0);
  expect([old.state, old.merged, old.head.ref]).toEqual(["closed", false, branch]);
  expect(again.batches[0]?.branch).not.toBe(branch);
  // The newer attempt's branch is there, the older one's is not.
  await expect(page.get(`/git/ref/heads/${again.batches[0]?.branch}`)).resolves.toBeDefined();
  await expect(page.get(`/git/ref/heads/${branch}`)).rejects.toThrow("404");
  github.settings(repository, { archived: true });
  github.removeRuleset(repository, rule);
  await until("it stands still", (run) => run.why.includes("archived"));
  github.settings(repository, { archived: false });
  const run = await until("it ends", (one) => one.number === 2 && ended(one));
  expect(run.phase).toBe("Succeeded");
  expect(now.errors.filter(({ message }) => !/archived|a round failed/.test(message))).toEqual([]);
}
