import { describe, expect, test } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { partsOf } from "../../../engine/testing/parts.ts";
import type { Repos } from "../tenancy/repos.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";
import { type BotEvent, eventHandler, openInbox, readEvent } from "./on-event.ts";

const US = "stagecoach[bot]";
const OURS = ["stagecoach/plan", "stagecoach/gate"];

function listener() {
  const story: string[] = [];
  const loop = partsOf({});
  const context = { repository: "Acme/Config" };
  const served = {
    login: US,
    loop,
    pullsNeedFetch: false,
    installationId: 1,
    context,
    hear: () => undefined,
    inbox: { touched: (pull: number) => story.push(`read #${pull}`) },
  };
  const repos: Partial<Repos> = {
    has: (key) => key === "acme/config",
    get: () => served as unknown as ServedRepo,
    opened: () => [served as unknown as ServedRepo],
  };
  const hear = eventHandler({
    repos: repos as Repos,
    wake: (repository) => story.push(`look at ${repository}`),
    rediscover: () => story.push("rediscover"),
  });
  return { story, served, hear: (event: Partial<BotEvent>) => hear({ ...EVENT, ...event }) };
}

const EVENT: BotEvent = {
  name: "push",
  action: undefined,
  deliveryId: "1",
  repository: "Acme/Config",
  installationId: 1,
  sender: "alice",
  pull: undefined,
};

describe("what an event makes the bot look at", () => {
  test("a comment is read, and the repo looked at, with the base asked for anew", () => {
    const { story, served, hear } = listener();
    hear({ name: "issue_comment", pull: 7 });
    expect([story, served.loop.remote.hasNews]).toEqual([["read #7", "look at acme/config"], true]);
  });

  test("a review: who has approved is asked anew, so that it counts at once", () => {
    const { story, served, hear } = listener();
    served.loop.people.forgetReviews = () => void story.push("forget reviews");
    hear({ name: "pull_request_review", action: "submitted", pull: 7 });
    expect(story).toEqual(["read #7", "forget reviews", "look at acme/config"]);
  });

  test("a merge group that is built because we asked for it: its checks are due with the event, not with the resync", () => {
    const { story, served, hear } = listener();
    hear({ name: "merge_group", action: "checks_requested", sender: US });
    expect([story, served.pullsNeedFetch, served.loop.remote.hasNews]).toEqual([["look at acme/config"], true, true]);
  });

  test.each(["installation", "installation_repositories", "repository", "organization"])("%s: which repositories there are", (name) => {
    const { story, hear } = listener();
    hear({ name });
    expect(story).toEqual(["rediscover"]);
  });

  test("a repository that is not served, or none at all: nothing", () => {
    const { story, hear } = listener();
    hear({ repository: "else/where" });
    hear({ repository: undefined });
    expect(story).toEqual([]);
  });

  test("what we did ourselves, however often: nothing, so that no loop can come of our own comments", () => {
    const { story, hear } = listener();
    for (const name of ["issue_comment", "push", "check_run", "check_suite", "pull_request", "status"])
      hear({ name, action: "created", sender: US });
    expect(story).toEqual([]);
  });

  const HEAD = "a".repeat(40);

  test.each([
    ["one check", { name: "check_run", check: { head: HEAD, name: "stagecoach/plan" } }, ["stagecoach/plan"]],
    ["all of ours", { name: "check_suite", check: { head: HEAD } }, ["stagecoach/plan", "stagecoach/gate"]],
  ])("%s is asked for again: it is owed at that commit, and open PRs are looked at", (_what, event, owed) => {
    const { story, served, hear } = listener();
    hear({ ...event, action: "rerequested" });
    expect(OURS.filter((name) => served.loop.checkRuns.isAsked(HEAD, name))).toEqual(owed);
    expect([story, served.pullsNeedFetch, served.loop.remote.hasNews]).toEqual([["look at acme/config"], true, true]);
  });

  test.each([
    ["a check of ours that has ended", { action: "completed", check: { head: HEAD, name: "stagecoach/plan" } }],
    ["a name that is none of ours", { action: "rerequested", check: { head: HEAD, name: "ci/build" } }],
    ["one that we asked for ourselves", { action: "rerequested", check: { head: HEAD, name: "stagecoach/plan" }, sender: US }],
  ])("%s is not asked for again", (_what, event) => {
    const { served, hear } = listener();
    hear({ name: "check_run", ...event });
    expect(OURS.filter((name) => served.loop.checkRuns.isAsked(HEAD, name))).toEqual([]);
  });

  test("new permissions are taken up by the repositories of that installation, and looked at", () => {
    const { story, served, hear } = listener();
    hear({ name: "installation", action: "new_permissions_accepted", installationId: 2, repository: undefined });
    expect([story, served.loop.permissions.mayHaveChanged]).toEqual([["rediscover"], false]);
    hear({ name: "installation", action: "new_permissions_accepted", repository: undefined });
    expect([story.slice(1), served.loop.permissions.mayHaveChanged, served.pullsNeedFetch]).toEqual([
      ["look at acme/config", "rediscover"],
      true,
      true,
    ]);
  });

  test("what a merge queue does in our name is looked at", () => {
    const { story, hear } = listener();
    hear({ name: "pull_request", action: "closed", sender: US });
    hear({ name: "merge_group", action: "destroyed", sender: US });
    expect(story).toEqual(["look at acme/config", "look at acme/config"]);
  });
});

