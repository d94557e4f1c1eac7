import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { wideRun } from "../../../../test/support/wide-run.ts";
import { apiApp } from "./routes.ts";
import { hearing } from "./testing/hearing.ts";

const HERE = { incoming: { socket: { remoteAddress: "127.0.0.1" }, headers: {} } };
const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined };

test("of 2,000 targets one that becomes healthy is a change of less than 5 KB", async () => {
  let run = wideRun(2000, 40);
  const app = apiApp({ runs: () => [{ repository: "acme/config", run }], onChange: () => () => undefined }, clock);
  const read = await app.request("/api/v1/repos/acme/config/rollouts/payments", {}, HERE);
  const whole = (await read.text()).length;
  const events = async (query: string) => hearing(await app.request(`/api/v1/events${query}`, {}, HERE));
  const rollout = await events(`?rollout=acme/config/payments&after=${read.headers.get("Stagecoach-Sequence")}`);
  const fleet = await events("");
  await Promise.all([rollout.next(), fleet.next()]);
  run = wideRun(2000, 41);
  await app.request("/api/v1/fleet", {}, HERE);
  const [changed, row] = [await rollout.next(), await fleet.next()];
  expect([changed.event, row.event]).toEqual(["rollout", "fleet"]);
  expect(changed.bytes).toBeLessThan(5 * 1024);
  expect(row.bytes).toBeLessThan(5 * 1024);
  expect(whole).toBeGreaterThan(100 * changed.bytes);
  await Promise.all([rollout.close(), fleet.close()]);
});

test("500 rollouts of 25 repositories are read at once, in less than 1 MB", async () => {
  const runs = Array.from({ length: 500 }, (_unused, index) => ({
    repository: `acme/config-${index % 25}`,
    run: sampleRun({ rollout: `payments-${index}` }),
  }));
  const app = apiApp({ runs: () => runs, onChange: () => () => undefined }, clock);
  const text = await (await app.request("/api/v1/fleet", {}, HERE)).text();
  expect((JSON.parse(text) as { rollouts: object[] }).rollouts).toHaveLength(500);
  expect(text.length).toBeLessThan(1024 * 1024);
});

test("a run of 2,000 targets is sent in less than 60 KB to whoever takes it compressed, and known by its tag all the same", async () => {
  const run = wideRun(2000, 40);
  const app = apiApp({ runs: () => [{ repository: "acme/config", run }], onChange: () => () => undefined }, clock);
  const path = "/api/v1/repos/acme/config/rollouts/payments";
  const packed = await app.request(path, { headers: { "accept-encoding": "gzip" } }, HERE);
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect((await packed.arrayBuffer()).byteLength).toBeLessThan(60 * 1024);
  const again = await app.request(
    path,
    { headers: { "accept-encoding": "gzip", "if-none-match": packed.headers.get("etag") ?? "" } },
    HERE,
  );
  expect(again.status).toBe(304);
});

test("a change is drawn as often for 200 viewers as for one, and told to each of them", async () => {
  const drawn = async (viewers: number) => {
    let looked = 0;
    const counted = (healthy: number) => {
      const run = wideRun(400, healthy);
      const { plan } = run;
      return Object.defineProperty(run, "plan", {
        enumerable: true,
        get: () => {
          looked += 1;
          return plan;
        },
      });
    };
    let run = counted(40);
    const app = apiApp({ runs: () => [{ repository: "acme/config", run }], onChange: () => () => undefined }, clock);
    const read = await app.request("/api/v1/repos/acme/config/rollouts/payments", {}, HERE);
    const address = `/api/v1/events?rollout=acme/config/payments&after=${read.headers.get("Stagecoach-Sequence")}`;
    const lines = await Promise.all(Array.from({ length: viewers }, async () => hearing(await app.request(address, {}, HERE))));
    await Promise.all(lines.map((line) => line.next()));
    looked = 0;
    run = counted(41);
    await app.request("/api/v1/fleet", {}, HERE);
    const heard = await Promise.all(lines.map((line) => line.next()));
    expect(heard.map(({ event }) => event)).toEqual(Array.from({ length: viewers }, () => "rollout"));
    await Promise.all(lines.map((line) => line.close()));
    return looked;
  };
  const alone = await drawn(1);
  expect(alone).toBeGreaterThan(0);
  expect(await drawn(200)).toBe(alone);
});
