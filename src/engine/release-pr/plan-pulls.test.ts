import { beforeEach, describe, expect, test } from "vitest";
import { type BranchRules, type CheckReport, type Forge, ForgeError, type Pull } from "../../adapters/forge/port.ts";
import type { Suspicion } from "../../adapters/git/journal/port.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import type { Command } from "../../core/spec/commands.ts";
import { type RepoContext, silentLog } from "../round/context.ts";
import { type Parts, partsOf } from "../testing/parts.ts";
import { JudgementKilled } from "./judge-in-cell.ts";
import { openPullJudge } from "./judge-pull.ts";
import { openPlanPublisher, type PublishPlans } from "./plan-pulls.ts";

const FILE = "rollouts/my-app.yaml";
const ROLLOUT = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, name: my-app-set }
  release: { version: v3 }
  pins:
    - { file: 'apps/{{ cluster.name }}.yaml', path: version }
  stages: [ { name: all, clusters: { selector: {} } } ]
`;

const sha = (text: string) => text.padEnd(40, "0");

interface Pr {
  touches: string[];
  /** Text of the rollout's file with it merged. */
  rollout?: string;
  conflicts?: boolean;
  author?: string;
  branch?: string;
  labels?: string[];
  headRepository?: string;
}

/** A repo of open PRs: the head of PR n is h<n>, merging it gives tree t<n>; no control plane is there to plan for. */
let pulls: Map<number, Pr>;
let heads: Map<number, string>;
let checks: Map<string, CheckReport>;
let comments: Map<number, Map<string, string>>;
let calls: string[];
let failing: Set<string>;
let said: Command[];
let groups: Map<string, string>;
let base: string;
let tampered: Suspicion | undefined;
let journalReads: number;
let touchedByBase: string[];
let now: number;
let shallow: boolean;
let room: { left: number; most: number };
let forks: Map<number, "tooLarge" | "full">;
let notes: Map<string, string>;
let memory: Parts;
let publishPlans: PublishPlans;

beforeEach(() => {
  notes = new Map();
  [shallow, room, forks] = [false, { left: 1, most: 1024 * 1024 }, new Map()];
  [pulls, heads, checks, comments, groups] = [new Map(), new Map(), new Map(), new Map(), new Map()];
  [calls, failing, said, base, touchedByBase, now, tampered, journalReads] = [[], new Set(), [], sha("b0"), [], 0, undefined, 0];
});

function call(name: string): void {
  calls.push(name);
  if (failing.has(name)) throw new ForgeError("Unavailable", 502, "bad gateway");
}

const head = (number: number) => heads.get(number) ?? sha(`a${number}e`);

const mirror: Partial<Mirror> = {
  head: async () => base,
  async fetch() {
    call("fetch");
  },
  note: async (name, commit) => void notes.set(name, commit),
  noted: async (name) => notes.get(name),
  isShallow: async () => shallow,
  async deepen() {
    call("deepen");
    shallow = false;
  },
  keepPulls: async (open) => void call(`keep ${[...open].join(" ")}`),
  room: async () => room,
  async fetchFork(number) {
    call(`fetchFork ${number}`);
    return { kind: forks.get(number) ?? "fetched", most: 32 * 1024 * 1024 };
  },
  remoteBelow: async () => groups,
  listFiles: async (_commit: string, _below?: string, kind?: string) => (kind === "link" ? [] : [FILE]),
  async readFiles(commit, paths) {
    const number = Number(/^t(\d+)/.exec(commit)?.[1] ?? Number.NaN);
    return new Map(paths.map((path) => [path, path === FILE ? (pulls.get(number)?.rollout ?? ROLLOUT) : null]));
  },
  async mergeTree(_base, commit) {
    call("mergeTree");
    const [number] = [...pulls.keys()].filter((one) => head(one) === commit);
    return pulls.get(number ?? 0)?.conflicts ? { conflicts: [FILE] } : { tree: `t${number}` };
  },
  async changedPaths(from, to) {
    const number = Number(/^t(\d+)/.exec(to)?.[1] ?? Number.NaN);
    return Number.isNaN(number) ? touchedByBase : (pulls.get(number)?.touches ?? [from]);
  },
  commitInfo: async (commit) => ({ sha: commit, parents: [], author: "a", authorEmail: "a", at: 0, subject: "", body: "" }),
};

function toPull(number: number, pr: Pr): Pull {
  const { author = "alice", branch = `b${number}`, labels = [], headRepository = "acme/fleet" } = pr;
  const told = { title: `Release ${number}`, url: `https://github.com/acme/fleet/pull/${number}` };
  const given = { ...told, number, branch, author, labels, headRepository, head: head(number), base: "main", state: "open" };
  return given as unknown as Pull;
}

