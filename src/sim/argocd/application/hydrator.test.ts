import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { type TestWorld, testWorld } from "../testing/world.ts";
import type { Application } from "../types.ts";

const FILES = { "dry/eu-1/deployment.yaml": "image: app:v1\n", "dry/us-1/deployment.yaml": "image: app:v1\n" };

let world: TestWorld;
afterEach(() => world.close());

const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;
const hydrator = (name = "eu-1") => world.app(name).status?.sourceHydrator;
const subjects = (branch: string) => execFileSync("git", ["-C", world.repo.url, "log", "--format=%s", branch], { encoding: "utf8" }).trim();

function create(name: string): void {
  world.create(name, {
    source: undefined,
    sourceHydrator: {
      drySource: { repoURL: world.repo.url, targetRevision: "main", path: `dry/${name}` },
      syncSource: { targetBranch: "env/prod", path: name },
    },
    destination: { name, namespace: "app" },
  });
}

async function live(): Promise<void> {
  world = await testWorld(FILES, { clusters: [{ name: "eu-1" }, { name: "us-1" }] });
  create("eu-1");
  create("us-1");
  await world.until("both are live", () => isLive(world.app("eu-1")) && isLive(world.app("us-1")));
}

async function release(files: Record<string, string>): Promise<string> {
  const head = await world.repo.commit(files);
  world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
  return head;
}

describe("the source hydrator of the embedded Argo CD", () => {
  it("(22) hydrates a dry commit to the branch, which is what is compared and synced", async () => {
    await live();
    const dry = await release({ "dry/eu-1/deployment.yaml": "image: app:v2\n" });
    await world.until("it is hydrated", () => hydrator()?.currentOperation?.drySHA === dry);
    const { currentOperation, lastSuccessfulOperation } = hydrator() ?? {};
    const hydratedSHA = currentOperation?.hydratedSHA ?? "";
    expect(currentOperation).toMatchObject({ phase: "Hydrated", drySHA: dry });
    expect(lastSuccessfulOperation).toMatchObject({ drySHA: dry, hydratedSHA });
    await world.until("it is synced", () => world.app("eu-1").status?.sync?.revision === hydratedSHA && isLive(world.app("eu-1")));
    expect(hydratedSHA).not.toBe(dry);
    const phases = world.states("eu-1").map(({ status }) => status?.sourceHydrator?.currentOperation?.phase);
    expect(phases).toContain("Hydrating");
    expect(world.app("eu-1").status?.sync?.comparedTo?.source).toEqual({
      repoURL: world.repo.url,
      path: "eu-1",
      targetRevision: "env/prod",
    });
    const text = execFileSync("git", ["-C", world.repo.url, "show", `${hydratedSHA}:eu-1/manifest.yaml`], { encoding: "utf8" });
    expect(text).toContain("app:v2");
  });

  it("(22) a dry commit that changes nothing here is called hydrated as well, and no commit is made", async () => {
    await live();
    const hydratedSHA = hydrator("us-1")?.lastSuccessfulOperation?.hydratedSHA;
    const commits = subjects("env/prod").split("\n").length;
    const dry = await release({ "README.md": "x\n" });
    await world.until("it was hydrated", () => hydrator("us-1")?.lastSuccessfulOperation?.drySHA === dry);
    expect(hydrator("us-1")?.lastSuccessfulOperation?.hydratedSHA).toBe(hydratedSHA);
    expect(subjects("env/prod").split("\n")).toHaveLength(commits);
  });

  it("(22) a hydration that fails says so, is tried again after two minutes, and the old state stays synced", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "hydrate-failed", message: "no such chart" });
    const dry = await release({ "dry/eu-1/deployment.yaml": "image: app:v2\n" });
    await world.until("it failed", () => hydrator()?.currentOperation?.phase === "Failed");
    expect(hydrator()?.currentOperation).toMatchObject({ drySHA: dry, message: expect.stringContaining("no such chart") });
    // Never partial: the other Application of the branch fails with it, and nothing is pushed that only one has.
    await world.until("so did the other", () => hydrator("us-1")?.currentOperation?.phase === "Failed");
    expect(hydrator("us-1")?.currentOperation?.message).toMatch(
      /^Failed to hydrate: cannot hydrate because application \S+\/eu-1 has an error$/,
    );
    expect(subjects("env/prod")).not.toContain(dry.slice(0, 7));
    expect(world.app("eu-1").status).toMatchObject({ sync: { status: "Synced" }, health: { status: "Healthy" } });
    world.argo.setFault("eu-1", null);
    await world.until("it is hydrated", () => hydrator()?.lastSuccessfulOperation?.drySHA === dry);
  });
});
