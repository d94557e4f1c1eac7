import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { said } from "../../src/core/reasons/run.ts";
import { planChart } from "../../src/core/report/plan/plan-chart.ts";
import { plannedRelease, planRoom } from "../../src/core/report/plan/plan-model.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { testGitHub } from "../../src/sim/github/testing/setup.ts";
import { webRoutes } from "../../src/surfaces/web/server.ts";
import type { LookedAfter, WebSource } from "../../src/surfaces/web/source.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";
import { samplePlan, sampleRollout, sampleRun } from "../support/sample-run.ts";

if (chromiumPath === undefined) console.log("skipped: the page in a browser (no Chromium on this machine)");

const NOON = Date.parse("2026-11-21T09:04:00.000Z");
const clock = { now: () => NOON, after: () => () => undefined, speed: 1 };

const PLACE: LookedAfter = {
  ...{ repository: "acme/config", state: "Read", idle: ["idle"] },
  unread: [{ rollout: "broken", run: 3, file: "runs/broken/3/run.yaml", says: "it is no YAML" }],
  releases: [
    {
      ...{ repository: "acme/config", pull: 12, title: "v1.4.2", author: "alice", head: "a".repeat(40), isFork: false },
      ...{ judgedAt: "2026-11-21T09:00:00.000Z", links: [{ name: "#12", url: "https://github.example/acme/config/pull/12" }] },
      planned: [plannedRelease(sampleRollout(), samplePlan(), "v1.4.1", { extras: { rules: { now: NOON } }, room: planRoom() })],
    },
  ],
};

/** Two runs, an hour apart, each recorded as it began. */
const BEGAN = ["2026-11-21T07:00:00.000Z", "2026-11-21T08:00:00.000Z"];
const PAST = BEGAN.map((startedAt, at) => ({ ...sampleRun({ number: 41 + at }), startedAt }));
const JOURNAL: NonNullable<ReturnType<NonNullable<WebSource["journal"]>>> = {
  ...{ runs: async () => [], log: async () => [], run: async (_, number) => PAST[number - 41] },
  async stateAt(time) {
    const then = PAST.findLast(({ startedAt }) => Date.parse(startedAt) <= time);
    return { commit: "c", runs: new Map(then && [["payments", then]]), broken: new Map() };
  },
  runsAround: async () =>
    PAST.map(({ number, phase, startedAt }) => ({
      rollout: "payments",
      number,
      phase,
      startedAt,
      release: "v1",
      recorded: [Date.parse(startedAt)],
    })),
};

