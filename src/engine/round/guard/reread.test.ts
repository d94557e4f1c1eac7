import { beforeEach, describe, expect, test, vi } from "vitest";
import type { ControlPlane, RereadOutcome } from "../../../adapters/argocd/port.ts";
import { merged, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { World } from "../../../core/run/state/world.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import { openActor } from "../act/act.ts";
import { type RepoContext, silentLog } from "../context.ts";
import type { Decision } from "../decide.ts";
import { observeHealth, readHealth } from "../observe/observe-health.ts";

interface Asked {
  name: string;
  answer(outcome: RereadOutcome): void;
}

let now: number;
let asked: Asked[];
let health: Map<string, string>;
let context: RepoContext;
let memory: Parts;
const settle = () => new Promise(setImmediate);

beforeEach(() => {
  now = Date.parse("2026-11-21T10:00:00Z");
  asked = [];
  health = new Map();
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh: true, since: "" }),
    application: (_namespace, name): ApplicationView | undefined => {
      if (health.get(name) === "gone") return undefined;
      const status = { health: { status: health.get(name) ?? "Healthy" } };
      return decodeApplication(merged(rawApplication({ metadata: { name } }), { status }), now);
    },
    reread: (_namespace, name) => new Promise((answer) => void asked.push({ name, answer })),
  };
  const planes = new Map([["hub", plane as ControlPlane]]);
  context = { planes, clock: { now: () => now, after: () => () => undefined }, log: silentLog } as unknown as RepoContext;
  memory = partsOf(context);
});

const keys = (count: number) => Array.from({ length: count }, (_, i) => `hub/argocd/app-${i}`);

/** Answers whatever is asked until nothing more is. */
async function answerAll(outcome: (name: string) => RereadOutcome = () => ({ kind: "read" })): Promise<string[]> {
  const names: string[] = [];
  for (await settle(); asked.length > 0; await settle()) {
    for (const { name, answer } of asked.splice(0)) {
      names.push(name);
      answer(outcome(name));
    }
  }
  return names;
}

describe("reading soon", () => {
  test("asks for each once, at most eight at a time, and for all in the end", async () => {
    for (const key of keys(20)) memory.reader.readSoon(key);
    for (const key of keys(20)) memory.reader.readSoon(key);
    expect(asked).toHaveLength(8);
    expect((await answerAll()).sort()).toEqual(
      keys(20)
        .map((key) => key.slice(11))
        .sort(),
    );
  });

  test("one that failed says why, and is tried again after a moment only", async () => {
    const [key = ""] = keys(1);
    expect(memory.reader.readSoon(key)).toBeUndefined();
    await answerAll(() => ({ kind: "failed", why: said("timeout") }));
    expect(memory.reader.readSoon(key)).toEqual(said("timeout"));
    expect(asked).toEqual([]);
    now += 2000;
    expect(memory.reader.readSoon(key)).toEqual(said("timeout"));
    await answerAll();
    expect(memory.reader.readSoon(key)).toBeUndefined();
  });

  test("those that arrive within a moment are waited for, and no others", async () => {
    const [first = "", second = ""] = keys(2);
    const arrive = memory.reader.arriving();
    expect(await arrive([first])).toBe(false);
    memory.reader.readSoon(first);
    const arrived = arrive([first, second]);
    await answerAll();
    expect(await arrived).toBe(true);
    memory.reader.readSoon(second);
    expect(await arrive([first, second])).toBe(false);
    await answerAll();
  });

  test("a run of many batches that wait for silent reads costs one moment, not one for each", async () => {
    vi.useFakeTimers();
    try {
      const all = keys(8);
      for (const key of all) memory.reader.readSoon(key);
      const arrive = memory.reader.arriving();
      const looks = (async () => {
        const seen: boolean[] = [];
        for (const key of all) seen.push(await arrive([key]));
        return seen;
      })();
      await vi.advanceTimersByTimeAsync(300);
      expect(vi.getTimerCount()).toBe(0);
      expect(await looks).toEqual(all.map(() => false));
    } finally {
      vi.useRealTimers();
    }
    await answerAll();
  });

  test("of a control plane that is not there it says so, and one of an unexpected error holds nothing up", async () => {
    const nowhere = await memory.reader.readAll(["nowhere/argocd/a"]);
    expect(nowhere.get("nowhere/argocd/a")?.failed).toEqual({ code: "PLANE_MISSING", plane: "nowhere" });
    const plane = context.planes.get("hub");
    if (plane !== undefined) plane.reread = () => Promise.reject(new Error("boom"));
    expect((await memory.reader.readAll(["hub/argocd/a"])).get("hub/argocd/a")?.failed).toEqual(said("boom"));
  });
});

