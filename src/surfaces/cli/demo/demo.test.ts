import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { Clock } from "../../../core/base/time.ts";
import { said } from "../../../core/reasons/run.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { fleetClusters } from "../../../sim/world.ts";
import { faultsOf, run } from "./demo.ts";
import { demoFleet } from "./fleet.ts";
import { demoScreen, lastWords } from "./screen.ts";
import { turnOf } from "./steering.ts";
import { openMender } from "./story.ts";

const FLEET = new URL("../../../../fixtures/fleet/", import.meta.url).pathname;
const CLUSTERS = fleetClusters().map(({ name }) => name);

test("a fault of a cluster the fleet lacks is wrong usage that names those there are", async () => {
  await expect(run(["--once", "--fail", "nosuch=degraded"])).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/no cluster "nosuch"; it has eu-west-1-a, .*us-east-1-d/),
  });
  expect(() => faultsOf(["eu-west-1-z=degraded"], CLUSTERS)).toThrow("did you mean eu-west-1-a?");
  expect(() => faultsOf(["eu-west-1-a"], CLUSTERS)).toThrow("write CLUSTER=FAULT, such as");
  expect(() => faultsOf(["eu-west-1-a=broken"], CLUSTERS)).toThrow('"broken" is no fault; there are degraded, stuck');
  expect(() => faultsOf(["eu-west-1-a=degarded"], CLUSTERS)).toThrow("did you mean degraded?");
});

test.each(["abc", "99999", "-1", "1.5"])("--port %s is wrong usage that says which are taken", async (port) => {
  const refused = { exitCode: 2, message: expect.stringContaining(`${port}: write a whole number from 0 to 65535`) };
  await expect(run(["--once", "--port", port])).rejects.toMatchObject(refused);
  await expect(run(["--once", "--github-port", port])).rejects.toMatchObject(refused);
});

test("a port that is taken is named with its option, and what to do, and no file is left", async () => {
  const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  vi.stubEnv("TMPDIR", folder);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    await expect(run(["--once", "--github-port", String(port)])).rejects.toMatchObject({
      exitCode: 3,
      message: `--github-port ${port}: that port is in use by another program; name another, or leave --github-port out for any that is free`,
    });
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
    server.close();
  }
});

