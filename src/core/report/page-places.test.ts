import { expect, test } from "vitest";
import { sampleRun } from "../../../test/support/sample-run.ts";
import { gateWords } from "./batch/gate-check.ts";
import { modelOf } from "./model/run-model.ts";
import { type PagePlace, pagePath, pagesOf, pageUrl, parsePagePath } from "./page-places.ts";
import { pauseNotice } from "./run/pause-notice.ts";
import { runComment } from "./run/run-comment.ts";

const payments = { repository: "Acme/config.git", rollout: "payments.eu" };

const PLACES: [string, PagePlace][] = [
  ["/", { view: "fleet" }],
  ["/?at=2026-11-21T09%3A00%3A00.000Z", { view: "fleet", at: "2026-11-21T09:00:00.000Z" }],
  ["/r/Acme/config.git/payments.eu", { view: "rollout", ...payments }],
  ["/r/Acme/config.git/payments.eu/runs/42", { view: "run", ...payments, number: 42 }],
  ["/r/Acme/config.git/payments.eu/runs/42/batches/3", { view: "batch", ...payments, number: 42, batch: 3 }],
  ["/r/Acme/config.git/payments.eu/pulls/12", { view: "plan", ...payments, pull: 12 }],
  ["/r/Acme/config.git/payments.eu/targets/hub/argocd/payments-eu-1", { view: "target", ...payments, target: "hub/argocd/payments-eu-1" }],
];

test.each(PLACES)("%s is made and read alike", (path, place) => {
  expect(pagePath(place)).toBe(path);
  expect(parsePagePath(path)).toEqual(place);
});

test.each([
  "/r",
  "/r/acme/config",
  "/r/acme/config/Payments",
  "/r/acme/config/payments/runs",
  "/r/acme/config/payments/runs/0",
  "/r/acme/config/payments/pulls",
  "/r/acme/config/payments/pulls/0",
  "/r/acme/config/payments/pulls/1/2",
  "/r/acme/config/payments/runs/1e3",
  "/r/acme/config/payments/runs/42/batches",
  "/r/acme/config/payments/runs/42/stages/1",
  "/r/acme/config/payments/targets/hub/argocd",
  "/r/acme/config/payments/targets/hub/argocd/%3Cimg%3E",
  "/r/acme/config%2F..%2Fother/payments",
  "/r/acme/%1b%5b31m/payments",
  "/r/acme/config/%zz",
  "//evil.example/r/acme/config/payments",
  `/?q=${"x".repeat(3000)}`,
])("%s is nowhere", (path) => {
  expect(parsePagePath(path)).toBe(undefined);
});

test.each([
  ["2026-11-21T09:00:00Z", "2026-11-21T09:00:00.000Z"],
  ["2026-11-21T09:00", "2026-11-21T09:00:00.000Z"],
  ["2026-11-21", "2026-11-21T00:00:00.000Z"],
  ["2026-11-21T09:00:00+01:00", "2026-11-21T08:00:00.000Z"],
])("the moment %s is %s, whatever the browser's time zone", (text, at) => {
  expect(parsePagePath(`/?at=${text}`)).toEqual({ view: "fleet", at });
});

test.each(["yesterday", "", "garbage 5", "2026-13-01", "1e3", "2026-11-21T25:00Z", "<img>"])(
  "the moment %j is none, and told as it was given",
  (text) => {
    expect(parsePagePath(`/?at=${encodeURIComponent(text)}`)).toEqual({ view: "fleet", noTime: text });
  },
);

test("a public address may have a path, and ends as it likes", () => {
  for (const url of ["https://host/stagecoach", "https://host/stagecoach/"])
    expect(pageUrl(url, { view: "run", ...payments, number: 1 })).toBe("https://host/stagecoach/r/Acme/config.git/payments.eu/runs/1");
  const run = { rollout: "payments", number: 42 };
  expect(pagesOf("https://host", "acme/config")(run, 3)).toBe("https://host/r/acme/config/payments/runs/42/batches/3");
  expect(pagesOf(undefined, "acme/config")(run)).toBe(undefined);
});

test("the model of a run and of its batches, its comment and the check of a batch link to the page", () => {
  const run = sampleRun();
  const page = pagesOf("https://host/stagecoach/", "acme/config");
  const now = Date.parse(run.since);
  const url = "https://host/stagecoach/r/acme/config/payments/runs/42";
  const model = modelOf(run, now, { page });
  expect(model.links.at(-1)).toEqual({ name: "page", url });
  expect(model.children[1]?.children[0]?.links.at(-1)).toEqual({ name: "page", url: `${url}/batches/2` });
  expect(runComment(run, now, [], { page })).toContain(`[see it live](${url})`);
  expect(runComment(run, now)).not.toContain("see it live");
  const paused = { kind: "Failure" as const, by: "", reason: run.why, at: run.since, ask: run.why };
  expect(pauseNotice({ ...run, phase: "Paused", paused }, now, undefined, page)).toContain(`[See it live](${url})`);
  const [batch] = run.batches;
  if (batch === undefined) throw new Error("the sample has batches");
  const state = { kind: "waiting" as const, why: run.why, next: null };
  expect(gateWords(run, batch, state, now, { page }).detailsUrl).toBe(`${url}/batches/1`);
});
