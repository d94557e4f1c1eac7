import { expect, test } from "vitest";
import { refusedModel } from "../../core/report/model/refused.ts";
import { runComment } from "../../core/report/run/run-comment.ts";
import { REFUSED_RELEASE, SITUATIONS } from "../../core/report/testing/situations.ts";
import { webApp } from "./server.ts";
import { pageText } from "./testing/page-text.ts";

const planes = [{ name: "hub", uiUrl: "https://argocd.example.com" }];
const repository = "acme/config";

type Source = Parameters<typeof webApp>[0];

/** What `/api/runs` answers, drawn. */
async function drawn(now: number, source: Pick<Source, "runs" | "standing">): Promise<string> {
  const clock = { now: () => now, after: () => () => undefined };
  const answer = await webApp({ ...source, planes, onChange: () => () => undefined }, clock).request("/api/runs");
  return pageText((await answer.json()) as Parameters<typeof pageText>[0]);
}

const refused = (now: number) =>
  drawn(now, { runs: () => [], standing: () => [{ repository, attention: [], refused: [refusedModel(REFUSED_RELEASE)] }] });

test("in every situation the page shows what was agreed on", async () => {
  const pages: string[] = [];
  for (const [name, situation] of Object.entries(SITUATIONS)) {
    const { run, now } = situation();
    pages.push(`${"=".repeat(20)} ${name}\n\n${await drawn(now, { runs: () => [{ repository, run }] })}\n`);
  }
  pages.push(`${"=".repeat(20)} refused before it began\n\n${await refused(Date.parse(REFUSED_RELEASE.at))}\n`);
  await expect(pages.join("\n")).toMatchFileSnapshot("../../core/report/__snapshots__/situations/page.txt");
});

test("a stage without clusters says so, on the page and in the comment", async () => {
  const { run, now } = SITUATIONS["running"]?.() ?? { run: undefined, now: 0 };
  const [first] = run?.plan.stages ?? [];
  if (run === undefined || first === undefined) throw new Error("the situation has stages");
  const empty = { ...first, name: "empty", clusters: [], requeued: [], batches: [] };
  const emptied = { ...run, plan: { ...run.plan, stages: [...run.plan.stages, empty] } };
  const page = await drawn(now, { runs: () => [{ repository, run: emptied }] });
  expect(page).toMatch(/empty\s+no clusters/);
  expect(runComment(emptied, now)).toContain("| no clusters |");
});

test("a release that started no run says which, where each problem is, what to do, and what starts it after all", async () => {
  const text = await refused(Date.parse(REFUSED_RELEASE.at));
  const [problem] = refusedModel(REFUSED_RELEASE).problems;
  expect(text).toContain("payments: v2 (#1) was merged and started no run.");
  expect(text).toContain(`${problem?.where}: ${problem?.says} (${problem?.todo})`);
  expect(text).toContain(refusedModel(REFUSED_RELEASE).waitsFor);
});
