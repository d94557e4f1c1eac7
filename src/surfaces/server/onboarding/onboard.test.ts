import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Cell } from "../../../adapters/cell/port.ts";
import { counted } from "../../../adapters/cell/testing/counted.ts";
import type { BranchRules, Forge, Pull } from "../../../adapters/forge/port.ts";
import { type CommitInput, GitError, type Mirror, type RefUpdate } from "../../../adapters/git/port.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { type RepoContext, silentLog } from "../../../engine/round/context.ts";
import { openServerCell } from "../cell/open.ts";
import { ONBOARDING_BRANCH, onboard, onboardOnceWanted } from "./onboard.ts";

const SET = readFileSync(new URL("../../../../fixtures/fleet/appsets/my-app-set.yaml", import.meta.url), "utf8");
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
  /** Types of the active rules on the bot's own branches, and of whom the gate is required. */
  rules?: string[];
  gate?: { context: string; app?: number };
  base?: string | undefined;
  /** A file that is too large to be read. */
  huge?: string;
  cell?: Cell;
}

/** A repo on a forge and a mirror that write down what is asked of them. */
function repo(scene: Scene) {
  const { before, branchOf, failing = false, planes = new Map(), app, rules, gate, huge, cell } = scene;
  let files = scene.files ?? { "appsets/set.yaml": SET };
  let base = "base" in scene ? scene.base : BASE;
  const calls: string[] = [];
  /** Of the mirror: what the repo is looked through by. */
  const reads: string[] = [];
  /** Files whose contents came into this process. */
  const contents: string[] = [];
  const opened: { body: string }[] = [];
  let head = branchOf === undefined ? undefined : "d".repeat(40);
  let author = branchOf;
  let now = Date.parse("2026-11-21T10:00:00Z");
  let fails = failing;
  let old = new Set<string>();
  const mirror: Partial<Mirror> = {
    head: async () => base,
    async changedPaths(from, to) {
      reads.push(`changed ${from.slice(0, 2)}..${to.slice(0, 2)}`);
      return Object.keys(files).filter((path) => !old.has(path));
    },
    async listFiles(_commit: string, _below?: string, kind?: string) {
      if (kind === "link") return [];
      reads.push("list");
      return Object.keys(files);
    },
    async readFiles(_commit, paths) {
      contents.push(...paths);
      if (huge !== undefined && paths.includes(huge)) throw new GitError("TooLarge", "it is", { bytes: 50 * 1024 * 1024 });
      return new Map(paths.map((path) => [path, files[path] ?? null]));
    },
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
    ...(rules === undefined ? {} : { rulesOn: async () => rules }),
    branchRules: async () => ({ requiredChecks: gate === undefined ? [] : [gate] }) as unknown as BranchRules,
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
    readingCell: cell,
  } as unknown as RepoContext;
  return {
    calls,
    reads,
    contents,
    opened,
    ask: () => onboard(context, "main"),
    look: () => onboardOnceWanted(context, "main"),
    pass: wait,
    push,
    now: () => now,
  };

  /** A commit that adds these files. */
  function push(sha: string, added: Record<string, string>): void {
    old = new Set(Object.keys(files));
    files = { ...files, ...added };
    base = sha.repeat(40);
  }

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
    expect(opened[0]?.body).toContain("The plan of the next release");
    expect(opened[0]?.body).toMatch(/A simulated run of it[\s\S]*All of it takes .*reaches 1 of 12 clusters, and pauses/);
    expect(opened[0]?.body).toContain("| 1 | canary | eu-central-1-a | +0:00 |");
  });

  test("a fleet too large to be simulated meanwhile is planned all the same, and told how to simulate it", async () => {
    const element = (n: number) => `{ cluster: c-${n}, server: "https://c-${n}.example.com", area: emea, region: r, targetRevision: v1 }`;
    const fleet = Array.from({ length: 300 }, (_, n) => element(n)).join(", ");
    const { ask, opened } = repo({
      files: { "appsets/set.yaml": SET.replace(/elements:\n[\s\S]*?(?=\n {2}template)/, `elements: [${fleet}]`) },
    });
    expect(await ask()).toBe("opened");
    const { body = "" } = opened[0] ?? {};
    expect(body).toMatch(/300 clusters[\s\S]*The plan of the next release[\s\S]*`v1` → `next`/);
    expect(body).toContain("**A simulated run of it** takes too long for this place: `stagecoach simulate my-app --to VERSION`");
    expect(body).not.toContain("| batch | stage | clusters | merged |");
  });

  test("the rulesets it proposes keep the journal and batches to the App and bind the gate to it, by its id where that is known", async () => {
    const { ask, opened } = repo({ app: 4711 });
    await ask();
    expect(opened[0]?.body).toContain('"actor_id": 4711');
    expect(opened[0]?.body).toContain('"refs/heads/stagecoach-run/**/*"');
    expect(opened[0]?.body).toMatch(/"context": "stagecoach\/gate",\s+"integration_id": 4711/);
    const unknown = repo({});
    await unknown.ask();
    expect(unknown.opened[0]?.body).toMatch(/put the App's id .* in place of `THE_APP_ID`/);
  });

  const WRITE = ["creation", "update", "deletion"];
  test.each<[string, Scene, string[], string]>([
    ["nothing is there", { rules: [] }, ["stagecoach branches", "stagecoach gate"], "others may write to `stagecoach/journal`"],
    ["the branches are the App's own", { rules: WRITE }, ["stagecoach gate"], "The rules for the bot's own branches are there"],
    [
      "the gate is required of whoever reports it",
      { rules: WRITE, gate: { context: "stagecoach/gate" } },
      ["stagecoach gate"],
      "of whoever reports it",
    ],
    ["all is there", { rules: WRITE, gate: { context: "stagecoach/gate", app: 4711 } }, [], "is required from this App"],
  ])("of the rulesets it has those that are missing: %s", async (_, scene, names, says) => {
    const { ask, opened } = repo({ ...scene, app: 4711 });
    await ask();
    const { body = "" } = opened[0] ?? {};
    expect([...body.matchAll(/"name": "([^"]+)"/g)].map(([, name]) => name)).toEqual(names);
    expect(body).toContain(says);
  });

  test.each<[string, Scene, string]>([
    ["there is a rollout", { files: { "appsets/set.yaml": SET, "rollouts/a.yaml": "kind: x\n" } }, "not wanted"],
    ["there is nothing of Argo CD's", { files: { "README.md": "# hello\n" } }, "nothing yet"],
    ["there is no commit", { base: undefined }, "nothing yet"],
  ])("nothing where %s", async (_name, scene, outcome) => {
    const { ask, opened } = repo(scene);
    expect([await ask(), opened]).toEqual([outcome, []]);
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

  test("Applications that a chart makes are proposed as they live, those of other repos are not", async () => {
    const files = Object.fromEntries(
      ["dev", "prod"].map((env) => [
        `overlays/${env}/kustomization.yaml`,
        "resources: []\nimages: [ { name: acme/shop, newTag: v1.0.0 } ]\n",
      ]),
    );
    const live = (name: string, repoURL: string, path: string): unknown =>
      decodeApplication(
        {
          metadata: { name, namespace: "argocd" },
          spec: {
            project: "default",
            source: { repoURL, path, targetRevision: "main" },
            destination: { name: "in-cluster", namespace: name },
            syncPolicy: { automated: {} },
          },
        },
        0,
      );
    const ours = "https://github.com/example/fleet.git";
    const applications = [
      ...["dev", "prod"].map((env) => live(`shop-${env}`, ours, `overlays/${env}`)),
      ...["dev", "prod"].map((env) => live(`cart-${env}`, "https://github.com/example/other.git", `overlays/${env}`)),
    ];
    const plane = {
      name: "hub",
      state: () => ({ fresh: true }),
      applications: () => applications,
      clusters: () => [],
      derivedClusters: () => [],
    };
    const { ask, calls, opened } = repo({
      files: { ...files, "README.md": "# hello\n" },
      planes: new Map([["hub", plane]]) as unknown as RepoContext["planes"],
    });
    expect(await ask()).toBe("opened");
    expect(calls).toContain("commit .github/stagecoach.yaml rollouts/shop.yaml");
    expect(opened[0]?.body).toContain("2 Applications on 1 cluster");
  });

  test("of several control planes each has what lives on it, and its own cluster is called by it", async () => {
    const names = ["dev", "prod"];
    const planes = names.map((name): [string, unknown] => {
      const source = { repoURL: "https://github.com/example/fleet.git", path: `overlays/${name}`, targetRevision: "main" };
      const destination = { server: "https://kubernetes.default.svc", namespace: "shop" };
      const spec = { project: "default", source, destination, syncPolicy: { automated: {} } };
      const shop = decodeApplication({ metadata: { name: "shop", namespace: "argocd" }, spec }, 0);
      const own = { name: "in-cluster", server: destination.server, labels: {}, registered: false };
      const state = () => ({ fresh: true });
      return [name, { name, labels: { env: name }, state, applications: () => [shop], clusters: () => [own] }];
    });
    const overlay = "resources: []\nimages: [ { name: acme/shop, newTag: v1.0.0 } ]\n";
    const files = Object.fromEntries(names.map((name) => [`overlays/${name}/kustomization.yaml`, overlay]));
    const { ask, opened } = repo({ files, planes: new Map(planes) as unknown as RepoContext["planes"] });
    expect(await ask()).toBe("opened");
    const [body = ""] = opened.map((one) => one.body);
    expect(body).toMatch(/controlPlane:\n\s+- dev\n\s+- prod[\s\S]*env: dev[\s\S]*env: prod/);
    expect(body).toContain("2 clusters");
  });

  test("a repo of four hundred sets is answered within GitHub's limit of a body", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`sets/${n}.yaml`, SET.replace("name: my-app-set", `name: app-${n}`)]),
    );
    const { ask, opened } = repo({ files });
    expect(await ask()).toBe("opened");
    expect(opened[0]?.body.length).toBeLessThan(65_536);
    expect(opened[0]?.body).toContain("two rulesets, ready to paste");
  });
});

