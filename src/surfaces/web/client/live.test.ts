import { afterEach, expect, test, vi } from "vitest";
import { follow, runWanted } from "./live.ts";
import { eachSecond } from "./times.tsx";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a rollout that a bot which has just started does not know yet is shown once it does", async () => {
  vi.useFakeTimers();
  const answers = [Response.json({}, { status: 404 }), Response.json({ rollout: "payments" })];
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
