import { expect, test } from "vitest";
import { type Forge, ForgeError } from "../../../adapters/forge/port.ts";
import { silentLog } from "../context.ts";
import { withPatience } from "../patience.ts";
import { openComments } from "./send-comment.ts";

test("each who wants the same body is told since when it stands there, also while it is on its way", async () => {
  let calls = 0;
  const forge = { stickyComment: async () => ({ at: `2026-11-23T10:00:0${calls++}Z` }) };
  const comments = openComments({ forge, log: silentLog, clock: { now: () => 0 } } as never, { line: () => "" });
  const told: string[] = [];
  const comment = { key: "run 1", pull: 7, marker: "m", body: "same" };
  for (const who of ["first", "second"]) comments.send(comment, { sent: (at) => void told.push(`${who} ${at}`) });
  await comments.settled();
  comments.send(comment, { sent: (at) => void told.push(`third ${at}`) });
  expect([calls, told]).toEqual([1, ["first", "second", "third"].map((who) => `${who} 2026-11-23T10:00:00Z`)]);
});

test("each is told where it could not be sent, and the next send tries again", async () => {
  let isDown = true;
  const forge = {
    async stickyComment() {
      if (isDown) throw new Error("down");
      return { at: "2026-11-23T10:00:00Z" };
    },
  };
  const comments = openComments({ forge, log: silentLog, clock: { now: () => 0 } } as never, { line: () => "" });
  const told: string[] = [];
  const then = { failed: () => void told.push("failed"), sent: () => void told.push("sent") };
  const comment = { key: "run 1", pull: 7, marker: "m", body: "same" };
  comments.send(comment, then);
  comments.send(comment, then);
  await comments.settled();
  isDown = false;
  comments.send(comment, then);
  await comments.settled();
  expect(told).toEqual(["failed", "failed", "sent"]);
});

test("what is said only in place of another comment is asked for once, and made nowhere", async () => {
  let [asked, calls] = [0, 0];
  const there = new Set(["stands"]);
  const forge = {
    stickyComment: async () => ({ at: `2026-11-23T10:00:0${calls++}Z` }),
    async stickyUrl(_pull: number, marker: string) {
      asked += 1;
      return there.has(marker) ? "https://forge.invalid/1" : undefined;
    },
  };
  const comments = openComments({ forge, log: silentLog, clock: { now: () => 0 } } as never, { line: () => "" });
  for (let n = 0; n < 2; n++) {
    for (const marker of ["stands", "never was"]) comments.send({ key: marker, pull: 7, marker, body: "solved", ifThere: true });
    await comments.settled();
  }
  expect([asked, calls]).toEqual([2, 1]);
});

test("where GitHub refuses to say whether it is there, it is asked less often each time, not in every round", async () => {
  let [now, asked] = [0, 0];
  const clock = { now: () => now } as never;
  const attention = { line: () => "", note: () => undefined } as never;
  const refusing: Partial<Forge> = {
    async stickyUrl() {
      asked += 1;
      throw new ForgeError("NotFound", 404, "no such pull request");
    },
  };
  const comments = openComments({ forge: withPatience(refusing as Forge, attention, clock), log: silentLog, clock }, attention);
  for (; now < 60_000; now += 5000) {
    comments.send({ key: "a", pull: 7, marker: "m", body: "solved", ifThere: true });
    await comments.settled();
  }
  expect(asked).toBe(3);
});
