import { describe, expect, test } from "vitest";
import type { Mirror } from "../../../adapters/git/port.ts";
import { steppedClock } from "../../../sim/github/testing/setup.ts";
import { coalesced } from "../coalesced.ts";
import { restingMirror } from "./idle-mirror.ts";

function mirrors() {
  const clock = steppedClock();
  const story: string[] = [];
  const disk = { broken: false };
  const open = async (): Promise<Mirror> => {
    story.push("open");
    if (disk.broken) throw new Error("no disk");
    const mirror: Partial<Mirror> = {
      head: async (branch) => `head of ${branch}`,
      close: async () => void story.push("close"),
    };
    return mirror as Mirror;
  };
  return { clock, story, mirror: restingMirror(open, clock), disk };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a resting mirror", () => {
  test("is opened once it is used, kept while it is, let go after a minute, and opened again", async () => {
    const { clock, story, mirror } = mirrors();
    expect(story).toEqual([]);
    expect(await Promise.all([mirror.head("a"), mirror.head("b")])).toEqual(["head of a", "head of b"]);
    clock.step(50_000);
    await mirror.head("c");
    clock.step(50_000);
    await turn();
    expect(story).toEqual(["open"]);
    clock.step(20_000);
    await turn();
    expect(story).toEqual(["open", "close"]);
    await mirror.head("d");
    expect(story).toEqual(["open", "close", "open"]);
  });

  test("that could not be opened is tried again at the next use", async () => {
    const { story, mirror, disk } = mirrors();
    disk.broken = true;
    await expect(mirror.head("a")).rejects.toThrow("no disk");
    disk.broken = false;
    expect(await mirror.head("a")).toBe("head of a");
    expect(story).toEqual(["open", "open"]);
  });

  test("once closed stays closed", async () => {
    const { story, mirror } = mirrors();
    await mirror.head("a");
    await mirror.close();
    await expect(mirror.head("a")).rejects.toThrow(/closed/);
    expect(story).toEqual(["open", "close"]);
  });

  test("may be handed on by a promise", async () => {
    const { mirror } = mirrors();
    expect(await Promise.resolve(mirror)).toBe(mirror);
  });
});

describe("coalesced work", () => {
  test("runs once for all who ask while it runs, and after it: none is answered by a run that began before", async () => {
    let runs = 0;
    let release: () => void = () => undefined;
    const ask = coalesced(async () => {
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
    const ask = coalesced(async () => {
      if (fail) throw new Error("down");
    });
    await expect(ask()).rejects.toThrow("down");
    fail = false;
    await expect(ask()).resolves.toBeUndefined();
  });
});