const world = { pulls: new Map(), guards: new Map() } as unknown as World;

describe("before a merge", () => {
  test("each that is asked for is read, and shown as it is after that", async () => {
    const reading = readHealth(context.planes, memory.reader, world, ["hub/argocd/app-1", "hub/argocd/app-2", "hub/argocd/app-3"]);
    const names = await answerAll((name) => {
      if (name === "app-2") health.set(name, "Degraded");
      if (name === "app-3") health.set(name, "gone");
      return { kind: name === "app-3" ? "gone" : "read" };
    });
    expect(names).toEqual(["app-1", "app-2", "app-3"]);
    const readAt = "2026-11-21T10:00:00.000Z";
    expect((await reading).health).toEqual(
      new Map([
        ["hub/argocd/app-1", { status: "Healthy", readAt }],
        ["hub/argocd/app-2", { status: "Degraded", readAt }],
        ["hub/argocd/app-3", { status: "gone", readAt }],
      ]),
    );
  });

  test("what could not be read is shown as that, and none is tried after it", async () => {
    const reading = readHealth(context.planes, memory.reader, world, keys(20));
    expect(await answerAll(() => ({ kind: "failed", why: said("timeout") }))).toHaveLength(8);
    const read = (await reading).health ?? new Map();
    expect(read.size).toBe(8);
    expect(read.get("hub/argocd/app-0")).toEqual({ failed: said("timeout"), readAt: "2026-11-21T10:00:00.000Z" });
  });

  test("until then what is shown is what was last told", () => {
    const targets = [{ key: "hub/argocd/app-1", phase: "Baked" }];
    const batches = [
      { number: 1, kind: "Planned", phase: "Settled", merged: {}, targets },
      { number: 2, kind: "Planned", phase: "Open", targets: [] },
    ];
    health.set("app-1", "Degraded");
    const seen = observeHealth(context.planes, { batches } as unknown as Run, new Map());
    expect(seen).toEqual(new Map([["hub/argocd/app-1", { status: "Degraded" }]]));
    expect(asked).toEqual([]);
  });

  test("the heads are read after that, so that a base which moved meanwhile is merged onto by nobody", async () => {
    const merges: number[] = [];
    const acting = {
      ...context,
      journalBranch: "journal",
      mirror: {
        remoteHeads: async () =>
          new Map([
            ["main", "d"],
            ["journal", "j"],
          ]),
      },
      forge: { mergePull: async ({ number }: { number: number }) => ({ kind: "merged", commit: String(merges.push(number)) }) },
    } as unknown as RepoContext;
    const batch = { number: 1, phase: "Merging", targets: [], intention: { at: "2026-11-21T10:00:00Z", head: "h" } };
    const spec = { delivery: { method: "squash", labels: [], reviewers: { teams: [], users: [] } }, pins: [] };
    const run = { spec, release: { values: {} }, plan: { stages: [] }, trigger: { author: "ann" }, batches: [batch] } as unknown as Run;
    const effects = [{ kind: "Merge" as const, batch: 1, pull: 7, head: "h" }];
    const advanced = { run, effects, change: "transition" as const, events: [] };
    const decision = { decidedAt: performance.now(), now, before: run, world, remarks: [], advanced } satisfies Decision;
    await openActor(acting, { ...partsOf(acting, { journal: "j" }), recorder: { anchor: async () => {} } })([decision], {
      base: "c",
      baseBranch: "main",
      whole: true,
    });
    expect(merges).toEqual([]);
  });
});
