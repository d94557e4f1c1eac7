import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { refusedModel } from "../../core/report/model/refused.ts";
import { createMetrics } from "./metrics.ts";

async function scraped(metrics: ReturnType<typeof createMetrics>): Promise<string> {
  let text = "";
  const response = {
    writeHead: () => response,
    end(body: string) {
      text = body;
    },
  };
  await metrics.answer(response as unknown as ServerResponse);
  return text;
}

test("releases that start no run, and what needs attention, are numbers by repository, gone once all is well", async () => {
  const metrics = createMetrics();
  const refused = [refusedModel({ rollout: "payments", pull: 7, problems: [] })];
  let standing = [{ repository: "acme/fleet", attention: ["the journal cannot be written", "no checks"], refused }];
  metrics.watch({ runs: () => [], standing: () => standing, repositories: () => ({ served: 1, suspended: 0 }), planes: [] });
  const text = await scraped(metrics);
  expect(text).toContain('stagecoach_releases_refused{repository="acme/fleet"} 1');
  expect(text).toContain('stagecoach_attention{repository="acme/fleet"} 2');
  standing = [];
  expect(await scraped(metrics)).not.toContain("acme/fleet");
});
