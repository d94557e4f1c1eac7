import { describe, expect, test } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { openRepos } from "../tenancy/repos.ts";
import { coalesce, openResync } from "./resync.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A GitHub on which nobody installed the App, and which answers these questions with an error. */
function resyncOn(failing: "installations" | "deliveries") {
  const told: string[] = [];
  const error = Object.assign(new Error("bad gateway"), { status: 502 });
  const octokit = {
    paginate: async () => {
      if (failing === "installations") throw error;
      return [];
    },
    rest: { apps: { listInstallations: {}, listWebhookDeliveries: () => Promise.reject(error) } },
  };
  const log = { ...silentLog, warn: (_fields: object, message: string) => void told.push(message) };
  const unopened = () => Promise.reject(new Error("there is no repository to open"));
  const resync = openResync({
    octokit: async () => octokit as never,
    repos: openRepos({ log, open: unopened, forget: async () => undefined }),
    queue: { forget: () => undefined, share: () => undefined, leads: () => true },
    wake: () => undefined,
    clock: { now: () => Date.parse("2026-11-21T10:00:00Z"), after: () => () => undefined },
    log,
    everyMs: 60_000,
  });
  return { told, resync };
}

test("where GitHub cannot list deliveries the look at everything is done all the same, and it is told", async () => {
  const { told, resync } = resyncOn("deliveries");
  await resync.now();
  expect(told).toEqual(["failed deliveries could not be listed; the next look does"]);
});

test("where it cannot list the installations nothing was looked at, and that is an error", async () => {
  await expect(resyncOn("installations").resync.now()).rejects.toThrow("bad gateway");
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