const forge: Partial<Forge> = {
  async changedFiles(number) {
    call(`changedFiles ${number}`);
    return pulls.get(number)?.touches ?? [];
  },
  identity: async () => ({ login: "stagecoach[bot]", id: 1 }),
  async openPulls() {
    call("openPulls");
    return [...pulls].map(([number, pr]) => toPull(number, pr));
  },
  async putCheck(check) {
    call("putCheck");
    checks.set(check.head, check);
  },
  async comments(pull) {
    call("comments");
    return [...(comments.get(pull) ?? [])].map(([marker, body], id) => ({
      ...{ id, ours: true, author: "stagecoach[bot]", authorIsBot: true, createdAt: "", updatedAt: "" },
      body: `<!-- ${marker} -->\n${body}`,
    }));
  },
  async stickyComment(pull, marker, body) {
    call("stickyComment");
    comments.set(pull, (comments.get(pull) ?? new Map()).set(marker, body));
    return { id: 1, url: "" };
  },
};

function contextOf(): RepoContext {
  const answered = new Set<string>();
  const commands = {
    read: async () => [],
    beforeRun: async () => said.filter((one) => !answered.has(one.id)),
    answer: async (command: Command) => void answered.add(command.id),
  };
  const journal = {
    async read() {
      journalReads += 1;
      return { head: undefined, index: new Map(), runs: new Map(), broken: new Map(), tampered };
    },
    record: async () => "recorded",
  };
  const clock = { now: () => now, after: () => () => undefined };
  const rest = { clock, log: silentLog, planes: new Map(), repository: "acme/fleet", repoURL: "https://github.com/acme/fleet.git" };
  return { mirror, forge, journal, commands, ...rest } as unknown as RepoContext;
}

let context: RepoContext;
beforeEach(() => {
  context = contextOf();
  begin();
});

const publish = (heard = true) => publishPlans("main", heard);

/** As a process that has just begun. */
function begin(): void {
  memory = partsOf(context);
  publishPlans = openPlanPublisher(context, { ...memory, judgePull: openPullJudge(context, memory) });
}

const titles = () => Object.fromEntries([...checks.values()].map((check) => [check.head.replace(/0+$/, ""), check.title]));
const count = (name: string) => calls.filter((one) => one === name).length;

const DOCS: Pr = { touches: ["docs/x.md"] };
const BROKEN: Pr = { touches: [FILE], rollout: ROLLOUT.replace("stages:", "stagess:") };

