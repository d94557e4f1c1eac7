import { createHmac } from "node:crypto";
import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createMetrics } from "../../src/surfaces/server/telemetry/metrics.ts";
import { type Journey, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

function get(url: string, host: string, path: string, more: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { headers: { host, ...more } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.once("error", reject);
    sent.end();
  });
}

test("a page elsewhere reads ours under a name that it lets point here; a delivery bears a secret that was changed", async () => {
  const former = "the-secret-of-before";
  journey = await startJourney({
    bot: () => ({
      inside: { host: "127.0.0.1", port: 0, hosts: ["stagecoach.example.com", "inside.svc"] },
      publicUrl: "https://stagecoach.example.com/page/",
      metrics: createMetrics({ version: "1", names: "Rollouts", most: 10 }),
    }),
    formerWebhookSecret: former,
  });
  const { insideUrl, url } = journey.bot;
  const statuses = async (host: string) => await Promise.all(["/", "/api/v1/fleet", "/healthz"].map((path) => get(insideUrl, host, path)));
  expect(await statuses("evil.example.net")).toEqual([421, 421, 200]);
  expect(await statuses("localhost.evil.example.net:80")).toEqual([421, 421, 200]);
  expect(await statuses("stagecoach.example.com")).toEqual([200, 200, 200]);
  expect(await statuses("localhost:3001")).toEqual([200, 200, 200]);
  expect(await statuses("127.0.0.1")).toEqual([200, 200, 200]);

  // Who is let in to the page is asked who they are; the metrics ask nobody, so they are not told to whoever comes by its public name.
  const metrics = (host: string, more?: Record<string, string>) => get(insideUrl, host, "/metrics", more);
  expect(await Promise.all(["inside.svc", "10.0.0.1:3001", "localhost"].map((host) => metrics(host)))).toEqual([200, 200, 200]);
  expect(await Promise.all(["stagecoach.example.com", "STAGECOACH.example.com.:443"].map((host) => metrics(host)))).toEqual([404, 404]);
  expect(await metrics("inside.svc", { "x-forwarded-host": "stagecoach.example.com" })).toBe(404);

  const body = JSON.stringify({ zen: "x", hook_id: 1 });
  const deliver = async (secret: string) => {
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "content-type": "application/json", "x-github-event": "ping", "x-github-delivery": crypto.randomUUID() };
    const answer = await fetch(`${url}/api/github/webhooks`, {
      method: "POST",
      body,
      headers: { ...headers, "x-hub-signature-256": signature },
    });
    return answer.status;
  };
  expect([await deliver(journey.world.webhookSecret), await deliver(former), await deliver("another")]).toEqual([200, 200, 400]);
});
