import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { at, OLDER, REPO, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import { run } from "./explain.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "explain-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true });
});

type Raw = Record<string, unknown>;
const TIMES = ["--merged-at", at("10:00:00"), "--now", at("10:01:00")];
const OTHER = "https://github.com/acme/other.git";
let files = 0;

function file(content: unknown): string {
  const path = join(dir, `f${++files}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

async function explained(application: Raw, ...argv: string[]): Promise<Assessment> {
  let written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  expect(await run(["--application", file(application), ...argv, ...TIMES, "-o", "json"])).toBe(0);
  return JSON.parse(written) as Assessment;
}

const refused = (application: Raw, message: RegExp, ...argv: string[]) =>
  expect(run(["--application", file(application), ...argv, ...TIMES])).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(message),
  });

const SINGLE = { repoURL: REPO, path: "apps/payments", targetRevision: "main" };

/** Well in every clause, with this source and what was seen of it. */
const following = (over: Raw, revision?: string) => {
  const source = { ...SINGLE, ...over };
  const status = { sync: { ...(revision === undefined ? {} : { revision }), comparedTo: { source } }, operationState: undefined };
  return rawApplication({ spec: { source }, status });
};

const several = (sources: Raw[], revisions: string[]) =>
  rawApplication({
    spec: { source: undefined, sources },
    status: {
      sync: { revision: undefined, revisions, comparedTo: { source: undefined, sources } },
      operationState: { operation: undefined, syncResult: { revision: undefined, revisions, source: undefined, sources } },
    },
  });

const hydrated = (targetRevision: string, drySHA: string, hydratedSHA = "d".repeat(40)) => {
  const drySource = { repoURL: REPO, targetRevision, path: "x" };
  const source = { repoURL: REPO, targetRevision: "env/x", path: "x" };
  const sourceHydrator = { currentOperation: { phase: "Hydrated", drySHA, hydratedSHA, finishedAt: at("10:00:05") } };
  const spec = { source: undefined, sourceHydrator: { drySource, syncSource: { targetBranch: "env/x", path: "x" } } };
  const comparedTo = { source: undefined, sourceHydrator: spec.sourceHydrator };
  const operation = { drySource, syncSource: spec.sourceHydrator.syncSource };
  return rawApplication({
    spec,
    status: {
      sync: { revision: hydratedSHA, comparedTo: { ...comparedTo, source } },
      sourceHydrator: {
        currentOperation: { ...sourceHydrator.currentOperation, sourceHydrator: operation },
        lastSuccessfulOperation: { drySHA, hydratedSHA, sourceHydrator: operation },
      },
      operationState: undefined,
    },
  });
};

const ENV = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
const repo = () => join(dir, "repo");
const git = (...args: string[]) =>
  execFileSync("git", ["-C", repo(), "-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    encoding: "utf8",
    env: ENV,
  }).trim();

/** A commit that leaves the file with these lines. */
function commit(...lines: string[]): string {
  writeFileSync(join(repo(), "pins.yaml"), `${lines.join("\n")}\n`);
  git("add", ".");
  git("commit", "-q", "--allow-empty", "-m", lines.join(" "));
  return git("rev-parse", "HEAD");
}

/** Three commits, of which the second is the change. */
function clone(origin = REPO): { before: string; change: string; after: string } {
  execFileSync("git", ["init", "-q", repo()], { env: ENV });
  git("remote", "add", "origin", origin);
  return { before: commit("a: v1", "b: v1"), change: commit("a: v2", "b: v1"), after: commit("a: v2", "b: v2") };
}

describe("--revision with --intended", () => {
  test("a revision that stands nowhere in what the commit gives the Application is wrong usage, not live", async () => {
    const old = following({ targetRevision: "v1" });
    await refused(old, /--revision v2 stands nowhere/, "--revision", "v2", "--intended", file(old));
    await refused(rawApplication(), /no-such-thing stands nowhere/, "--revision", "no-such-thing", "--intended", file(rawApplication()));
    const longer = following({ targetRevision: "v1.4.20" });
    await refused(longer, /v1\.4\.2 stands nowhere/, "--revision", "v1.4.2", "--intended", file(longer));
  });

  test.each([
    ["a path", { path: "overlays/v2" }],
    ["a Helm parameter", { helm: { parameters: [{ name: "image", value: "registry/app:v2" }] } }],
    ["values", { helm: { values: "image:\n  tag: v2\n" } }],
    ["a map of values", { helm: { valuesObject: { image: { tag: "v2" } } } }],
  ])("one that stands in %s is live once that is in place", async (_name, over) => {
    const intended = file(following(over));
    expect((await explained(following(over), "--revision", "v2", "--intended", intended)).verdict).toBe("live");
    expect(await explained(following({}), "--revision", "v2", "--intended", intended)).toMatchObject({
      verdict: "pending",
      clause: "spec",
    });
  });

  test("one of several Applications is taken by namespace and name, and two of them are wrong usage", async () => {
    const other = rawApplication({ metadata: { namespace: "team" }, spec: { source: { path: "else" } } });
    const both = file({ kind: "List", items: [other, rawApplication()] });
    expect((await explained(rawApplication(), "--intended", both)).verdict).toBe("live");
    const twice = file({ kind: "List", items: [rawApplication(), rawApplication({ spec: { source: { path: "else" } } })] });
    await refused(rawApplication(), /holds 2 Applications payments-eu-1/, "--intended", twice);
    const foreign = rawApplication({ metadata: { name: "payments-eu-2" } });
    await refused(rawApplication(), /holds no Application payments-eu-1/, "--intended", file(foreign));
  });
});

describe("--revision", () => {
  test("of a repo that is named must be followed there, not in another source", async () => {
    const app = several(
      [
        { ...SINGLE, targetRevision: "v0" },
        { ...SINGLE, repoURL: OTHER, targetRevision: "v2" },
      ],
      [OLDER, "c".repeat(40)],
    );
    expect((await explained(app, "--revision", "v2")).verdict).toBe("live");
    expect((await explained(app, "--revision", "v2", "--repo-url", OTHER)).verdict).toBe("live");
    expect((await explained(app, "--revision", "v2", "--repo-url", REPO)).verdict).not.toBe("live");
    await refused(app, /--repo-url \S+third: no source is of that repo/, "--revision", "v2", "--repo-url", "https://github.com/acme/third");
    await refused(app, /no source is of that repo/, "--revision", "v2", "--repo-url", REPO, "--intended", file(app));
  });

  test("that two repos have must be the seen one in both, and the clone tells of its own", async () => {
    const { before, change } = clone();
    git("tag", "v2", change);
    const sources = [
      { ...SINGLE, targetRevision: "v2" },
      { ...SINGLE, repoURL: OTHER, targetRevision: "v2" },
    ];
    const by = async (seen: string) => (await explained(several(sources, [seen, OLDER]), "--revision", "v2", "--repo", repo())).verdict;
    expect(await by(change)).toBe("live");
    expect(await by(before)).toBe("pending");
  });

  test("as a tag of a dry source must be at its commit in the clone", async () => {
    const { before, change } = clone();
    git("tag", "v2", change);
    const by = async (dry: string) => (await explained(hydrated("v2", dry), "--revision", "v2", "--repo", repo())).verdict;
    expect(await by(before)).toBe("pending");
    expect(await by(change)).toBe("live");
  });

  test("what was hydrated is judged by the branch, where the clone has it, and not by what the status says", async () => {
    const { before, change } = clone();
    git("tag", "v2", change);
    const synced = (dry: string) => {
      mkdirSync(join(repo(), "x"), { recursive: true });
      writeFileSync(join(repo(), "x/hydrator.metadata"), JSON.stringify({ drySha: dry }));
      return commit(`hydrated from ${dry}`);
    };
    const by = async (dry: string) => {
      const seen = synced(dry);
      const app = hydrated("v2", change, seen);
      return (await explained(app, "--revision", "v2", "--repo", repo())).verdict;
    };
    expect(await by(before)).toBe("pending");
    expect(await by(change)).toBe("live");
  });

  test("that is empty is wrong usage, and so is an empty --repo-url", async () => {
    await refused(rawApplication(), /--repo-url is empty/, "--revision", "main", "--repo-url", "");
    await refused(rawApplication(), /--revision is empty/, "--revision", "");
  });
});

describe("--commit with --intended", () => {
  const intended = (over: Raw = {}) => ["--intended", file(following(over))];

  test("the commit must be in the clone, and the clone be given", async () => {
    clone();
    await refused(rawApplication(), /--commit needs --repo/, "--commit", "deadbeef", ...intended());
    await refused(rawApplication(), /no such commit/, "--commit", "deadbeef", "--repo", repo(), ...intended());
  });

  test("both must hold where a source follows a branch of the clone's repo", async () => {
    const { before, change } = clone();
    const by = async (app: Raw) => await explained(app, "--commit", change, "--repo", repo(), ...intended());
    expect(await by(following({}, change))).toMatchObject({ verdict: "live", evidence: { fields: { commit: change } } });
    expect(await by(following({}, before))).toMatchObject({ verdict: "pending", clause: "revision" });
    expect(await by(following({ path: "else" }, change))).toMatchObject({ verdict: "pending", clause: "spec" });
  });

  test("an origin that is an alias of the host, or only a folder, is not taken for another repo", async () => {
    const { before, change } = clone("git@work-alias:acme/config.git");
    const by = async () => (await explained(following({}, before), "--commit", change, "--repo", repo(), ...intended())).verdict;
    expect(await by()).toBe("pending");
    git("remote", "set-url", "origin", join(dir, "mirror"));
    expect(await by()).toBe("pending");
    git("remote", "remove", "origin");
    expect(await by()).toBe("pending");
  });

  test("the spec is the sign where the sources are of another repo", async () => {
    const { change } = clone();
    const over = { repoURL: OTHER };
    expect((await explained(following(over), "--commit", change, "--repo", repo(), ...intended(over))).verdict).toBe("live");
    expect((await explained(following({ ...over, path: "x" }), "--commit", change, "--repo", repo(), ...intended(over))).clause).toBe(
      "spec",
    );
  });

  test("a source of the clone's repo that is pinned to a tag from before the commit must be at that tag", async () => {
    const { before, change } = clone();
    git("tag", "v2", before);
    const over = { targetRevision: "v2" };
    const by = async (seen: string) => await explained(following(over, seen), "--commit", change, "--repo", repo(), ...intended(over));
    expect((await by(before)).verdict).toBe("live");
    expect(await by(OLDER)).toMatchObject({ verdict: "pending", clause: "revision" });
    const sources = [
      { ...SINGLE, ...over },
      { ...SINGLE, ref: "values" },
    ];
    const both = async (values: string) => {
      const app = several(sources, [before, values]);
      return (await explained(app, "--commit", change, "--repo", repo(), "--intended", file(app))).verdict;
    };
    expect(await both(change)).toBe("live");
    expect(await both(before)).toBe("pending");
  });
});

describe("what was done since", () => {
  const by = async (seen: string, change: string) => await explained(following({}, seen), "--commit", change, "--repo", repo());

  test("a commit that is there but was taken back waits for a person, and the commit and file that did it are named", async () => {
    const { change } = clone();
    const revert = commit("a: v1", "b: v2");
    const head = commit("a: v1", "b: v3");
    expect(await by(head, change)).toMatchObject({
      verdict: "waiting",
      clause: "revision",
      sentence: expect.stringContaining(revert.slice(0, 7)),
      evidence: { fields: { changedSince: revert, changedFile: "pins.yaml" } },
    });
  });

  test("other lines of the file may change, and lines may come and go around it", async () => {
    const { after, change } = clone();
    expect((await by(after, change)).verdict).toBe("live");
    expect((await by(commit("# new", "a: v2", "c: v1", "b: v3"), change)).verdict).toBe("live");
    expect((await by(commit("b: v3"), change)).verdict).toBe("waiting");
  });

  test("what was changed and then set again as it was counts as in place", async () => {
    const { change } = clone();
    commit("a: v1", "b: v2");
    expect((await by(commit("a: v2", "b: v2"), change)).verdict).toBe("live");
  });

  test("lines that the commit took out and that came back are taken back, and so is a file that is gone", async () => {
    const { after } = clone();
    const out = commit("b: v2");
    expect((await by(out, out)).verdict).toBe("live");
    expect((await by(commit("a: v2", "b: v2"), out)).verdict).toBe("waiting");
    git("rm", "-q", "pins.yaml");
    git("commit", "-q", "-m", "gone");
    expect((await by(git("rev-parse", "HEAD"), after)).verdict).toBe("waiting");
  });

  test("a content that looks like a diff's own lines misleads nobody", async () => {
    const { change } = clone();
    const odd = commit("a: v2", "b: v1\r@@ -1 +1 @@");
    expect((await by(odd, change)).verdict).toBe("live");
  });
});

describe("what goes with the Application", () => {
  test("a cluster that is not its own is wrong usage, even where the file has only that one", async () => {
    const item = (name: string, server: string, status = "Successful") => ({ name, server, connectionState: { status } });
    const by = (...items: unknown[]) => ["--revision", "main", "--cluster", file(items.length === 1 ? items[0] : { items })];
    await refused(
      rawApplication(),
      /does not hold the Application's cluster https:\/\/eu-1\S+, but us-9/,
      ...by(item("us-9", "https://us-9")),
    );
    expect((await explained(rawApplication(), ...by(item("eu-1", "https://eu-1.example.com/")))).verdict).toBe("live");
    const twice = by(item("a", "https://eu-1.example.com"), item("b", "https://eu-1.example.com", "Failed"));
    expect((await explained(rawApplication(), ...twice)).verdict).toBe("lost");
  });

  test("an earlier read that has no such Application confirms nothing", async () => {
    const none = file({ kind: "List", items: [] });
    const answer = await explained(rawApplication(), "--revision", "main", "--previous", none);
    expect(answer).toMatchObject({ verdict: "pending", clause: "confirmed", evidence: { verdict: "pending", clause: "confirmed" } });
    const ill = rawApplication({ status: { health: { status: "Progressing" } } });
    expect(await explained(ill, "--revision", "main", "--previous", none)).toMatchObject({ clause: "health" });
  });
});
