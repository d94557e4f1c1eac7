import { describe, expect, test } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { Repos } from "../tenancy/repos.ts";
import { coalesce, Resync } from "./resync.ts";

const DELIVERIES = "failed deliveries could not be listed; the next look does";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A GitHub on which nobody installed the App, and which answers these questions with an error. */
function resyncOn(
  failing: "installations" | "repositories" | "deliveries",
  { status = 502, times = Number.POSITIVE_INFINITY, failsAt = 0 } = {},
) {
  const told: string[] = [];
  const waits: number[] = [];
  const error = Object.assign(new Error("bad gateway"), { status });
  let [asked, lists] = [0, 0];
  const octokit = {
    paginate: async (what: unknown) => {
      if ((failing === what && ++asked <= times) || (what === "installations" && ++lists === failsAt)) throw error;
      return failing === "repositories" && what === "installations" ? [{ id: 7, account: { login: "acme" } }] : [];
    },
    rest: {
      apps: {
        listInstallations: "installations",
        listReposAccessibleToInstallation: "repositories",
        listWebhookDeliveries: () => Promise.reject(error),
      },
    },
  };
  const log = { ...silentLog, warn: (_fields: object, message: string) => void told.push(message) };
  const unopened = () => Promise.reject(new Error("there is no repository to open"));
  const resync = new Resync({
    octokit: async () => octokit as never,
    repos: new Repos({ log, open: unopened, forget: async () => undefined }),
    queue: { forget: () => undefined, share: () => undefined, leads: () => true },
    wake: () => undefined,
    clock: {
      now: () => Date.parse("2026-11-21T10:00:00Z"),
      after(ms, wake) {
        waits.push(ms);
        setImmediate(wake);
        return () => undefined;
      },
    },
    log,
    everyMs: 60_000,
  });
  return { told, waits, resync };
}

test("where GitHub cannot list deliveries the look at everything is done all the same, and it is told", async () => {
  const { told, resync } = resyncOn("deliveries");
  await resync.now();
  expect(told).toEqual([DELIVERIES]);
});

test("where it cannot list the installations nothing was looked at, and that is an error", async () => {
  await expect(resyncOn("installations").resync.now()).rejects.toThrow("bad gateway");
});

describe("a start", () => {
  test("waits for a GitHub that is away, longer each time, and says so until it is back", async () => {
    const { told, waits, resync } = resyncOn("installations", { times: 7 });
    const first = resync.first();
    await turn();
    expect(resync.isWaiting()).toBe(true);
    await first;
    expect([resync.isWaiting(), waits]).toEqual([false, [1000, 2000, 4000, 4000, 4000, 4000, 4000]]);
    expect(told).toEqual([...Array(7).fill("GitHub does not answer: the start waits for it"), DELIVERIES]);
  });

  test("asks again soon for the repositories of an installation that could not be listed: it takes none over till then", async () => {
    const { waits, resync } = resyncOn("repositories", { times: 3 });
    await resync.first();
    for (let n = 0; n < 20; n++) await turn();
    expect(waits).toEqual([1000, 2000, 4000]);
  });

  test("asks again, too, where GitHub fails altogether while it is asked again", async () => {
    const { waits, resync } = resyncOn("repositories", { times: 1, failsAt: 2 });
    await resync.first();
    for (let n = 0; n < 20; n++) await turn();
    expect(waits).toEqual([1000, 2000]);
  });

  test("waits for nothing that no waiting puts right", async () => {
    const { waits, resync } = resyncOn("installations", { status: 401 });
    await expect(resync.first()).rejects.toThrow("bad gateway");
    expect([waits, resync.isWaiting()]).toEqual([[], false]);
  });

  test("waits no longer than whoever started it", async () => {
    const stopping = new AbortController();
    const first = resyncOn("installations").resync.first(stopping.signal);
    await turn();
    stopping.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
  });
});

describe("coalesced work", () => {
  test("runs once for all who ask while it runs, and after it: none is answered by a run that began before", async () => {
    let runs = 0;
    let release: () => void = () => undefined;
    const ask = coalesce(async () => {
      runs += 1;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    const first = ask();
    const others = [ask(), ask(), ask()];
    release();
    await first;
    await turn();
    expect(runs).toBe(2);
    release();
    await Promise.all(others);
    await ask.settled();
    expect(runs).toBe(2);
  });

  test("that fails is told to who asked for it, and the next run begins all the same", async () => {
    let fail = true;
    const ask = coalesce(async () => {
      if (fail) throw new Error("down");
    });
    await expect(ask()).rejects.toThrow("down");
    fail = false;
    await expect(ask()).resolves.toBeUndefined();
  });
});