describe("the inbox", () => {
  test("takes a GUID once; one that could not be noted may come again", () => {
    const heard: string[] = [];
    let broken = true;
    const take = openInbox({
      log: silentLog,
      onEvent: (event) => {
        if (broken) throw new Error("no room");
        heard.push(event.deliveryId);
      },
    });
    const delivery = { id: "guid-1", name: "push", payload: {} };
    expect(() => take(delivery)).toThrow("no room");
    broken = false;
    take(delivery);
    take(delivery);
    expect(heard).toEqual(["guid-1"]);
  });

  test("remembers so many GUIDs and no more", () => {
    let heard = 0;
    const take = openInbox({ log: silentLog, onEvent: () => void heard++ });
    for (let n = 0; n <= 10_000; n++) take({ id: `guid-${n}`, name: "push", payload: {} });
    take({ id: "guid-10000", name: "push", payload: {} });
    expect(heard).toBe(10_001);
    take({ id: "guid-0", name: "push", payload: {} });
    expect(heard).toBe(10_002);
  });

  test("a check's commit is read where it is one", () => {
    const head = "0".repeat(40);
    const read = (payload: object) => readEvent("1", "check_run", payload).check;
    expect(read({ check_run: { name: "n", head_sha: head } })).toEqual({ head, name: "n" });
    expect(read({ check_suite: { head_sha: head } })).toEqual({ head });
    expect(read({ check_run: { name: "n", head_sha: "main; rm" } })).toBeUndefined();
  });

  test.each([
    [null],
    [7],
    ["text"],
    [[]],
    [{ repository: null, sender: 1, issue: { number: 1.5 } }],
    [{ repository: { full_name: "x".repeat(10_000) } }],
  ])("reads nothing out of %j that is not there", (payload) => {
    const event = readEvent("1", "push", payload);
    expect([event.repository, event.installationId, event.sender, event.pull, event.action]).toEqual(Array(5).fill(undefined));
  });
});

test("what a person writes is heard of a repo that was given up and is not open now; what a bot writes, or a push, waits", () => {
  const woken: (string | undefined)[] = [];
  const repos: Partial<Repos> = { has: () => true, get: () => undefined };
  const wake = (_repository: string, by?: string) => woken.push(by);
  const hear = eventHandler({ repos: repos as Repos, wake, rediscover: () => undefined });
  for (const event of [{ name: "issue_comment" }, { name: "issue_comment", sender: US }, { name: "push" }]) hear({ ...EVENT, ...event });
  expect(woken).toEqual(["alice", undefined, undefined]);
});