describe("every open PR to the base has the check", () => {
  test("200 PRs that concern no rollout cost a list, two fetches and their checks little by little, and then nothing but the list", async () => {
    for (let number = 1; number <= 200; number++) pulls.set(number, DOCS);
    pulls.set(500, BROKEN);
    // At most 20 of them in one pass, after those that people wait for.
    expect(await publish()).toBe(true);
    expect([count("openPulls"), count("fetch"), count("putCheck"), count("comments")]).toEqual([1, 3, 21, 1]);
    expect(checks.get(head(500))?.conclusion).toBe("failure");
    pulls.delete(500);
    checks.delete(head(500));
    for (let pass = 2; pass <= 9; pass++) expect(await publish()).toBe(true);
    expect(await publish()).toBe(false);
    expect([count("openPulls"), count("fetch"), count("mergeTree"), count("putCheck")]).toEqual([10, 3, 201, 201]);
    expect(new Set(Object.values(titles()))).toEqual(new Set(["not a rollout PR"]));
    calls = [];
    base = sha("b1");
    touchedByBase = ["apps/eu-1.yaml"];
    await publish();
    await publish();
    expect(calls).toEqual(["openPulls", "openPulls"]);
  });

  test("of many that pass the cell's limits two are tried in one pass, and whoever is next in the next one", async () => {
    const tried: number[] = [];
    for (let number = 1; number <= 5; number++) pulls.set(number, BROKEN);
    const judgePull = async (_: unknown, { number }: { number: number }) => {
      tried.push(number);
      throw new JudgementKilled("memory");
    };
    publishPlans = openPlanPublisher(context, { ...memory, judgePull });
    expect(await publish()).toBe(true);
    expect(tried).toEqual([1, 2]);
    await publish();
    expect(tried).toEqual([1, 2, 3, 4]);
    for (let pass = 0; pass < 4; pass++) await publish();
    // Twice each, and then they are left alone.
    expect(tried.toSorted()).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    expect(await publish()).toBe(false);
  });

  test("a push is judged anew, and only that PR", async () => {
    pulls.set(1, DOCS);
    pulls.set(2, DOCS);
    await publish();
    calls = [];
    heads.set(2, sha("f2"));
    pulls.set(2, BROKEN);
    await publish();
    expect([count("fetch"), count("mergeTree"), count("putCheck")]).toEqual([1, 1, 1]);
    expect(titles()).toMatchObject({ f2: expect.stringMatching(/2 errors/) });
    const shown = () => memory.shownPlans.of().map(({ pull, title, planned }) => [pull, title, planned.map(({ state }) => state)]);
    expect(shown()).toEqual([[2, "Release 2", ["Refused"]]]);
    pulls.delete(2);
    await publish();
    expect(shown()).toEqual([]);
  });

  test("a batch's own PR is green whatever it changes; one that only has its branch's name is not", async () => {
    const branch = "stagecoach-run/my-app/1/1-1-1";
    pulls.set(1, { touches: ["apps/eu-1.yaml"], author: "stagecoach[bot]", branch });
    pulls.set(2, { ...BROKEN, author: "mallory", branch });
    pulls.set(3, { ...BROKEN, author: "stagecoach[bot]", branch, headRepository: "mallory/fleet" });
    await publish();
    expect([1, 2, 3].map((number) => checks.get(head(number))?.conclusion)).toEqual(["success", "failure", undefined]);
    expect(checks.get(head(1))?.title).toBe("a batch of a run");
  });

  test("where the check is required a batch's PR has it before anybody hears of the PR", async () => {
    const own = { ...toPull(9, DOCS), author: "stagecoach[bot]" };
    memory.pulls.see(own.branch, own);
    await publish(false);
    expect(calls).toEqual([]);
    const rules = { requiredChecks: [{ context: "stagecoach/plan" }] };
    Object.defineProperty(memory.rules, "last", { value: rules });
    memory.rules.of = async () => rules as never;
    await publish(false);
    await publish(false);
    expect(calls).toEqual(["putCheck"]);
  });

  test("a merge group has the check of its PR", async () => {
    pulls.set(1, DOCS);
    pulls.set(2, BROKEN);
    groups.set(`refs/heads/gh-readonly-queue/main/pr-1-${sha("b0")}`, sha("e1"));
    groups.set(`refs/heads/gh-readonly-queue/main/pr-2-${sha("b0")}`, sha("e2"));
    await publish();
    await publish();
    expect([checks.get(sha("e1"))?.conclusion, checks.get(sha("e2"))?.conclusion]).toEqual(["success", "failure"]);
    expect(count("putCheck")).toBe(4);
  });
});

