import { expect, test } from "vitest";
import { type Comment, type Forge, ForgeError } from "../../../adapters/forge/port.ts";
import { said as words } from "../../../core/reasons/run.ts";
import type { Permission } from "../../../core/spec/commands.ts";
import { OPEN_POLICY } from "../../../core/spec/repo-config.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { commandInbox } from "./inbox.ts";
import { answersGiven } from "./testing/answers-given.ts";

const NOW = Date.parse("2026-11-21T10:00:00Z");
const HOUR_MS = 3_600_000;
const PLACE = [{ number: 1, shared: false }];

/** One PR with one comment of somebody's. Each `open` is a process of its own. */
function pullWith(body: string, permission: Permission = "maintain") {
  let now = NOW;
  let fails = false;
  const writes: string[] = [];
  const reactions: string[] = [];
  const at = new Date(NOW - 2000).toISOString();
  const comments: Comment[] = [{ id: 7, author: "ann", authorIsBot: false, ours: false, body, createdAt: at, updatedAt: at }];
  const forge: Partial<Forge> = {
    unedited: async (asked) => asked,
    repository: "acme/fleet",
    comments: async () => [...comments],
    permission: async () => permission,
    inTeam: async () => true,
    async react(comment, reaction) {
      if (fails) throw new ForgeError("Unavailable", 502, "bad gateway");
      reactions.push(`${comment} ${reaction}`);
    },
    async stickyComment(_pull, marker, text) {
      if (fails) throw new ForgeError("Unavailable", 502, "bad gateway");
      const said = `<!-- ${marker} -->\n${text}`;
      writes.push(said);
      const before = comments.findIndex((one) => one.body.startsWith(`<!-- ${marker} -->`));
      const own = { id: 100, author: "bot", authorIsBot: true, ours: true, body: said, createdAt: at, updatedAt: at };
      comments.splice(before === -1 ? comments.length : before, before === -1 ? 0 : 1, own);
      return { id: 100, url: "" };
    },
  };
  const clock = { now: () => now, after: () => () => undefined };
  const open = () => answersGiven(commandInbox({ forge: forge as Forge, clock, log: silentLog, policy: async () => OPEN_POLICY }));
  const pass = (ms: number) => {
    now += ms;
  };
  const fail = (on: boolean) => {
    fails = on;
  };
  const answers = () => comments.filter(({ ours }) => ours).map((one) => one.body);
  return { open, pass, writes, reactions, answers, fail };
}

async function hold(inbox: ReturnType<typeof commandInbox>, why: string): Promise<string[]> {
  const found = await inbox.read("payments", PLACE);
  for (const command of found) await inbox.answer(command, "waits", words(why));
  return found.map(({ text }) => text);
}

test.each(["/pause", "/abort", "/halt fire"])(
  "%s is not lost to a hold: it waits, in this process and the next, and is done once",
  async (text) => {
    const { open, pass, writes, reactions, answers } = pullWith(text);
    const first = open();
    for (let round = 0; round < 5; round++) expect(await hold(first, "the journal is held")).toEqual([text]);
    expect([writes.length, answers()]).toEqual([1, [expect.stringContaining("The journal is held")]]);
    pass(6 * HOUR_MS);
    const second = open();
    expect(await hold(second, "the journal is held")).toEqual([text]);
    const [command] = await second.read("payments", PLACE);
    await open().read("payments", PLACE);
    if (command !== undefined) await second.answer(command, "done", undefined);
    expect(await second.read("payments", PLACE)).toEqual([]);
    expect(answers()).toEqual([expect.not.stringContaining("The journal is held")]);
    expect(reactions).not.toContain("7 confused");
    expect(reactions).toContain("7 rocket");
  },
);

test("what was told that it waits is told by a process that never knew of it that it is done, in the same comment", async () => {
  const { open, answers } = pullWith("/pause");
  await hold(open(), "the journal is held");
  const second = open();
  const [command] = await second.read("payments", PLACE);
  if (command !== undefined) await second.answer(command, "done", undefined);
  expect(answers()).toEqual([expect.stringContaining("Done.")]);
});

test("what waits and is refused once the journal holds is refused for good, in the same comment", async () => {
  const { open, answers } = pullWith("/pause");
  const first = open();
  await hold(first, "the journal is held");
  const [command] = await first.read("payments", PLACE);
  if (command !== undefined) await first.answer(command, "refused", words("it is paused already"));
  expect(answers()).toEqual([expect.stringContaining("It is paused already")]);
});

test("what is bound to its moment is as late after a hold as at any other time", async () => {
  const { open, pass } = pullWith("/retry");
  const inbox = open();
  expect(await hold(inbox, "the journal is held")).toEqual(["/retry"]);
  pass(HOUR_MS / 2);
  expect(await inbox.read("payments", PLACE)).toEqual([]);
});

test("an answer that could not be written is written by the next reading", async () => {
  const { open, fail, answers } = pullWith("/pause");
  const inbox = open();
  fail(true);
  await hold(inbox, "the journal is held");
  fail(false);
  await hold(inbox, "the journal is held");
  expect(answers()).toEqual([expect.stringContaining("The journal is held")]);
});

test.each([
  ["/abort", "read", [expect.stringContaining("/abort")], "7 confused"],
  ["/help", "read", [expect.stringContaining("stagecoach:help")], "7 rocket"],
  ["/paus", "maintain", [expect.stringContaining("/paus")], "7 confused"],
  ["/pause", "maintain", [], "7 rocket"],
] as const)("an answer to %s by somebody who may %s, which GitHub did not take, is given by whoever comes after, once", async (...of) => {
  const [text, permission, told, mark] = of;
  const { open, fail, writes, reactions, answers, pass } = pullWith(text, permission);
  /** A look of one process: what a run's journal says was done is answered for as long as it is read. */
  const look = async (inbox: ReturnType<typeof open>) => {
    for (const command of await inbox.read("payments", PLACE)) await inbox.answer(command, "done", undefined);
    await inbox.settled();
  };
  fail(true);
  await look(open());
  expect([answers(), reactions]).toEqual([[], []]);
  fail(false);
  pass(600_000);
  const next = open();
  for (let n = 0; n < 3; n++) await look(next);
  expect([answers(), writes.length]).toEqual([told, told.length]);
  expect(reactions.filter((one) => one === mark)).toEqual([mark]);
  await look(open());
  expect(answers()).toEqual(told);
});
