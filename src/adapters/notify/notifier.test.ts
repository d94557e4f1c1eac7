import { AsyncResource } from "node:async_hooks";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import type { Notice } from "../../core/report/notify/notice.ts";
import { askFor, checkMayWrite, NotOurs } from "../outbound/asker.ts";
import { openNotifier } from "./notifier.ts";
import { NotSent, type Sender, type Telling } from "./port.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "stagecoach-notify-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const AT = "2026-11-21T09:00:00.000Z";

function notice(id: string, repository = "acme/fleet", number?: number): Notice {
  const shown = { title: id, tone: "warn" as const, lines: [], links: [] };
  const run = number === undefined ? {} : { run: { rollout: "payments", number, release: {}, card: { ...shown, startedAt: AT } } };
  return { ...shown, id, repository, source: "https://github.com/acme/fleet", events: [{ event: "ended", id, at: AT }], ...run };
}

const telling = (notices: Notice[], to = ["calls"], cards: Telling["cards"] = new Map()): Telling => ({
  told: { rollouts: {}, refused: [] },
  notices: notices.map((one) => ({ to, notice: one })),
  cards,
});

interface Place {
  /** What is thrown, one after the other. */
  faults: Error[];
  sent: string[];
  hangs: boolean;
  /** As what sends asks. */
  before?: () => void;
}

function world(places: Record<string, Place>) {
  const clock = manualClock(0);
  const logged: string[] = [];
  const note = (level: string) => (fields: object, message: string) => void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { info: note("info"), warn: note("warn"), error: note("error") };
  const senderOf = (place: Place): Sender => ({
    most: 10,
    async send(one, thread) {
      place.before?.();
      if (place.hangs) await new Promise(() => undefined);
      const fault = place.faults.shift();
      if (fault !== undefined) throw fault;
      place.sent.push(thread === undefined ? one.title : `${one.title} in ${thread.ts}`);
      return { answer: "ok", thread: one.run && { channel: "C", ts: "1.0" } };
    },
    async update(card) {
      place.sent.push(`updated: ${card.title}`);
    },
  });
  const destinations = Object.entries(places).map(([name, place]) => ({ name, repositories: ["acme/*"], sender: senderOf(place) }));
  // As Node's timers do.
  const timers = { ...clock, after: (ms: number, wake: () => void) => clock.after(ms, AsyncResource.bind(wake)) };
  const open = () => openNotifier({ destinations, directory, clock: timers, log });
  return { clock, logged, open };
}

const place = (faults: Error[] = []): Place => ({ faults, sent: [], hangs: false });

async function run(notifier: ReturnType<typeof openNotifier>, clock: ReturnType<typeof manualClock>, times = 20): Promise<void> {
  for (let n = 0; n < times; n++) {
    await notifier.settled();
    clock.advance(300_000);
  }
  await notifier.settled();
}

test("each message is sent once; after a restart what was not sent is, and what was is not", async () => {
  const calls = place([new NotSent("down", true)]);
  const { clock, open } = world({ calls });
  const first = open();
  first.tell("acme/Fleet", telling([notice("a"), notice("b")]));
  await first.settled();
  expect(calls.sent).toEqual([]);
  await first.close();
  const second = open();
  expect(await second.told("acme/fleet")).toEqual({ rollouts: {}, refused: [] });
  await run(second, clock, 4);
  expect(calls.sent).toEqual(["a", "b"]);
  await second.close();
  const third = open();
  await third.told("acme/fleet");
  await run(third, clock, 4);
  expect(calls.sent).toEqual(["a", "b"]);
});

test("what one repository's round gave is sent as that one's, though another's, which is no longer ours, began the line", async () => {
  const calls = place();
  const { clock, open } = world({ calls });
  const notifier = open();
  let isOurs = true;
  const mayWrite = () => {
    if (!isOurs) throw new NotOurs("acme/a");
  };
  calls.before = checkMayWrite;
  askFor("acme/a", () => notifier.tell("acme/a", telling([notice("first", "acme/a"), notice("second", "acme/a")])), mayWrite);
  await notifier.settled();
  isOurs = false;
  askFor("acme/b", () => notifier.tell("acme/b", telling([notice("of b", "acme/b")])));
  await run(notifier, clock, 4);
  expect(calls.sent).toEqual(["first", "of b"]);
});

