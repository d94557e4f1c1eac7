import { afterEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../src/sim/github/model/model.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

interface Call {
  method: string;
  path: string;
  status: number;
  /** Of a GraphQL document. */
  document: string;
  branch: string;
  /** Of a label that is made. */
  name: string;
  /** Of the world, in milliseconds. */
  at: number;
}

/** Everything the App asked of the API, in order; what was answered 304 is free and is left out. */
function askedBy(calls: Call[]): NonNullable<NonNullable<Parameters<typeof startJourney>[0]>["github"]> {
  return { onExchange: note };

  function note({ method, path, actor, status, requestBody }: Exchange): void {
    if (actor === undefined || !actor.endsWith("[bot]") || status === 304) return;
    const {
      query,
      name = "",
      variables,
    } = (requestBody ?? {}) as { query?: string; name?: string; variables?: { branch?: { branchName?: string } } };
    const document = /(?:mutation|query)\s+(\w+)/.exec(query ?? "")?.[1] ?? "";
    calls.push({ method, path, status, document, branch: variables?.branch?.branchName ?? "", name, at: journey?.world.clock.now() ?? 0 });
  }
}

/** What is asked on behalf of a batch: not for the repository, the release's start and end, a stage's deployment, or the journal. */
function ofBatches(calls: readonly Call[], release: number): Call[] {
  const from = calls.findIndex(({ document }) => document === "ProposeBatch");
  const once = new Set<string>();
  return calls.slice(from).filter((call) => {
    const path = call.path.replace(/^\/repos\/[^/]+\/[^/]+/, "");
    if (call.document === "CommitOnBranch" && call.branch === "stagecoach/journal") return false;
    if (/^\/(app|installation)/.test(call.path) || path.startsWith("/deployments")) return false;
    // A resync's, the comments that open and close the run, and whether it was steered from an issue that is to be closed.
    if (
      path === "/pulls" ||
      (call.method === "GET" && /\/comments$/.test(path)) ||
      [`/issues/${release}/comments`, `/issues/${release}`].includes(path)
    )
      return false;
    // Labels are made, and ids of the repository, people and teams asked for, once.
    if (path === "" || /^\/(labels|users|orgs)\b/.test(path)) return once.size === once.add(`${call.method} ${path} ${call.name}`).size;
    return true;
  });
}

/** Labels, people and a team on every batch's PR. */
const DRESS = "delivery: { labels: [rollout, staged], reviewers: { teams: [sre], users: [carol] } }";

const isContent = ({ method, path, document }: Call) =>
  document === "ProposeBatch" ||
  (method === "PUT" && path.endsWith("/merge")) ||
  (method === "PATCH" && path.includes("/issues/comments/"));

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
  test("over a whole journey: at most 6 calls a batch, reads and all, 3 of them content, and a few a stage", async () => {
    const calls: Call[] = [];
    journey = await startJourney({ files: short({ bake: "1m", spec: DRESS }), github: askedBy(calls) });
    const { world } = journey;
    const page = githubPage(world);
    world.github.team("acme", "sre", ["bob"]);
    await permit(world, { ...ALLOWED, deployments: "write", members: "read" });
    const pull = await journey.release();
    const run = await journey.until("it ends", ended);
    await world.untilComment(pull, "**Succeeded**");
    const batches = run.batches.length;
    const mine = ofBatches(calls, pull);
    const edits = mine.filter(({ path }) => path.includes("/issues/comments/"));
    // The first and the last edit of the page are the run's, not a batch's; neither are those five minutes after another, which time makes due.
    const slow = edits.filter((call, index) => call.at - (edits[index - 1]?.at ?? call.at) >= 290_000);
    const counted = mine.filter((call) => call !== edits[0] && call !== edits.at(-1) && !slow.includes(call));
    const told = counted.map(({ method, path, document }) => document || `${method} ${path.replace(/^\/repos\/[^/]+\/[^/]+/, "")}`);
    console.log(`${batches} batches: ${counted.length} calls, ${counted.filter(isContent).length} of them content`);
    expect(run.phase).toBe("Succeeded");
    expect(counted.length, told.join("\n")).toBeLessThanOrEqual(6 * batches);
    expect(counted.filter(isContent).length, told.join("\n")).toBeLessThanOrEqual(3 * batches);
    expect([
      counted.filter((call) => call.document === "ProposeBatch").length,
      told.filter((one) => one.endsWith("/merge")).length,
    ]).toEqual([batches, batches]);
    const deployments = calls.filter(({ path }) => path.includes("/deployments")).length;
    expect(deployments).toBeGreaterThan(0);
    expect(deployments).toBeLessThanOrEqual(4 * run.plan.stages.length);
    const deployed = (await page.get("/deployments")) as { environment: string; task: string }[];
    expect(deployed.map(({ environment, task }) => `${environment} ${task}`).sort()).toEqual([
      "my-app/canary my-app #1",
      "my-app/us-east-1 my-app #1",
    ]);
    // Each batch's PR wears what the rollout wants, and its gate was passed.
    for (const { pull: one } of run.batches) {
      const { labels, requested_teams: teams } = await page.pull(one?.number ?? 0);
      expect([labels.map(({ name }) => name), teams.map(({ slug }) => slug)]).toEqual([["rollout", "staged"], ["sre"]]);
    }
    for (const { pull: one } of run.batches)
      expect(await page.check(one?.head ?? "", "stagecoach/gate")).toMatch(/^success: may be merged/);
  });
});
