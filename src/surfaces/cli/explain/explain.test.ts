import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { at, REPO, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import { run } from "./explain.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "explain-"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(dir, { recursive: true });
});

async function file(name: string, content: unknown): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, typeof content === "string" ? content : stringify(content));
  return path;
}

async function output(argv: string[]): Promise<string> {
  let written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  expect(await run(argv)).toBe(0);
  vi.restoreAllMocks();
  return written;
}

const explained = async (argv: string[]) => JSON.parse(await output([...argv, "-o", "json"])) as Assessment;
const TIMES = ["--merged-at", at("10:00:00"), "--now", at("10:01:00")];

/** A clone of three commits: the change, one before it and one after it. */
function clone(): { before: string; change: string; after: string } {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { encoding: "utf8", env }).trim();
  git("init", "-q");
  const commit = (message: string) => {
    git("commit", "-q", "--allow-empty", "-m", message);
    return git("rev-parse", "HEAD");
  };
  const shas = { before: commit("before"), change: commit("change"), after: commit("after") };
  git("remote", "add", "origin", REPO);
  return shas;
}

const seen = (revision: string) => rawApplication({ status: { sync: { revision }, operationState: undefined } });

describe("what kubectl prints", () => {
  const yaml = rawApplication();
  test.each([
    ["one object as YAML", () => stringify(yaml)],
    ["one object as JSON", () => JSON.stringify(yaml)],
    ["a List as YAML", () => stringify({ apiVersion: "v1", kind: "List", items: [yaml] })],
    ["a List as JSON", () => JSON.stringify({ apiVersion: "v1", kind: "List", items: [yaml], metadata: { resourceVersion: "" } }, null, 4)],
    [
      "several documents, of which one is an Application",
      () => `${stringify({ kind: "AppProject", metadata: { name: "p" } })}---\n${stringify(yaml)}`,
    ],
    ["with Windows line ends and a byte order mark", () => `\ufeff${stringify(yaml).replaceAll("\n", "\r\n")}`],
    [
      "YAML in flow style",
      () =>
        `{metadata: ${JSON.stringify(yaml["metadata"])}, spec: ${JSON.stringify(yaml["spec"])},\n status: ${JSON.stringify(yaml["status"])}}`,
    ],
  ])("%s", async (_name, text) => {
    const application = await file("app", text());
    expect((await explained(["--application", application, "--revision", "main", ...TIMES])).verdict).toBe("live");
  });

  test("the clusters of Argo CD's API are looked through for the Application's own", async () => {
    const item = (name: string, status: string) => ({ name, server: `https://${name}.example.com`, info: { connectionState: { status } } });
    const clusters = await file("clusters.json", JSON.stringify({ items: [item("eu-1", "Successful"), item("eu-2", "Failed")] }));
    const argv = ["--application", await file("app.yaml", yaml), "--revision", "main", ...TIMES, "--cluster", clusters];
    expect(await explained(argv)).toMatchObject({ verdict: "live", evidence: { fields: { clusterConnection: "Successful" } } });
  });

  test("a status of megabytes is read", async () => {
    const resources = Array.from({ length: 20_000 }, (_, i) => ({
      kind: "ConfigMap",
      name: `c${i}`,
      status: "Synced",
      namespace: "x".repeat(60),
    }));
    const application = await file("app.json", JSON.stringify(rawApplication({ status: { resources } })));
    expect((await explained(["--application", application, "--revision", "main", ...TIMES])).verdict).toBe("live");
  });
});