describe.skipIf(chromiumPath === undefined)("the page in a browser", () => {
  let browser: Browser;
  let server: Server;
  let home: string;
  let url: string;
  let run: Run = sampleRun();
  let source: WebSource;
  const listeners = new Set<() => void>();
  const listen = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  beforeAll(async () => {
    const planes = [{ name: "hub", uiUrl: "https://argocd.example.com" }];
    source = {
      runs: () => [{ repository: "acme/config", run }],
      onChange: listen,
      planes,
      repositories: () => [PLACE],
      journal: () => JOURNAL,
    };
    const routes = webRoutes(source, clock);
    server = createServer((request, response) => {
      if (!routes(request, response)) response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    url = `${home}r/acme/config/payments`;
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  test("shows every cluster with its phase, and follows the run without a reload", async () => {
    run = sampleRun();
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(url);
    await page.waitForSelector(".run");
    expect(await page.locator(".cell").allInnerTexts()).toEqual(["eu-1", "eu-2", "us-1", "us-2", "us-3", "us-4"]);
    expect(await page.locator(".why").innerText()).toBe("Waiting for us-1, us-2 to become live (0 of 2 confirmed)");
    run = sampleRun({
      phase: "Paused",
      why: said("us-1 failed"),
      paused: { kind: "Failure", by: "", reason: said("us-1 failed"), at: run.since, ask: said("Comment /retry.") },
    });
    for (const listener of listeners) listener();
    await page.waitForSelector(".badge:has-text('Paused')");
    expect(await page.locator(".ask").innerText()).toBe("Comment /retry.");
    // What one looks at stays while the rest is drawn anew.
    await page.locator(".cell").nth(2).click();
    await page.waitForURL(`${url}?cluster=us-1`);
    await page.locator(".panel button:has-text('Close')").focus();
    run = sampleRun();
    for (const listener of listeners) listener();
    await page.waitForSelector(".badge:has-text('Paused')", { state: "detached" });
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Close");
    expect(errors).toEqual([]);
    await page.close();
  });

  test("a line that is cut goes on where it broke off; while the server is away the page says so, and once it is back shows the newest", async () => {
    const reads: string[] = [];
    let routes = webRoutes(source, clock);
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/api/v1/repos/")) reads.push(request.url);
      if (!routes(request, response)) response.writeHead(404).end();
    });
    const listenAt = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const move = (why: string) => {
      run = sampleRun({ why: said(why) });
      for (const listener of listeners) listener();
    };
    await listenAt(0);
    const { port } = server.address() as AddressInfo;
    run = sampleRun();
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/r/acme/config/payments`);
    await page.waitForSelector(".page .live");
    // Cut, with something missed each time: told behind the last that was heard, or read anew.
    const readBy: number[] = [];
    for (const why of ["the first is merged", "the second is merged"]) {
      server.closeAllConnections();
      await page.waitForSelector(".page .lost:has-text('Not connected')");
      move(why);
      await page.waitForSelector(`.why:has-text('${why.slice(1)}')`);
      await page.waitForSelector(".page .live");
      readBy.push(reads.length);
    }
    expect(readBy[0]).toBe(1);
    // Another process in its place, which knows none of the former's ids.
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await page.waitForSelector(".page .lost:has-text('Not connected')");
    expect(await page.locator(".why").innerText()).toBe("The second is merged");
    move("the third is merged");
    routes = webRoutes(source, clock);
    await listenAt(port);
    await page.waitForSelector(".why:has-text('the third is merged')");
    await page.waitForSelector(".page .live");
    await page.close();
    server.close();
    server.closeAllConnections();
  });

  test("an address that shows nothing says why, and what to do; all else is shown", async () => {
    run = sampleRun();
    const page = await browser.newPage();
    const addresses: [string, string, string][] = [
      ["payments?at=yesterday", "“yesterday” is no time", "see it as it is now"],
      ["payments?at=2099-01-01", "This moment has not come yet", "See it as it is now"],
      ["payments?at=2020-01-01", "Nothing is recorded from then", "see it as it is now"],
      ["broken", "The journal of this cannot be read", "All rollouts"],
      ["idle", "No run of idle yet", "All rollouts"],
      ["nothing", "There is no rollout nothing in acme/config that you may see", "All rollouts"],
      ["paymnts", "There is no rollout paymnts in acme/config that you may see", "payments"],
    ];
    for (const [path, why, way] of addresses) {
      await page.goto(`${home}r/acme/config/${path}`);
      await page.waitForSelector(`.notice h2:text-is("${why}")`);
      await page.locator(`.notice a:text-is("${way}")`).click();
      await page.waitForSelector(".page .live");
      await page.waitForSelector(way === "All rollouts" ? ".fleet" : ".run");
    }
    await page.close();
  });

  test("text from outside stays text", async () => {
    run = sampleRun({ why: said('<img src=x onerror="document.title=1"> is not markup') });
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForSelector(".run");
    expect(await page.locator(".why").innerText()).toContain('<img src=x onerror="document.title=1">');
    expect([await page.title(), await page.locator(".why img").count()]).toEqual(["payments · Stagecoach", 0]);
    await page.close();
  });

  test("everything is reachable by keyboard and named for a screen reader", async () => {
    run = sampleRun();
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForSelector(".run");
    const label = await page.locator(".cell").first().getAttribute("aria-label");
    expect(label).toBe("eu-1: Healthy\nv1.4.1 → v1.4.2\npayments-eu-1\nlive at 1f2e3d4 and healthy");
    // One stop a grid; the arrows go on inside.
    const stops = await page.evaluate(
      "[...document.querySelectorAll('.cells')].map((grid) => [...grid.querySelectorAll('.cell')].filter((cell) => cell.tabIndex === 0).length)",
    );
    expect(new Set(stops as number[])).toEqual(new Set([1]));
    await page.locator(".cell:has-text('us-1')").focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("us-2");
    await page.close();
  });

  test("leads to the plan of an open release PR, back to a moment that is over, by the keyboard to the next, and to now again", async () => {
    run = sampleRun();
    const page = await browser.newPage();
    await page.goto(home);
    await page.locator("a:has-text('Its plan')").click();
    await page.waitForURL(`${url}/pulls/12`);
    await page.waitForSelector(".stages.plan li");
    expect(await page.locator(".stages.plan > li").count()).toBe(2);
    await page.goto(home);
    await page.locator("summary:has-text('Look back')").click();
    await page.locator(".past a:has-text('07:00 UTC')").click();
    const at = (time: string | undefined) => `${home}?at=${encodeURIComponent(time ?? "")}`;
    await page.waitForURL(at(BEGAN[0]));
    await page.waitForSelector(".then :text('run 41 began')");
    await page.locator(".then input[type=range]").focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(at(BEGAN[1]));
    await page.waitForSelector(".then :text('run 42 began')");
    expect(await page.evaluate("document.activeElement?.type")).toBe("range");
    await page.locator(".then a:has-text('Back to now')").click();
    await page.waitForURL(home);
    await page.waitForSelector(".page .live");
    await page.close();
  });

  test("fits a phone, and so do the embedded GitHub's: every tab is in reach, and a chart is drawn without gaps", async () => {
    const homeOf = () => ({ url, label: "Stagecoach's page" });
    const world = await testGitHub({ visitor: { login: "wim", offers: () => undefined, home: homeOf } });
    try {
      await world.branch("topic", { "apps/a.yaml": "one: 2\n" });
      const plan = samplePlan();
      const chart = planChart(
        plan,
        plan.stages.map(() => ["bake 2m"]),
      );
      const cells = ["eu-central-1-a", "v1.4.1", "v1.4.2", "spec.generators[0].list.elements[cluster=eu-central-1-a].targetRevision"];
      const table = `| a | b | c | pin |\n| - | - | - | - |\n| ${cells.map((cell) => `\`${cell}\``).join(" | ")} |`;
      const body = `${chart}\n\n${table}`;
      const number = await world.sim.actAs("wim").openPull(world.repository, { head: "topic", title: "Release", body });
      const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
      const over = `?at=${encodeURIComponent(BEGAN[1] ?? "")}`;
      for (const at of [
        home,
        `${home}${over}`,
        url,
        `${url}${over}`,
        `${url}/pulls/12`,
        `${world.sim.url}/${world.repository}/pull/${number}`,
      ]) {
        await page.goto(at);
        await page.waitForSelector(".run, .fleet, .chart");
        expect([at, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([at, 390]);
      }
      const boxes = async (selector: string) => {
        const found = await page.locator(selector).all();
        return await Promise.all(found.map(async (one) => (await one.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }));
      };
      const inReach = [...(await boxes(".tabs.inner a")), ...(await boxes(".home"))];
      expect(inReach.length).toBeGreaterThan(4);
      for (const { x, width } of inReach) expect([x >= 0, width > 0, x + width <= 390]).toEqual([true, true, true]);
      await page.setViewportSize({ width: 1400, height: 900 });
      const [[arrow], [, second]] = [await boxes(".chart .arrow"), await boxes(".chart .box")];
      expect((second?.x ?? 0) - (arrow?.x ?? 0) - (arrow?.width ?? 0)).toBeLessThan(4);
      await page.close();
    } finally {
      await world.sim.close();
    }
  });
});
