import { beforeEach, describe, expect, test } from "vitest";
import type { ControlPlane, RereadOutcome } from "../../../adapters/argocd/port.ts";
import { merged, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import { act } from "../act.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { type RepoMemory, repoMemory } from "../memory.ts";
import { guardFollowing, mayFollow } from "./refresh-before-merge.ts";
import { readAll, readSoon } from "./refresh-read.ts";

interface Asked {
  name: string;
  answer(outcome: RereadOutcome): void;
}

let now: number;
let asked: Asked[];
let health: Map<string, string>;
let context: RepoContext;
let memory: RepoMemory;
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
  memory = repoMemory({} as Parameters<typeof repoMemory>[0]);
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
    for (const key of keys(20)) readSoon(context, memory, key);
    for (const key of keys(20)) readSoon(context, memory, key);
    expect(asked).toHaveLength(8);
    expect((await answerAll()).sort()).toEqual(
      keys(20)
        .map((key) => key.slice(11))
        .sort(),
    );
  });

  test("one that failed says why, and is tried again after a moment only", async () => {
    const [key = ""] = keys(1);
    expect(readSoon(context, memory, key)).toBeUndefined();
    await answerAll(() => ({ kind: "failed", why: "timeout" }));
    expect(readSoon(context, memory, key)).toBe("timeout");
    expect(asked).toEqual([]);
    now += 2000;
    expect(readSoon(context, memory, key)).toBe("timeout");
    await answerAll();
    expect(readSoon(context, memory, key)).toBeUndefined();
  });

  test("of a control plane that is not there it says so, and one of an unexpected error holds nothing up", async () => {
    expect(await readAll(context, ["nowhere/argocd/a"])).toBe("nowhere/argocd/a cannot be read: there is no control plane nowhere");
    const plane = context.planes.get("hub");
    if (plane !== undefined) plane.reread = () => Promise.reject(new Error("boom"));
    expect(await readAll(context, ["hub/argocd/a"])).toBe("hub/argocd/a cannot be read: boom");
  });
});

const target = (name: string, phase: string) => ({ key: `hub/argocd/${name}`, cluster: `hub/${name}`, application: name, phase });
const first = { number: 1, phase: "Settled", merged: {}, targets: [target("app-1", "Baked"), target("app-2", "Failed")] };
const second = { number: 2, stage: 0, phase: "Open", targets: [target("app-3", "Proposed")] };
const runOf = (over: object = {}) => ({ rollout: "r", batches: [first, { ...second, ...over }] }) as unknown as Run;
const next = (over: object = {}) => ({ ...second, ...over }) as unknown as Batch;
const OK: Guard = { ok: true, base: "c", at: "2026-11-21T10:00:00Z" };

describe("before the next batch merges", () => {
  test("what was confirmed before it is read anew, and only that", async () => {
    const allowed = mayFollow(context, runOf(), next());
    expect(await answerAll()).toEqual(["app-1"]);
    expect(await allowed).toBe(true);
  });

  test("it is held where the read finds a Degraded that was never told, and the guard says why", async () => {
    expect(guardFollowing(context, runOf(), next(), OK)).toEqual(OK);
    const allowed = mayFollow(context, runOf(), next());
    await answerAll((name) => {
      health.set(name, "Degraded");
      return { kind: "read" };
    });
    expect(await allowed).toBe(false);
    expect(guardFollowing(context, runOf(), next(), OK)).toMatchObject({
      ok: false,
      retry: true,
      why: "app-1, confirmed before, is Degraded now: it gets well or counts as failed first",
    });
  });

  test("it is held where the read finds that one is gone", async () => {
    const allowed = mayFollow(context, runOf(), next());
    await answerAll((name) => {
      health.set(name, "gone");
      return { kind: "gone" };
    });
    expect(await allowed).toBe(false);
    expect(guardFollowing(context, runOf(), next(), OK)).toMatchObject({
      ok: false,
      why: expect.stringContaining("app-1, confirmed before, is gone"),
    });
  });

  test("the heads are read after that, so that a base which moved meanwhile is merged onto by nobody", async () => {
    let base = "c";
    const merges: number[] = [];
    const acting = {
      ...context,
      journalBranch: "journal",
      mirror: {
        remoteHeads: async () =>
          new Map([
            ["main", base],
            ["journal", "j"],
          ]),
      },
      forge: { mergePull: async ({ number }: { number: number }) => ({ kind: "merged", commit: String(merges.push(number)) }) },
    } as unknown as RepoContext;
    const run = runOf();
    Object.assign(run, {
      spec: { delivery: { method: "squash" }, pins: [] },
      release: { values: {} },
      plan: { stages: [] },
      trigger: { author: "ann" },
      batches: [first, { ...second, intention: { at: "2026-11-21T10:00:00Z", head: "h" } }],
    });
    const scope = { run, base: "c", baseBranch: "main", journalHead: "j", commands: [], decidedAt: performance.now(), now };
    const acted = act(acting, memory, scope, { kind: "Merge", batch: 2, pull: 7, head: "h" });
    await answerAll(() => {
      base = "d";
      return { kind: "read" };
    });
    await acted;
    expect(merges).toEqual([]);
  });

  test("it is held where one cannot be read", async () => {
    const allowed = mayFollow(context, runOf(), next());
    await answerAll(() => ({ kind: "failed", why: "timeout" }));
    expect(await allowed).toBe(false);
  });

  test("what puts clusters back is not held by anybody's health", async () => {
    health.set("app-1", "Degraded");
    expect(guardFollowing(context, runOf(), next({ kind: "Revert" }), OK)).toEqual(OK);
    expect(await mayFollow(context, runOf(), next({ kind: "Hotfix" }))).toBe(true);
    expect(asked).toEqual([]);
  });
});
