import { expect, test } from "vitest";
import type { Comment, Forge } from "../forge/port.ts";
import { silentLog } from "../reconcile/context.ts";
import type { Permission } from "../rollout/world.ts";
import { commandInbox } from "./command-inbox.ts";

const PLACE = [{ number: 1, shared: false }];
const LONG_AGO = "2026-11-01T00:00:00.000Z";

function inboxOn(comments: Comment[], permissions: Map<string, Permission>) {
  const calls: string[] = [];
  const forge: Partial<Forge> = {
    comments: async () => comments,
    async permission(login) {
      calls.push(`permission ${login}`);
      return permissions.get(login) ?? "read";
    },
    async react(comment, reaction) {
      calls.push(`react ${comment} ${reaction}`);
    },
    async stickyComment() {
      calls.push("sticky");
      return { id: 1, url: "" };
    },
  };
  const clock = { now: () => Date.parse("2026-11-21T10:00:00Z"), after: () => () => undefined };
  return { calls, inbox: commandInbox({ forge: forge as Forge, clock, log: silentLog }) };
}

function said(id: number, author: string, body: string): Comment {
  return { id, author, authorIsBot: false, ours: false, body, createdAt: LONG_AGO, updatedAt: LONG_AGO };
}

test("a command refused for want of permission costs nothing again, and does not act once its author is given it", async () => {
  const permissions = new Map<string, Permission>();
  const { inbox, calls } = inboxOn([said(7, "mallory", "/pause")], permissions);
  expect(await inbox.read("payments", PLACE)).toEqual([]);
  expect(calls).toEqual(["permission mallory", "react 7 confused", "sticky"]);
  permissions.set("mallory", "write");
  expect(await inbox.read("payments", PLACE)).toEqual([]);
  expect(calls).toHaveLength(3);
});

test("one account is told ten refusals in one look, and none of the others later", async () => {
  const comments = Array.from({ length: 40 }, (_, index) => said(index, "mallory", `/pause ${index}`));
  const { inbox, calls } = inboxOn(comments, new Map());
  await inbox.read("payments", PLACE);
  await inbox.read("payments", PLACE);
  expect(calls.filter((call) => call === "sticky")).toHaveLength(10);
  expect(calls.filter((call) => call.startsWith("permission"))).toHaveLength(1);
});

test("a crowd of strangers is asked about in several looks, and who may act is heard in the end", async () => {
  const crowd = Array.from({ length: 60 }, (_, index) => said(index, `stranger-${index}`, "/abort"));
  const { inbox, calls } = inboxOn([...crowd, said(99, "wim", "/abort")], new Map([["wim", "write"]]));
  expect(await inbox.read("payments", PLACE)).toEqual([]);
  expect(calls.filter((call) => call.startsWith("permission"))).toHaveLength(50);
  expect((await inbox.read("payments", PLACE)).map((command) => command.actor)).toEqual(["wim"]);
  expect(calls.filter((call) => call.startsWith("permission"))).toHaveLength(61);
});
