import { spawnSync } from "node:child_process";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { iso } from "../../../core/base/time.ts";
import { refusedModel } from "../../../core/report/model/refused.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { createMetrics, type MetricsSource } from "./metrics.ts";

const NOW = Date.parse("2026-11-21T12:00:00.000Z");

async function scraped(metrics: ReturnType<typeof createMetrics>): Promise<string> {
  let text = "";
  const response = {
    writeHead: () => response,
    end(body: string) {
      text = body;
    },
  };
  await metrics.answer(response as unknown as ServerResponse);
  return text;
}

interface World {
  runs: { repository: string; run: Run }[];
  standing: ReturnType<MetricsSource["standing"]>;
  fresh: boolean;
}

function bot(options: Partial<Parameters<typeof createMetrics>[0]> = {}) {
  const metrics = createMetrics({ version: "1.2.3", names: "Rollouts", most: 500, ...options });
  const world: World = { runs: [], standing: [], fresh: true };
  metrics.watch({
    now: () => NOW,
    runs: () => world.runs,
    standing: () => world.standing,
    repositories: () => ({ served: 1, suspended: 0 }),
    queue: () => ({ due: 2, running: 1, longestMs: 1500 }),
    planes: [{ name: "hub", state: () => ({ fresh: world.fresh, since: iso(NOW - 90_000) }) }],
  });
  return { metrics, world, lines: async (part: string) => (await scraped(metrics)).split("\n").filter((line) => line.includes(part)) };
}

function runOf(rollout: string, change: Partial<Run> = {}): Run {
  return sampleRun({ rollout, ...change });
}

function ended(run: Run): Run {
  return { ...run, phase: "Succeeded", endedAt: iso(NOW) };
}

describe("numbers for Prometheus", () => {
  test("releases that start no run, and what needs attention, are numbers by repository, gone once all is well", async () => {
    const { world, lines } = bot();
    const refused = [refusedModel({ rollout: "payments", pull: 7, problems: [] })];
    world.standing = [{ repository: "acme/fleet", attention: ["the journal cannot be written", "no checks"], refused }];
    expect(await lines("acme/fleet")).toEqual([
      'stagecoach_releases_refused{repository="acme/fleet"} 1',
      'stagecoach_attention{repository="acme/fleet"} 2',
    ]);
    world.standing = [];
    expect(await lines("acme/fleet")).toEqual([]);
  });

  test("the phase of a run with how long it lasts, and the gate it waits for; nothing of these once it has ended", async () => {
    const { world, lines } = bot();
    const run = runOf("payments", { phase: "Paused", since: iso(NOW - 60_000) });
    world.runs = [{ repository: "acme/fleet", run }];
    const of = 'repository="acme/fleet",rollout="payments"';
    expect(await lines("stagecoach_run")).toEqual(
      expect.arrayContaining([
        `stagecoach_runs{${of},phase="Paused"} 1`,
        `stagecoach_run_phase_seconds{${of},phase="Paused"} 60`,
        `stagecoach_run_wait_seconds{${of},gate="person"} 60`,
      ]),
    );
    world.runs = [{ repository: "acme/fleet", run: ended(run) }];
    const after = await lines(of);
    expect(after.filter((line) => line.includes("stagecoach_run"))).toEqual([`stagecoach_runs{${of},phase="Succeeded"} 1`]);
    expect(await lines("stagecoach_build_info{")).toEqual([`stagecoach_build_info{version="1.2.3",node="${process.versions.node}"} 1`]);
  });

  test("an Argo CD that cannot be seen tells for how long; a queue tells who waits and the longest", async () => {
    const { world, lines } = bot();
    const unseen = () => lines("stagecoach_control_plane_unseen_seconds{");
    expect(await unseen()).toEqual(['stagecoach_control_plane_unseen_seconds{control_plane="hub"} 0']);
    world.fresh = false;
    expect(await unseen()).toEqual(['stagecoach_control_plane_unseen_seconds{control_plane="hub"} 90']);
    expect((await lines("stagecoach_queue")).filter((line) => !line.startsWith("#"))).toEqual([
      'stagecoach_queue_repositories{state="due"} 2',
      'stagecoach_queue_repositories{state="running"} 1',
      "stagecoach_queue_wait_seconds 1.5",
    ]);
  });

  test("what ended is counted as it is recorded, and never from what is found: neither a restart nor a replica counts it again", async () => {
    const { metrics, world, lines } = bot();
    const run = runOf("payments");
    world.runs = [{ repository: "acme/fleet", run: ended(run) }];
    const counted = () => lines("stagecoach_runs_ended_total{");
    await lines("");
    expect(await counted()).toEqual([]);
    metrics.recorded("acme/fleet", run, ended(run));
    metrics.recorded("acme/fleet", ended(run), ended(run));
    expect(await counted()).toEqual([
      'stagecoach_runs_ended_total{repository="acme/fleet",rollout="payments",kind="release",outcome="Succeeded"} 1',
    ]);
    expect((await lines("stagecoach_lead_time_seconds_count")).length).toBe(1);
    world.runs = [];
    expect(await lines("payments")).toEqual([]);
  });

  test("names may be left out: of rollouts, or of repositories as well; the sums stay", async () => {
    for (const [names, left] of [
      ["Repositories", 'repository="acme/fleet",rollout=""'],
      ["None", 'repository="",rollout=""'],
    ] as const) {
      const { metrics, world, lines } = bot({ names });
      world.runs = ["a-secret", "b-secret"].map((name) => ({ repository: "acme/fleet", run: runOf(name, { phase: "Progressing" }) }));
      world.standing = [{ repository: "acme/fleet", attention: ["x"], refused: [] }];
      metrics.recorded("acme/fleet", runOf("a-secret"), ended(runOf("a-secret")));
      expect(await lines("stagecoach_runs{")).toEqual([`stagecoach_runs{${left},phase="Progressing"} 2`]);
      expect(await lines("secret")).toEqual([]);
      if (names === "None") expect(await lines("acme")).toEqual([]);
    }
  });
});