test("Ctrl-C while it runs ends it with nothing left in the temporary folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  const main = new URL("../main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main, "demo"], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, TMPDIR: folder } });
  try {
    await once(child.stdout, "data");
    expect(readdirSync(folder)).toEqual([expect.stringContaining("stagecoach-demo-")]);
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

test("faults of known clusters are taken, as many as are given", () => {
  expect(faultsOf(["eu-west-1-a=degraded", "us-east-1-b=stuck"], CLUSTERS)).toEqual([
    { cluster: "eu-west-1-a", kind: "degraded" },
    { cluster: "us-east-1-b", kind: "stuck" },
  ]);
});

test("a fleet of another size has its clusters in every region, and a rollout for each application", () => {
  const { clusters, rollouts, world } = demoFleet({ clusters: 80, rollouts: 3, approval: true });
  const files = new Map(
    globSync("**/*.yaml", { cwd: FLEET }).map((path) => [path, readFileSync(join(FLEET, path), "utf8")] satisfies [string, string]),
  );
  world.files?.(files);
  expect(new Set(clusters.map(({ name }) => name)).size).toBe(80);
  expect(clusters.filter(({ labels }) => labels["region"] === "us-east-1")).toHaveLength(26);
  expect(rollouts).toEqual([
    { name: "my-app", version: "v1.4.2" },
    { name: "payments", version: "v1.4.3" },
    { name: "checkout", version: "v1.4.4" },
  ]);
  for (const { name } of rollouts) {
    expect(files.get(`appsets/${name}-set.yaml`)?.match(/- cluster: /g)).toHaveLength(80);
    expect(files.get(`rollouts/${name}.yaml`)).toContain(`name: ${name}\n`);
  }
  // One that waits for a person is enough.
  expect(rollouts.map(({ name }) => files.get(`rollouts/${name}.yaml`)?.includes("approval:"))).toEqual([true, false, false]);
});

test("the pages' addresses stay in sight below the tree, above what a person is asked", () => {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const terminal = Object.getOwnPropertyDescriptor(process.stdout, "isTTY");
  Object.defineProperty(process.stdout, "isTTY", { value: true, configurable: true });
  try {
    const clock = { now: () => 0 } as Clock;
    const screen = demoScreen({ clock, quiet: false, several: false, pages: ["The page: http://127.0.0.1:9/"] });
    screen.draw([{ run: sampleRun() }] as unknown as Parameters<typeof screen.draw>[0], [{ id: "1", lines: ["Your turn."] }]);
    screen.close();
  } finally {
    write.mockRestore();
    if (terminal === undefined) Reflect.deleteProperty(process.stdout, "isTTY");
    else Object.defineProperty(process.stdout, "isTTY", terminal);
  }
  expect(written.join("")).toMatch(/NAME[\s\S]*http:\/\/127\.0\.0\.1:9\/[\s\S]*Your turn\./);
});

test("without a terminal each batch and the run are told once, in the words of the model", () => {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  try {
    const screen = demoScreen({ clock: { now: () => 0 } as Clock, quiet: false, several: false, pages: [] });
    for (const _ of [1, 2]) screen.draw([{ run: sampleRun() }]);
  } finally {
    write.mockRestore();
  }
  expect(written).toMatchInlineSnapshot(`
    [
      "00:00:00  canary, batch 1 of 1 (PR #11): Healthy: eu-1, eu-2
    ",
      "00:00:00  everywhere else, batch 1 of 2 (PR #12): Syncing: us-1, us-2
    ",
      "00:00:00  payments #42: Progressing: waiting for us-1, us-2 to become live (0 of 2 confirmed)
    ",
    ]
  `);
});

test("what is named to look at next is still there then", () => {
  const over = sampleRun({ phase: "Succeeded" });
  const embedded = { journal: "/gone/repo.git", repository: "http://127.0.0.1:9/acme/fleet" };
  const words = (once: boolean) => lastWords([over], { violations: 0, durationMs: 1234, once, ...embedded });
  expect(words(true)).toMatch(/2 pull requests, every promise kept, 1\.2 s/);
  expect(words(true)).not.toMatch(/127\.0\.0\.1|\/gone\//);
  expect(words(false)).toMatch(/\/gone\/repo\.git[\s\S]*127\.0\.0\.1/);
  // Whoever has installed it has none of these files: the rollout is to be read on the embedded GitHub.
  expect(words(false)).toContain("/acme/fleet/blob/main/rollouts/payments.yaml");
  const tokens = { you: "you-1", alice: "alice-2" };
  const kept = lastWords([over], { violations: 0, durationMs: 1, once: false, ...embedded, tokens });
  expect(kept).toContain("R=127.0.0.1:9/acme/fleet GH_ENTERPRISE_TOKEN=alice-2; export GH_ENTERPRISE_TOKEN\n");
  expect(kept).toContain("git -C next tag v1.4.3 && git -C next push origin v1.4.3\n");
  expect(kept).toMatch(/release payments v1\.4\.3 -R http:\/\/\$R\n/);
  expect(kept).toMatch(/GH_ENTERPRISE_TOKEN=you-1\n .*get payments -w -R/);
  expect(words(true)).not.toMatch(/fixtures\/|docs\//);
  expect(words(true)).toContain("--fail eu-central-1-b=degraded");
  // Whoever has just seen a failure is not sent to see it again.
  const failed = lastWords([over], { violations: 0, durationMs: 1, once: true, ...embedded, faults: 1 });
  expect(failed).not.toContain("how a failure looks");
});

test("what a person is asked stands in a terminal without the marks of Markdown", () => {
  const ask = said("`/retry` looks again");
  const paused = { kind: "Failure" as const, by: "stagecoach", reason: said("us-1 failed"), at: "2026-11-21T09:00:00.000Z", ask };
  const turn = turnOf(modelOf(sampleRun({ phase: "Paused", paused }), Date.parse("2026-11-21T10:00:00Z")));
  expect(turn).toMatchObject({ asks: "payments is paused: us-1 failed. /retry looks again", verb: "retry" });
});

test("a fault is mended once its run has failed for the second time, so that a second /retry goes through", () => {
  const mended: string[] = [];
  const look = openMender(["us-1"], (cluster) => mended.push(cluster));
  const failedAt = (at: string) => {
    const paused = { kind: "Failure" as const, by: "stagecoach", reason: said("us-1 failed"), at, ask: said("/retry") };
    look([sampleRun({ phase: "Paused", paused })]);
    return [...mended];
  };
  expect(failedAt("2026-11-21T09:00:00.000Z")).toEqual([]);
  expect(failedAt("2026-11-21T09:00:00.000Z")).toEqual([]);
  expect(failedAt("2026-11-21T09:20:00.000Z")).toEqual(["us-1"]);
  expect(failedAt("2026-11-21T09:40:00.000Z")).toEqual(["us-1"]);
});