describe("explain", () => {
  test("a commit is live where what Argo CD has seen contains it, and pending where not", async () => {
    const { before, change, after } = clone();
    const by = async (revision: string) =>
      await explained(["--application", await file("app.yaml", seen(revision)), "--commit", change.slice(0, 10), "--repo", dir, ...TIMES]);
    expect(await by(change)).toMatchObject({ verdict: "live", clause: "all", evidence: { fields: { commit: change } } });
    expect(await by(after)).toMatchObject({ verdict: "live" });
    expect(await by(before)).toMatchObject({ verdict: "pending", clause: "revision" });
    expect(await by("f".repeat(40))).toMatchObject({ verdict: "pending", clause: "revision" });
  });

  test("a revision, with an earlier read, a cluster and other limits", async () => {
    const application = await file("app.yaml", rawApplication());
    const argv = ["--application", application, "--revision", "main", ...TIMES];
    expect((await explained(argv)).verdict).toBe("live");
    expect((await explained([...argv, "--settle", "5m"])).clause).toBe("settled");
    expect((await explained([...argv, "--previous", application])).clause).toBe("confirmed");
    const connectionState = { status: "Failed", message: "no route to host" };
    const cluster = await file(
      "cluster.json",
      JSON.stringify({ server: "https://eu-1.example.com", name: "eu-1", info: { connectionState } }),
    );
    expect(await explained([...argv, "--cluster", cluster])).toMatchObject({ verdict: "lost", clause: "cluster" });
  });

  test("a tag that the clone knows must be at its commit", async () => {
    const { before, change } = clone();
    execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "tag", "-a", "-m", "x", "v2", change]);
    const source = { targetRevision: "v2" };
    const follows = async (revision: string) =>
      await file(
        "app.yaml",
        rawApplication({ spec: { source }, status: { sync: { revision, comparedTo: { source } }, operationState: undefined } }),
      );
    const by = async (revision: string, ...more: string[]) =>
      (await explained(["--application", await follows(revision), "--revision", "v2", ...TIMES, ...more])).verdict;
    expect(await by(before)).toBe("live");
    expect(await by(before, "--repo", dir)).toBe("pending");
    expect(await by(change, "--repo", dir)).toBe("live");
  });

  test("an earlier read that was well confirms, and one that was not does not", async () => {
    const older = (over: Record<string, unknown>) => rawApplication({ metadata: { resourceVersion: "150" }, ...over });
    const by = async (previous: Record<string, unknown>) => {
      const argv = ["--application", await file("app.yaml", rawApplication()), "--previous", await file("old.yaml", previous)];
      return await explained([...argv, "--revision", "main", ...TIMES]);
    };
    expect((await by(older({}))).verdict).toBe("live");
    expect(await by(older({ status: { health: { status: "Progressing" } } }))).toMatchObject({ verdict: "pending", clause: "confirmed" });
    expect(await by(rawApplication({ metadata: { resourceVersion: "999" } }))).toMatchObject({ verdict: "pending", clause: "confirmed" });
    expect(await by(rawApplication({ metadata: { uid: "x", resourceVersion: "150" } }))).toMatchObject({ clause: "confirmed" });
  });

  test("grace and settle are 60 s and 10 s, and can be set", async () => {
    const bad = await file("bad.yaml", rawApplication({ status: { health: { status: "Degraded" }, reconciledAt: at("10:00:25") } }));
    const at60 = ["--application", bad, "--revision", "main", "--merged-at", at("10:00:00"), "--now"];
    expect((await explained([...at60, at("10:01:24")])).verdict).toBe("pending");
    expect((await explained([...at60, at("10:01:25")])).verdict).toBe("failing");
    expect((await explained([...at60, at("10:01:00"), "--grace", "30s"])).verdict).toBe("failing");
    const good = ["--application", await file("app.yaml", rawApplication()), "--revision", "main", "--merged-at", at("10:00:00"), "--now"];
    expect((await explained([...good, at("10:00:29")])).clause).toBe("settled");
    expect((await explained([...good, at("10:00:30")])).verdict).toBe("live");
    expect((await explained([...good, at("10:00:25"), "--settle", "0"])).verdict).toBe("live");
  });

  test.each(["2026-11-21T12:00:00+02:00", "2026-11-21T10:00:00.999Z", "2026-11-21t10:00:00z", "2026-11-21T10:00Z"])(
    "%s is a time",
    async (time) => {
      const application = await file("app.yaml", rawApplication());
      expect(
        (await explained(["--application", application, "--revision", "main", "--merged-at", time, "--now", at("10:01:00")])).verdict,
      ).toBe("live");
    },
  );

  test.each([
    "2026-11-21T10:00:00",
    "2026-11-21",
    "1795255200",
    "2026-02-30T10:00:00Z",
    "2026-11-21T25:00:00Z",
    "now",
    "",
    "9999999-01-01T00:00:00Z",
  ])("%j is none", async (time) => {
    const application = await file("app.yaml", rawApplication());
    await expect(run(["--application", application, "--revision", "main", "--merged-at", time])).rejects.toMatchObject({ exitCode: 2 });
  });

  test("an empty list is an Application that is lost", async () => {
    const list = await file("list.yaml", { apiVersion: "v1", kind: "List", items: [] });
    expect(await explained(["--application", list, "--revision", "v1", ...TIMES])).toMatchObject({ verdict: "lost", clause: "exists" });
  });

  test("the answer as JSON has these four keys, whatever the verdict is; when to look again is in the evidence", async () => {
    for (const over of [{}, { status: { health: { status: "Progressing" } } }, { status: { reconciledAt: at("09:00:00") } }]) {
      const application = await file("app.yaml", rawApplication(over));
      const answer = await explained(["--application", application, "--revision", "main", ...TIMES]);
      expect(Object.keys(answer)).toEqual(["verdict", "clause", "sentence", "evidence"]);
    }
  });

  test("as text: the verdict, the sentence, and the evidence below", async () => {
    const status = { health: { status: "Degraded", message: "CrashLoopBackOff" }, reconciledAt: at("10:00:25") };
    const application = await file("app.yaml", rawApplication({ status }));
    const text = await output(["--application", application, "--revision", "main", "--merged-at", at("10:00:00"), "--now", at("10:05:00")]);
    expect(text).toMatch(/^failing \(clause health\): .* Degraded since 10:00:20 UTC \(CrashLoopBackOff\)\.\n/);
    expect(text).toMatch(/\n {2}syncStatus +Synced\n/);
    expect(text).toContain("Clause health: Healthy, as is every Application that it makes");
  });

  test.each([
    ["no change", ["--merged-at", at("10:00:00")], /what is the change\?/],
    ["no merge time", ["--revision", "v1"], /--merged-at/],
    ["a time that is none", ["--revision", "v1", "--merged-at", "yesterday"], /--merged-at yesterday: not a time/],
    ["a commit without a clone", ["--commit", "abc", "--merged-at", at("10:00:00")], /--commit needs --repo/],
    [
      "a commit the clone does not have",
      ["--commit", "abcdef1", "--repo", tmpdir(), "--merged-at", at("10:00:00")],
      /no such commit|not a git/,
    ],
    ["both kinds", ["--commit", "abc", "--revision", "v1", "--merged-at", at("10:00:00")], /not both/],
    ["a duration that is none", ["--revision", "v1", "--merged-at", at("10:00:00"), "--grace", "10"], /--grace 10: not a duration/],
  ])("%s is wrong usage", async (_name, argv, message) => {
    const application = await file("app.yaml", rawApplication());
    await expect(run(["--application", application, ...argv])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ["nothing at all", "", /is empty: give what `kubectl get application NAME -o yaml` prints/],
    ["only comments and separators", "---\n# no object\n---\n", /is empty/],
    ["an empty array", "[]", /is empty/],
    ["only text", "Error from server (NotFound)", /holds no Application with a metadata.name, but: string/],
    [
      "a List of something else",
      "kind: List\nitems: [{ kind: Pod, metadata: { name: x } }]",
      /no Application with a metadata.name, but: Pod/,
    ],
    [
      "two Applications",
      "kind: Application\nmetadata: { name: x }\n---\nkind: Application\nmetadata: { name: y, namespace: b }\n",
      /holds 2 Applications \(\/x, b\/y\); give the one in question/,
    ],
  ])("%s is wrong usage, and it is said what was seen", async (_name, content, message) => {
    const application = await file("odd.yaml", content);
    await expect(run(["--application", application, "--revision", "v1", ...TIMES])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ["a file that is not there", undefined],
    ["a file that is no YAML", "a: [b"],
    ["a file of something else", "kind: ConfigMap"],
    ["something else with a name", "kind: ConfigMap\nmetadata: { name: x }"],
    ["a file of two Applications", "- { kind: Application, metadata: { name: x } }\n- { kind: Application, metadata: { name: y } }"],
    ["a file of bytes", "\u0000\u0001\u0002PNG"],
    ["a file of anchors without end", "a: &a [x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c]\n"],
  ])("%s is wrong usage", async (_name, content) => {
    const application = content === undefined ? join(dir, "none.yaml") : await file("bad.yaml", content);
    await expect(run(["--application", application, "--revision", "v1", ...TIMES])).rejects.toMatchObject({ exitCode: 2 });
  });
});
