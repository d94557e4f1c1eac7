import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Forge, Pull } from "../forge/port.ts";
import type { CommitInput, Mirror, RefUpdate } from "../git/port.ts";
import { type RepoContext, silentLog } from "../reconcile/context.ts";
import { ONBOARDING_BRANCH, onboard } from "./onboarding.ts";

const SET = readFileSync(new URL("../../fixtures/fleet/appsets/my-app-set.yaml", import.meta.url), "utf8");
const BASE = "b".repeat(40);
const MADE = "c".repeat(40);

interface Scene {
  files?: Record<string, string>;
  /** The PR of the branch, as GitHub finds it. */
  before?: Partial<Pull>;
  /** Who made the branch that is there. */
  branchOf?: string;
  /** The first pull request cannot be opened. */
  failing?: boolean;
  planes?: RepoContext["planes"];
  /** The App's id. */
  app?: number;
}

/** A repo on a forge and a mirror that write down what is asked of them. */
function repo({ files = { "appsets/set.yaml": SET }, before, branchOf, failing = false, planes = new Map(), app }: Scene) {
  const calls: string[] = [];
  const opened: { body: string }[] = [];
  let head = branchOf === undefined ? undefined : "d".repeat(40);
  let author = branchOf;
  let now = Date.parse("2026-11-21T10:00:00Z");
  let fails = failing;
  const mirror: Partial<Mirror> = {
    head: async () => BASE,
    listFiles: async (_commit: string, _below?: string, kind?: string) => (kind === "link" ? [] : Object.keys(files)),
    readFiles: async (_commit, paths) => new Map(paths.map((path) => [path, files[path] ?? null])),
    remoteHead: async () => head,
    fetch: async () => undefined,
    async commit({ changes }: CommitInput) {
      calls.push(`commit ${[...changes.keys()].join(" ")}`);
      return MADE;
    },
    async push([update]: readonly RefUpdate[]) {
      if (head !== undefined) return "stale";
      calls.push(`push ${update?.ref}`);
      head = update?.new;
      author = "stagecoach[bot]";
      return "ok";
    },
    commitInfo: async (sha) => ({
      sha,
      parents: [],
      author: author ?? "",
      authorEmail: "",
      at: 0,
      subject: "",
      body: "Stagecoach-Onboarding: true",
    }),
  };
  const forge: Partial<Forge> = {
    async findPull(branch) {
      calls.push(`find ${branch}`);
      return before === undefined ? null : (before as Pull);
    },
    identity: async () => ({ login: "stagecoach[bot]", id: 1 }),
    appId: async () => app,
    async createPull(input) {
      if (fails) {
        fails = false;
        throw new Error("502");
      }
      calls.push(`open ${input.branch} to ${input.base}`);
      opened.push(input);
      return { number: 7 } as Pull;
    },
  };
  const context = {
    repository: "acme/fleet",
    forge,
    mirror,
    journalBranch: "stagecoach/journal",
    planes,
    clock: { now: () => now, after: () => () => undefined },
    log: silentLog,
    author: { name: "stagecoach[bot]", email: "" },
    repoURL: "https://github.com/example/fleet.git",
  } as unknown as RepoContext;
  return { calls, opened, ask: () => onboard(context, "main"), pass: (ms: number) => wait(ms) };

  function wait(ms: number): void {
    now += ms;
  }
}

describe("onboarding", () => {
  test("a repo with an ApplicationSet and no rollout gets a branch of one commit and a pull request", async () => {
    const { ask, calls, opened } = repo({});
    expect(await ask()).toBe("opened");
    expect(calls).toEqual([
      `find ${ONBOARDING_BRANCH}`,
      "commit .github/stagecoach.yaml rollouts/my-app.yaml",
      `push refs/heads/${ONBOARDING_BRANCH}`,
      `open ${ONBOARDING_BRANCH} to main`,
    ]);
    expect(opened[0]?.body).toContain("The plan, if it were released now");
  });

  test("the ruleset it proposes for the journal names the App by its id, where that is known", async () => {
    const { ask, opened } = repo({ app: 4711 });
    await ask();
    expect(opened[0]?.body).toContain('"actor_id": 4711');
    const unknown = repo({});
    await unknown.ask();
    expect(unknown.opened[0]?.body).toMatch(/put the App's id .* in place of `THE_APP_ID`/);
  });

  test.each<[string, Scene]>([
    ["there is a rollout", { files: { "appsets/set.yaml": SET, "rollouts/a.yaml": "kind: x\n" } }],
    ["there is nothing of Argo CD's", { files: { "README.md": "# hello\n" } }],
  ])("nothing where %s", async (_name, scene) => {
    const { ask, opened } = repo(scene);
    expect([await ask(), opened]).toEqual(["not wanted", []]);
  });

  test("a repo with rollouts costs no question to GitHub", async () => {
    const { ask, calls } = repo({ files: { "rollouts/a.yaml": "kind: x\n" } });
    await ask();
    expect(calls).toEqual([]);
  });

  test.each(["open", "closed", "merged"] as const)("never twice: one that is %s is there", async (state) => {
    const { ask, calls } = repo({ before: { state } });
    expect([await ask(), calls]).toEqual(["asked before", [`find ${ONBOARDING_BRANCH}`]]);
  });

  test("a try that broke off after the push is gone on with, without a second commit", async () => {
    const { ask, calls } = repo({ failing: true });
    expect([await ask(), await ask()]).toEqual(["later", "opened"]);
    expect(calls.filter((call) => call.startsWith("push"))).toHaveLength(1);
    expect(calls.filter((call) => call.startsWith("open"))).toHaveLength(1);
  });

  test("no pull request is opened on a branch of that name that somebody else made", async () => {
    const { ask, opened } = repo({ branchOf: "mallory" });
    expect([await ask(), opened]).toEqual(["asked before", []]);
  });

  test("Argo CD, which knows the clusters' labels, is waited for, but not for ever", async () => {
    const plane = { name: "hub", state: () => ({ fresh: false, why: "no connection", since: "" }) };
    const { ask, pass } = repo({ planes: new Map([["hub", plane]]) as unknown as RepoContext["planes"] });
    expect(await ask()).toBe("later");
    pass(10 * 60_000);
    expect(await ask()).toBe("opened");
  });

  test("a repo of four hundred sets is answered within GitHub's limit of a body", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`sets/${n}.yaml`, SET.replace("name: my-app-set", `name: app-${n}`)]),
    );
    const { ask, opened } = repo({ files });
    expect(await ask()).toBe("opened");
    expect(opened[0]?.body.length).toBeLessThan(65_536);
    expect(opened[0]?.body).toContain("ruleset for the journal's branch");
  });
});