test("a run's message is known after a restart, and brought up to date once for each change", async () => {
  const calls = place();
  const { clock, open } = world({ calls });
  const first = open();
  first.tell("acme/fleet", telling([notice("started", "acme/fleet", 7)]));
  await run(first, clock, 2);
  await first.close();
  const second = open();
  const card = { title: "new", tone: "busy" as const, lines: [], links: [], startedAt: AT };
  for (let n = 0; n < 3; n++) second.tell("acme/fleet", telling([], [], new Map([["acme/fleet payments 7", card]])));
  await run(second, clock, 3);
  second.tell("acme/fleet", telling([notice("ended", "acme/fleet", 7)]));
  await run(second, clock, 2);
  expect(calls.sent).toEqual(["started", "updated: new", "ended in 1.0"]);
});

test("10,000 at once are a digest, and another repository waits for none of them", async () => {
  const calls = place();
  const { clock, open } = world({ calls });
  const notifier = open();
  notifier.tell("acme/noisy", telling(Array.from({ length: 10_000 }, (_, n) => notice(`n${n}`, "acme/noisy"))));
  notifier.tell("acme/quiet", telling([notice("quiet", "acme/quiet")]));
  await run(notifier, clock, 8);
  expect(calls.sent.length).toBeLessThan(5);
  expect(calls.sent).toContain("quiet");
  expect(calls.sent).toContain("acme/noisy: 10000 things happened");
});

test("one that never answers holds up no other destination, and nobody who tells", async () => {
  const [dead, calls] = [{ ...place(), hangs: true }, place()];
  const { clock, open } = world({ dead, calls });
  const notifier = open();
  notifier.tell("acme/fleet", telling([notice("a")], ["dead", "calls"]));
  while (calls.sent.length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
  }
  expect(calls.sent).toEqual(["a"]);
});

test("what is refused for good is given up and said; what says when is tried then", async () => {
  const calls = place([new NotSent("no such channel", false), new NotSent("slow down", true, 30_000)]);
  const { clock, logged, open } = world({ calls });
  const notifier = open();
  notifier.tell("acme/fleet", telling([notice("a"), notice("b")]));
  await notifier.settled();
  clock.advance(1000);
  await notifier.settled();
  clock.advance(29_000);
  await notifier.settled();
  expect(calls.sent).toEqual([]);
  clock.advance(1000);
  await notifier.settled();
  expect(calls.sent).toEqual(["b"]);
  expect(logged.filter((line) => line.startsWith("error"))).toEqual([expect.stringContaining("no such channel")]);
});

test("a repository uses what it may alone, whatever its settings say", async () => {
  const calls = place();
  const { clock, open } = world({ calls });
  const notifier = open();
  expect([notifier.mayUse("acme/fleet", "calls"), notifier.mayUse("evil/fleet", "calls"), notifier.mayUse("acme/fleet", "other")]).toEqual([
    true,
    false,
    false,
  ]);
  notifier.tell("evil/fleet", telling([notice("a", "evil/fleet")]));
  await run(notifier, clock, 2);
  expect(calls.sent).toEqual([]);
});

test("a file that is broken is as none", async () => {
  const { open, logged } = world({ calls: place() });
  const notifier = open();
  notifier.tell("acme/fleet", telling([notice("a")]));
  await notifier.settled();
  await notifier.close();
  await writeFile(join(directory, "notifications", "acme%2Ffleet.json"), '{"version":1,"outbox":[{"to":"calls"');
  expect(await open().told("acme/fleet")).toBeUndefined();
  expect(logged.some((line) => line.startsWith("warn"))).toBe(true);
});

test("what a newer version kept is left as it is, which is said in one sentence; people are told all the same", async () => {
  const calls = place();
  const { clock, open, logged } = world({ calls });
  const file = join(directory, "notifications", "acme%2Ffleet.json");
  const theirs = '{"version":2,"outbox":{"calls":[]},"more":1}';
  await mkdir(dirname(file));
  await writeFile(file, theirs);
  const notifier = open();
  expect(await notifier.told("acme/Fleet")).toBeUndefined();
  for (const id of ["a", "b"]) notifier.tell("acme/Fleet", telling([notice(id, "acme/Fleet", 7)]));
  await run(notifier, clock, 3);
  await notifier.close();
  expect(calls.sent).toEqual(["a", "b in 1.0"]);
  expect(await readFile(file, "utf8")).toBe(theirs);
  expect(logged.filter((line) => line.startsWith("warn"))).toEqual([expect.stringMatching(/newer version .*not kept; run that version/)]);
});