const MINUTE = 60_000;
const looks = (reads: readonly string[]) => reads.filter((read) => read === "list").length;

describe("a repo that had nothing to onboard when it was first looked at", () => {
  test("is onboarded once its ApplicationSets are pushed", async () => {
    const { look, push, pass, opened, now } = repo({ files: { "README.md": "# hello\n" } });
    expect(await look()).toEqual({ settled: false });
    push("1", { "appsets/set.yaml": SET });
    expect(await look()).toEqual({ settled: false, wakeAt: now() + MINUTE / 2 });
    pass(MINUTE / 2);
    expect(await look()).toEqual({ settled: true });
    expect(opened).toHaveLength(1);
  });

  test("so is one that had no commit at all", async () => {
    const { look, push, pass, opened } = repo({ files: {}, base: undefined });
    expect(await look()).toEqual({ settled: false });
    push("1", { "appsets/set.yaml": SET });
    pass(MINUTE / 2);
    expect(await look()).toEqual({ settled: true });
    expect(opened).toHaveLength(1);
  });

  test("is not looked through while its base stands still, nor for files that no rollout is proposed from", async () => {
    const { look, push, pass, reads } = repo({ files: { "README.md": "# hello\n" } });
    for (let n = 0; n < 5; n++) {
      expect(await look()).toEqual({ settled: false });
      pass(60 * MINUTE);
    }
    push("1", { "src/main.go": "package main\n" });
    for (let n = 0; n < 5; n++) expect(await look()).toEqual({ settled: false });
    expect([looks(reads), reads.filter((read) => read.startsWith("changed"))]).toEqual([1, ["changed bb..11"]]);
  });

  test("a commit a minute, each with some YAML, has it looked through every ten minutes at most", async () => {
    const { look, push, pass, reads } = repo({ files: { "README.md": "# hello\n" } });
    for (let n = 0; n < 240; n++) {
      push((n % 2).toString(), { [`values/${n}.yaml`]: "a: 1\n" });
      await look();
      pass(MINUTE);
    }
    // At first sooner: after 0, 1, 2, 4, 8 and 16 minutes or so.
    expect(looks(reads)).toBeLessThanOrEqual(240 / 10 + 6);
    expect(looks(reads)).toBeGreaterThan(20);
  });

  test("no pull request is opened any more once somebody has written a rollout", async () => {
    const { look, push, pass, opened } = repo({ files: { "README.md": "# hello\n" } });
    await look();
    push("1", { "appsets/set.yaml": SET, "rollouts/a.yaml": "kind: x\n" });
    pass(MINUTE);
    expect([await look(), opened]).toEqual([{ settled: true }, []]);
  });
});

