import { expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { HostDown, openBreakers } from "./breaker.ts";

function world() {
  const clock = manualClock(Date.parse("2026-11-21T09:00:00.000Z"));
  const breakers = openBreakers(clock);
  let sent = 0;
  const host = { status: 502 };
  const ask = (name = "github.com", asker?: string) =>
    breakers.through(
      { host: name, asker },
      async () => {
        sent += 1;
        if (host.status === 0) throw new Error("ECONNREFUSED");
        return host.status;
      },
      (came) => "error" in came || came.answer === 502,
    );
  return { clock, host, ask, sent: () => sent };
}

test("ten minutes of 502 cost a host a score of requests, however many ask each second", async () => {
  const { clock, ask, sent } = world();
  for (let second = 0; second < 600; second++) {
    for (let repo = 0; repo < 50; repo++) await ask().catch(() => undefined);
    clock.advance(1000);
  }
  expect(sent()).toBeLessThan(25);
});

test("it is asked again by one request, and by all once that was answered", async () => {
  const { clock, host, ask, sent } = world();
  host.status = 0;
  for (let n = 0; n < 5; n++) await expect(ask()).rejects.toThrow("ECONNREFUSED");
  await expect(ask()).rejects.toThrow(HostDown);
  clock.advance(1000);
  host.status = 200;
  const [one, other] = await Promise.allSettled([ask(), ask()]);
  expect([one.status, other.status, sent()]).toEqual(["fulfilled", "rejected", 6]);
  await expect(Promise.all([ask(), ask(), ask()])).resolves.toEqual([200, 200, 200]);
});

test("an answer in between, an error that is an answer, and another host's faults leave no host alone", async () => {
  const { host, ask, sent } = world();
  for (let n = 0; n < 20; n++) {
    host.status = n % 4 === 0 ? 404 : 502;
    await ask();
  }
  host.status = 502;
  for (let n = 0; n < 9; n++) await ask("argocd.example.com").catch(() => undefined);
  await expect(ask()).resolves.toBe(502);
  expect(sent()).toBe(20 + 5 + 1);
});

test("whoever has a repository that fails by itself keeps nobody else off the host", async () => {
  const { clock, host, ask } = world();
  host.status = 200;
  await ask("github.com", "acme/well");
  host.status = 502;
  for (let n = 0; n < 50; n++) await expect(ask("github.com", "acme/ill")).resolves.toBe(502);
  // Once it is down for all, the one that fails by itself does not get every try.
  for (let n = 0; n < 5; n++) await ask("github.com", "acme/well").catch(() => undefined);
  clock.advance(1000);
  await ask("github.com", "acme/ill").catch(() => undefined);
  clock.advance(2000);
  await expect(ask("github.com", "acme/ill")).rejects.toThrow(HostDown);
  host.status = 200;
  await expect(ask("github.com", "acme/well")).resolves.toBe(200);
});