describe("what stands there is made true, whatever fails on the way", () => {
  test.each(["openPulls", "fetch", "mergeTree", "putCheck", "stickyComment", "comments"])(
    "%s fails: owed, and done the next time",
    async (name) => {
      pulls.set(1, BROKEN);
      failing.add(name);
      expect(await publish()).toBe(true);
      failing.clear();
      expect(await publish()).toBe(false);
      expect(checks.get(head(1))?.conclusion).toBe("failure");
      expect(comments.get(1)?.get("stagecoach:refused")).toContain("stagess");
      calls = [];
      expect(await publish()).toBe(false);
      expect(calls).toEqual(["openPulls"]);
    },
  );

  test("one PR that cannot be looked at is no other's trouble", async () => {
    pulls.set(1, BROKEN);
    pulls.set(2, DOCS);
    failing.add("stickyComment");
    expect(await publish()).toBe(true);
    expect(checks.get(head(2))?.conclusion).toBe("success");
  });

  test.each(["stickyComment", "putCheck"])("where %s cannot be done the other is done all the same", async (name) => {
    pulls.set(1, BROKEN);
    failing.add(name);
    for (let n = 0; n < 2; n++) expect(await publish()).toBe(true);
    const done = [checks.get(head(1))?.conclusion === "failure", comments.get(1)?.has("stagecoach:refused") === true];
    expect(done).toEqual([name !== "putCheck", name !== "stickyComment"]);
  });

  test("problems that a push solves are said to be solved, also by a process that did not tell them", async () => {
    pulls.set(1, BROKEN);
    await publish();
    begin();
    heads.set(1, sha("c1"));
    pulls.set(1, { touches: [FILE], rollout: ROLLOUT.replace("name: all", "name: each") });
    await publish();
    expect(comments.get(1)?.get("stagecoach:refused")).toContain("The problems are solved");
  });

  test("an App without the permission for checks goes on without, and comments all the same", async () => {
    pulls.set(1, BROKEN);
    const { putCheck } = forge;
    forge.putCheck = async () => {
      throw new ForgeError("Forbidden", 403, "Resource not accessible by integration");
    };
    expect(await publish()).toBe(false);
    forge.putCheck = putCheck as Forge["putCheck"];
    expect([memory.permissions.isForbidden("checks"), comments.get(1)?.size]).toEqual([true, 1]);
  });

  test("a check that is required and may not be written is said where people look, until it may be", async () => {
    pulls.set(1, BROKEN);
    const { putCheck } = forge;
    forge.branchRules = async () => ({ requiredChecks: [{ context: "stagecoach/gate" }] }) as BranchRules;
    forge.putCheck = async () => {
      throw new ForgeError("Forbidden", 403, "Resource not accessible by integration");
    };
    await publish();
    expect(memory.attention.told().map(({ code }) => code)).toEqual(["CHECKS_NOT_ALLOWED"]);
    forge.putCheck = putCheck as Forge["putCheck"];
    memory.permissions.renewed();
    await publish();
    expect(memory.attention.told()).toEqual([]);
  });

  test("once it is given the permission every check comes, and none was noted as said before", async () => {
    pulls.set(1, BROKEN);
    pulls.set(2, { touches: ["README.md"] });
    pulls.set(3, { touches: [FILE], author: "stagecoach[bot]", branch: "stagecoach-run/my-app/1/1-1-1" });
    groups.set("refs/heads/gh-readonly-queue/main/pr-2-abc", sha("e2"));
    const { putCheck } = forge;
    forge.putCheck = async () => {
      call("putCheck");
      throw new ForgeError("Forbidden", 403, "report stagecoach/plan: 403 Resource not accessible by integration");
    };
    for (let n = 0; n < 3; n++) expect(await publish()).toBe(false);
    expect(count("putCheck")).toBe(1);
    forge.putCheck = putCheck as Forge["putCheck"];
    memory.permissions.renewed();
    await publish();
    expect([...checks.keys()].sort()).toEqual([head(1), head(2), head(3), sha("e2")].sort());
  });

  test.each(["Repository was archived so is read-only.", "This installation has been suspended"])(
    "a 403 that says another thing, %j, is owed and tried again",
    async (message) => {
      pulls.set(1, BROKEN);
      const { putCheck } = forge;
      forge.putCheck = async () => {
        throw new ForgeError("Forbidden", 403, message);
      };
      expect([await publish(), memory.permissions.isForbidden("checks")]).toEqual([true, false]);
      forge.putCheck = putCheck as Forge["putCheck"];
      expect([await publish(), checks.get(head(1))?.conclusion]).toEqual([false, "failure"]);
    },
  );

  test("what cannot be planned now is waited for, not failed", async () => {
    pulls.set(1, { touches: [FILE], rollout: ROLLOUT.replace("v3", "v4") });
    expect(await publish()).toBe(true);
    expect(checks.get(head(1))).toMatchObject({ status: "in_progress", title: expect.stringMatching(/^waiting: /) });
  });

  test("one that conflicts is shown with the rollout that it would release", async () => {
    pulls.set(1, { touches: [FILE], conflicts: true });
    await publish();
    const says = "it conflicts with the base branch";
    expect(memory.shownPlans.of().flatMap(({ planned }) => planned)).toMatchObject([{ rollout: "my-app", state: "Waiting", says }]);
  });

  test("a check that somebody asked for again is judged and sent afresh, once; what could not be sent is owed", async () => {
    pulls.set(1, BROKEN);
    pulls.set(2, { touches: ["README.md"] });
    pulls.set(3, { touches: [FILE], author: "stagecoach[bot]", branch: "stagecoach-run/my-app/1/1-1-1" });
    groups.set("refs/heads/gh-readonly-queue/main/pr-2-abc", sha("e2"));
    await publish();
    calls = [];
    for (const commit of [head(1), head(2), head(3), sha("e2")]) memory.checkRuns.ask(commit, "stagecoach/plan");
    checks.clear();
    failing.add("putCheck");
    expect(await publish()).toBe(true);
    failing.clear();
    expect([await publish(), await publish()]).toEqual([false, false]);
    expect([checks.size, [...checks.values()].every((check) => check.afresh === true)]).toEqual([4, true]);
    expect([count("putCheck"), memory.checkRuns.isAsked(head(1), "stagecoach/plan")]).toEqual([4 + 4, false]);
    const { commits } = memory;
    const judged: string[] = [];
    const { snapshot } = commits;
    commits.snapshot = (id) => {
      judged.push(id);
      return snapshot(id);
    };
    await publish();
    expect(judged).not.toContain("t1");
    memory.checkRuns.ask(head(1));
    await publish();
    expect(judged).toContain("t1");
  });

  test("/plan makes the plan of a PR anew and is answered", async () => {
    pulls.set(1, BROKEN);
    await publish();
    calls = [];
    said = [{ id: "7#0", name: "plan" } as Command];
    await publish();
    expect(count("mergeTree") + count("putCheck")).toBe(0);
    expect((await context.commands.beforeRun?.(1))?.length).toBe(0);
  });
});

