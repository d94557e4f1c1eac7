import { afterEach, expect, test, vi } from "vitest";
import { follow, runWanted } from "./live.ts";
import { eachSecond } from "./times.tsx";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a rollout that a bot which has just started does not know yet is shown once it does", async () => {
  vi.useFakeTimers();
  const answers = [
    Response.json({}, { status: 404 }),
    Response.json({ rollout: "payments" }, { headers: { "Stagecoach-Sequence": "here-0" } }),
  ];
  vi.stubGlobal("fetch", async () => answers.shift());
  const addresses: string[] = [];
  const source = class {
    constructor(address: string) {
      addresses.push(address);
    }
    addEventListener(): void {}
    close(): void {}
  };
  vi.stubGlobal("EventSource", source);
  const links: string[] = [];
  const end = follow("", runWanted("acme/config", "payments"), ({ link }) => links.push(link));
  await vi.advanceTimersByTimeAsync(60_000);
  end();
  expect(links).toEqual(["missing", "live"]);
  expect(addresses).toHaveLength(1);
});

test("a run under its own number is followed until the next one begins, and is then read as it ended", async () => {
  vi.useFakeTimers();
  const followed = { headers: { "Stagecoach-Sequence": "here-0" } };
  const answers = [Response.json({ number: 42, state: "Progressing" }, followed), Response.json({ number: 42, state: "Succeeded" })];
  vi.stubGlobal("fetch", async () => answers.shift());
  const heard = new Map<string, (event: { data: string }) => void>();
  const addresses: string[] = [];
  const source = class {
    constructor(address: string) {
      addresses.push(address);
    }
    addEventListener(name: string, listener: (event: { data: string }) => void): void {
      heard.set(name, listener);
    }
    close(): void {}
  };
  vi.stubGlobal("EventSource", source);
  const states: unknown[] = [];
  const end = follow("", runWanted("acme/config", "payments", { number: 42 }), ({ document, isFollowed }) =>
    states.push([document?.state, isFollowed]),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  const tell = (path: string, value: unknown) =>
    heard.get("rollout")?.({ data: JSON.stringify({ patch: [{ op: "replace", path, value }] }) });
  tell("/state", "Paused");
  tell("/number", 43);
  await vi.advanceTimersByTimeAsync(60_000);
  end();
  expect(states).toEqual([
    ["Progressing", true],
    ["Paused", true],
    ["Succeeded", false],
  ]);
  expect(addresses).toEqual(["/api/v1/events?rollout=acme%2Fconfig%2Fpayments&whole&after=here-0"]);
});

test("a line that is cut every second is gone on with where it broke off, and nothing is read anew", async () => {
  vi.useFakeTimers();
  const fetched = vi.fn(async () => Response.json({ number: 42 }, { headers: { "Stagecoach-Sequence": "here-0" } }));
  vi.stubGlobal("fetch", fetched);
  const opened: { readyState: number; onerror?: () => void; onopen?: () => void }[] = [];
  const source = class {
    readyState = 0;
    constructor() {
      opened.push(this);
    }
    addEventListener(): void {}
    close(): void {}
  };
  vi.stubGlobal("EventSource", source);
  const links: string[] = [];
  const end = follow("", runWanted("acme/config", "payments"), ({ link }) => links.push(link));
  await vi.advanceTimersByTimeAsync(0);
  for (let cut = 0; cut < 3; cut++) {
    opened[0]?.onerror?.();
    await vi.advanceTimersByTimeAsync(1_000);
    opened[0]?.onopen?.();
  }
  expect([fetched.mock.calls.length, opened.length, links.at(-1)]).toEqual([1, 1, "live"]);
  // The server says that there is nothing to hear any more: it is asked anew.
  if (opened[0] !== undefined) opened[0].readyState = 2;
  opened[0]?.onerror?.();
  await vi.advanceTimersByTimeAsync(3_000);
  expect([fetched.mock.calls.length, opened.length]).toEqual([2, 2]);
  end();
});

test.each([
  ["of a moment that has not come", { at: "2099-01-01T00:00:00.000Z" }, 400, { code: "BAD_REQUEST" }, "ahead"],
  ["of one before the first run", { at: "2020-01-01T00:00:00.000Z" }, 404, { code: "NOT_FOUND" }, "before"],
  ["of what is not there", {}, 404, { code: "NOT_FOUND" }, "missing"],
  ["whose journal is broken", {}, 500, { code: "UNREADABLE", detail: "runs/payments/41/run.yaml" }, "unread"],
  ["on which the server failed", {}, 500, { code: "FAULT" }, "fault"],
  ["that a proxy answers in its own words", {}, 500, undefined, "lost"],
  ["while the server starts", {}, 503, { code: "UNAVAILABLE" }, "lost"],
] as const)("a run %s is told as that, by the server's clock", async (_name, when, status, body, link) => {
  vi.useFakeTimers();
  const headers = { "Stagecoach-Now": "2026-11-21T09:04:00.000Z" };
  vi.stubGlobal("fetch", async () => (body === undefined ? new Response("<html>", { status }) : Response.json(body, { status, headers })));
  const told: { link: string; detail?: string | undefined; clock: { now: number } }[] = [];
  const end = follow("", runWanted("acme/config", "payments", when), (live) => told.push(live));
  await vi.advanceTimersByTimeAsync(0);
  end();
  const isTold = body !== undefined && link !== "lost";
  expect(told.map((one) => [one.link, one.detail])).toEqual([[link, isTold && "detail" in body ? body.detail : undefined]]);
  if (isTold) expect(told[0]?.clock.now).toBe(Date.parse("2026-11-21T09:04:00.000Z"));
});

test("times that leave one screen and come on the next are drawn once a second", () => {
  vi.useFakeTimers();
  let drawn = 0;
  eachSecond(() => undefined)();
  const stop = eachSecond(() => {
    drawn += 1;
  });
  vi.advanceTimersByTime(5000);
  expect(drawn).toBe(5);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
