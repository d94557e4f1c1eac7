import { describe, expect, test } from "vitest";
import type { Mirror } from "../../../adapters/git/port.ts";
import { steppedClock } from "../../../sim/github/testing/setup.ts";
import { historyDirectory, idleMirror, mirrorDirectory } from "./idle-mirror.ts";

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
  return { clock, story, mirror: idleMirror(open, clock), disk };
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

test("the journal of a repository is kept where no other repository's mirror can be, whatever that is called", () => {
  const names = ["acme/x", "acme/x.journal", "acme/x.journal.journal", "acme/x-journal", "acme/x_journal"];
  const places = names.flatMap((name) => [mirrorDirectory("/m", name), historyDirectory("/m", name)]);
  expect(new Set(places).size).toBe(places.length);
});
