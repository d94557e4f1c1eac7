import { expect, test } from "vitest";
import { type Comment, ForgeError } from "../../../adapters/forge/port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openWritten } from "./written.ts";

const AT = "2026-11-21T10:00:00.000Z";
const said = (id: number, body: string): Comment => ({
  ...{ id, author: "mia", authorIsBot: false, ours: false, body, createdAt: AT, updatedAt: AT },
});

function written(unedited: (asked: readonly Comment[]) => readonly Comment[]) {
  const asked: string[] = [];
  const again: number[] = [];
  const clock = { time: 0, now: () => clock.time, after: () => () => undefined };
  const forge = {
    async unedited(comments: readonly Comment[]) {
      asked.push(...comments.map(({ body }) => body));
      return unedited(comments);
    },
  };
  return { isAsWritten: openWritten({ forge, clock, log: silentLog, again: (ms) => again.push(ms) }), asked, again, clock };
}

test("what somebody else put into a maintainer's comment within its second is nobody's word, and is asked about once", async () => {
  const { isAsWritten, asked, clock } = written(() => []);
  expect(await isAsWritten(said(1, "/promote"))).toBe(false);
  clock.time = 3_600_000;
  expect(await isAsWritten(said(1, "Looks fine"))).toBe(false);
  expect(asked).toEqual(["/promote"]);
});

test("a command that waits is asked about again, and so is a text that is another one now", async () => {
  const { isAsWritten, asked, clock } = written((comments) => comments);
  for (const body of ["/halt fire", "/halt fire", "/abort"]) expect(await isAsWritten(said(1, body))).toBe(true);
  clock.time = 10_000;
  expect(await isAsWritten(said(1, "/abort"))).toBe(true);
  expect(asked).toEqual(["/halt fire", "/abort", "/abort"]);
});

test("while GitHub does not say whether it was edited it does not act, and it does as soon as that is known", async () => {
  let isDown = true;
  const { isAsWritten, again } = written((comments) => {
    if (isDown) throw new ForgeError("Unavailable", 502, "bad gateway");
    return comments;
  });
  expect([await isAsWritten(said(1, "/promote")), again]).toEqual([false, [5000]]);
  isDown = false;
  expect(await isAsWritten(said(1, "/promote"))).toBe(true);
});
