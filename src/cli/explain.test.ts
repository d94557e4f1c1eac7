import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { at, REPO, rawApplication } from "../argocd/testing/application.ts";
import type { Assessment } from "../rollout/world.ts";
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

  test("with the intended spec the spec is the sign, whatever revision was seen", async () => {
    const { before, change } = clone();
    const argv = ["--application", await file("app.yaml", seen(before)), "--commit", change, "--repo", dir, ...TIMES];
    const as = async (spec: Record<string, unknown>) =>
      await explained([...argv, "--intended", await file("intended.yaml", rawApplication({ spec }))]);
    expect((await as({})).verdict).toBe("live");
    expect(await as({ source: { path: "apps/other" } })).toMatchObject({ verdict: "pending", clause: "spec" });
  });

  test("an empty list is an Application that is lost", async () => {
    const list = await file("list.yaml", { apiVersion: "v1", kind: "List", items: [] });
    expect(await explained(["--application", list, "--revision", "v1", ...TIMES])).toMatchObject({ verdict: "lost", clause: "exists" });
  });

  test("as text: the verdict, the sentence, and the evidence below", async () => {
    const application = await file("app.yaml", rawApplication({ status: { health: { status: "Degraded", message: "CrashLoopBackOff" } } }));
    const text = await output(["--application", application, "--revision", "main", "--merged-at", at("10:00:00"), "--now", at("10:05:00")]);
    expect(text).toMatch(/^failing \(clause health\): It is Degraded since 10:00:20 or longer \(CrashLoopBackOff\)\.\n/);
    expect(text).toMatch(/\n {2}syncStatus +Synced\n/);
  });

  test.each([
    ["no change", ["--merged-at", at("10:00:00")], /what is the change\?/],
    ["no merge time", ["--revision", "v1"], /--merged-at/],
    ["a time that is none", ["--revision", "v1", "--merged-at", "yesterday"], /--merged-at yesterday: not a time/],
    ["a commit without a clone", ["--commit", "abc", "--merged-at", at("10:00:00")], /--commit needs --repo/],
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
    ["a file that is not there", undefined],
    ["a file that is no YAML", "a: [b"],
    ["a file of something else", "kind: ConfigMap"],
  ])("%s is wrong usage", async (_name, content) => {
    const application = content === undefined ? join(dir, "none.yaml") : await file("bad.yaml", content);
    await expect(run(["--application", application, "--revision", "v1", ...TIMES])).rejects.toMatchObject({ exitCode: 2 });
  });
});