test("a journal that is not ours is not asked for anew at every event, and plans are made all the same", async () => {
  const why = { code: "JOURNAL_GONE", commit: sha("c1") } as const;
  tampered = { commit: sha("c1"), why };
  pulls.set(1, DOCS);
  for (let event = 0; event < 600; event++) {
    await publish();
    now += 100;
  }
  // After 2, 4, 8, 16 and 32 seconds.
  expect([journalReads, checks.size]).toEqual([5, 1]);
  tampered = undefined;
  now += 60_000;
  await publish();
  expect(memory.attention.told()).toEqual([]);
});

describe("heads of pull requests", () => {
  const STRANGER: Pr = { ...BROKEN, headRepository: "eve/fleet" };

  test("of forks are fetched each by itself, and what cannot be had of them is said, once", async () => {
    pulls
      .set(1, DOCS)
      .set(2, STRANGER)
      .set(3, { ...STRANGER, headRepository: null as unknown as string });
    forks.set(2, "tooLarge");
    await publish();
    await publish();
    expect(calls.filter((one) => /^fetch/.test(one))).toEqual(["fetch", "fetchFork 2", "fetchFork 3"]);
    expect(titles()["a2e"]).toContain("32 MiB");
    expect(titles()["a3e"]).toContain("fork");
  });

  test("are not fetched beyond the quota, which is told, and are once there is room again", async () => {
    pulls.set(1, BROKEN);
    room.left = 0;
    await publish();
    expect(titles()["a1e"]).toContain("is full");
    expect(memory.attention.told().map(({ code }) => code)).toEqual(["MIRROR_FULL"]);
    room.left = 1;
    now += 5 * 60_000;
    await publish();
    expect(titles()["a1e"]).toContain("errors");
    expect(memory.attention.told()).toEqual([]);
  });

  test("of those that are closed are dropped, also of those that an earlier process left", async () => {
    pulls.set(1, DOCS).set(2, DOCS);
    await publish();
    pulls.delete(1);
    await publish();
    await publish();
    expect(calls.filter((one) => /^keep/.test(one))).toEqual(["keep 1 2", "keep 2"]);
  });
});

test("where judging takes long a pass ends, and each pull request has its turn though the first ones are due again meanwhile", async () => {
  for (let number = 1; number <= 6; number++) pulls.set(number, BROKEN);
  const budget = () => {
    const most = calls.length + 2;
    return () => calls.length >= most;
  };
  const done: number[] = [];
  for (let pass = 0; pass < 6; pass++) {
    expect(await publishPlans("main", true, budget)).toBe(true);
    done.push(checks.size);
    // Each verdict is too old by then, and the base is another.
    now += 5 * 60_000;
    base = sha(`b${pass + 1}`);
    touchedByBase = [FILE];
  }
  expect(done[0]).toBeLessThan(3);
  expect(checks.size).toBe(6);
});