describe("a repository with hostile names", () => {
  const MOST = 50;

  test("100,000 rollouts make no more series than there are places: the others are one, and counted; memory does not grow with them", async () => {
    const { metrics, world, lines } = bot({ most: MOST });
    const template = runOf("x", { phase: "Progressing", batches: [] });
    const wave = (from: number) =>
      Array.from({ length: 20_000 }, (_, index) => ({ repository: "acme/fleet", run: { ...template, rollout: `r${from + index}` } }));
    const sizes: number[] = [];
    for (let from = 0; from < 100_000; from += 20_000) {
      world.runs = wave(from);
      for (const { run } of world.runs.slice(0, 500)) metrics.recorded("acme/fleet", run, ended(run));
      sizes.push((await lines("stagecoach_")).length);
    }
    const text = (await lines("stagecoach_runs{")).filter((line) => !line.includes('"other"'));
    expect(text.length).toBe(MOST);
    expect(await lines('stagecoach_runs{repository="other"')).toEqual([
      `stagecoach_runs{repository="other",rollout="other",phase="Progressing"} ${20_000 - MOST}`,
    ]);
    expect(await lines('stagecoach_metrics_left_out{of="rollouts"')).toEqual([
      `stagecoach_metrics_left_out{of="rollouts"} ${20_000 - MOST}`,
    ]);
    expect(Math.max(...sizes)).toBeLessThan((sizes[0] as number) * 1.2);
  });

  test("a rollout that is gone leaves its place to another", async () => {
    const { world, lines } = bot({ most: 1 });
    const own = () => lines("stagecoach_runs{");
    world.runs = [{ repository: "acme/fleet", run: runOf("alpha") }];
    expect((await own()).join()).toContain("alpha");
    world.runs = [{ repository: "acme/fleet", run: runOf("beta") }];
    expect((await own()).join()).toContain("beta");
    expect((await lines("alpha")).length).toBe(0);
  });

  test("a name of quotes, line ends, letters of other scripts and no end stays one value of one label", async () => {
    const { world, lines } = bot();
    const name = `"} 1\nstagecoach_evil{x="\\Ж${"y".repeat(10_000)}`;
    world.runs = [{ repository: "acme/fleet", run: runOf(name) }];
    expect(await lines("\nstagecoach_evil")).toEqual([]);
    const [line = ""] = await lines("stagecoach_runs{");
    expect(line).toContain(String.raw`rollout="\"} 1\nstagecoach_evil{x=\"\\Жy`);
    expect(line.length).toBeLessThan(400);
  });
});

describe.skipIf(spawnSync("promtool", ["--version"]).status !== 0)("promtool", () => {
  test("finds nothing to say against what is exported", async () => {
    const { metrics, world } = bot();
    const run = runOf("payments");
    world.runs = [{ repository: "acme/fleet", run }];
    metrics.recorded("acme/fleet", run, ended(run));
    metrics.delivery("push", "taken");
    metrics.rate({ installation: 1, resource: "core", left: 4000 });
    const input = (await scraped(metrics)).replace(/^(# (HELP|TYPE) )?(process|nodejs)_.*\n/gm, "");
    const { stdout, stderr, status } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
  });
});