const [inner, brief] = [openServerCell(), openServerCell({ cpuMs: 100 })];
afterAll(() => {
  inner.close();
  brief.close();
});

describe("a repository that is looked through", () => {
  test("is so in a cell, which proposes the same", async () => {
    const [cell, here] = [counted(inner), repo({})];
    const apart = repo({ cell });
    expect([await here.ask(), await apart.ask()]).toEqual(["opened", "opened"]);
    expect(cell.jobs).toEqual(["done"]);
    expect(apart.opened).toEqual(here.opened);
  });

  test("has told, also from within a cell, which file is too large to be read", async () => {
    const { ask, opened } = repo({ cell: inner, huge: "sets/all.json", files: { "appsets/set.yaml": SET, "sets/all.json": "" } });
    expect(await ask()).toBe("opened");
    expect(opened[0]?.body).toContain("| a file<br>`sets/all.json` | it has 50 MiB, and files of more than 10 are not read");
  });

  test("is parsed and rendered nowhere else: of a cell that asks for no file none comes into this process", async () => {
    const [alone, beside] = [repo({}), repo({ cell: { run: async () => ({ kind: "failed", said: "it asks for none" }) } })];
    expect([await alone.ask(), await beside.ask()]).toEqual(["opened", "later"]);
    expect([alone.contents.length > 0, beside.contents]).toEqual([true, []]);
  });

  test("holds nobody up by a template without an end, and has nothing proposed", async () => {
    const cell = counted(brief);
    const elements = Array.from({ length: 2000 }, (_, n) => `{ cluster: c-${n}, targetRevision: v1 }`).join(", ");
    const loop = "{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}";
    const endless = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-app-set, namespace: argocd }
spec:
  goTemplate: true
  generators: [{ list: { elements: [${elements}] } }]
  template: { metadata: { name: "{{ .cluster }}" }, spec: { project: "${loop}" } }
`;
    const { ask, calls } = repo({ cell, files: { "appsets/set.yaml": endless } });
    expect(await ask()).toBe("nothing yet");
    expect(cell.jobs).toEqual(["killed", "killed"]);
    expect(calls).toEqual([`find ${ONBOARDING_BRANCH}`]);
  });
});
