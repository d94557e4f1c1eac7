import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SITUATIONS } from "../../src/core/report/testing/situations.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { webRoutes } from "../../src/surfaces/web/server.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";
import { measuredRun } from "../support/sample-run.ts";
import { wideRun } from "../support/wide-run.ts";

if (chromiumPath === undefined) console.log("skipped: how the page fits a screen (no Chromium on this machine)");

const WIDE = { width: 1400, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(chromiumPath === undefined)("the page and the room it takes", () => {
  let browser: Browser;
  let server: Server;
  let url: string;
  let wide: Run | undefined;
  const listeners = new Set<() => void>();
  const shown = Object.entries(SITUATIONS).map(([name, situation]) => ({ name: name.replaceAll(" ", "-"), ...situation() }));
  const others = [{ name: "measured", run: measuredRun() }];

  beforeAll(async () => {
    const now = Math.max(...shown.map((one) => one.now));
    const runs = () => [
      ...[...shown, ...others].map(({ name, run }) => ({ repository: "acme/config", run: { ...run, rollout: name } })),
      ...(wide === undefined ? [] : [{ repository: "acme/config", run: { ...wide, rollout: "wide" } }]),
    ];
    const onChange = (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    const routes = webRoutes({ runs, onChange }, { now: () => now, after: () => () => undefined });
    server = createServer((request, response) => {
      if (!routes(request, response)) response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  async function open(path: string, viewport: typeof WIDE): Promise<Page> {
    const page = await browser.newPage({ viewport });
    await page.goto(`${url}${path}`);
    await page.waitForSelector(".run, .fleet");
    return page;
  }

  test.each([WIDE, PHONE])(
    "in every situation what happens, why, what comes next and what one can do stand on the first screen of %o",
    async (viewport) => {
      for (const { name } of shown) {
        const page = await open(`/r/acme/config/${name}`, viewport);
        const bottoms = await page.evaluate("[...document.querySelectorAll('.slot')].map((slot) => slot.getBoundingClientRect().bottom)");
        expect([name, (bottoms as number[]).length]).toEqual([name, 4]);
        for (const bottom of bottoms as number[]) expect(bottom).toBeLessThanOrEqual(viewport.height);
        expect([name, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([name, viewport.width]);
        await page.close();
      }
    },
  );

  const SCREENS = [
    "/",
    "/r/acme/config/failed",
    "/r/acme/config/measured",
    "/r/acme/config/waiting-for-approval?cluster=c1",
    "/r/acme/config/failed/targets/hub/argocd/app-c3",
  ];

  test.each(["light", "dark"] as const)("no screen has anything serious against those who see or hear it otherwise: %s", async (scheme) => {
    const page = await browser.newPage({ viewport: PHONE, colorScheme: scheme });
    const elsewhere: string[] = [];
    page.on("request", (request) => request.url().startsWith(url) || elsewhere.push(request.url()));
    for (const screen of SCREENS) {
      await page.goto(`${url}${screen}`);
      await page.waitForSelector(".run, .fleet");
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as axe.AxeResults;
      const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect([screen, bad.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary])]).toEqual([screen, []]);
      expect([screen, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([screen, PHONE.width]);
    }
    expect(elsewhere).toEqual([]);
    await page.close();
  });

  test("2,000 targets take three screens at most, and one that becomes healthy changes a handful of nodes, and nothing of what one looks at", async () => {
    wide = wideRun(2000, 40);
    const page = await open("/r/acme/config/wide", WIDE);
    const height = (await page.evaluate("document.documentElement.scrollHeight")) as number;
    expect(height).toBeLessThanOrEqual(3 * WIDE.height);
    // What the browser has to make before anybody sees anything: the grids that are folded are drawn when they are opened.
    expect((await page.evaluate("document.querySelectorAll('*').length")) as number).toBeLessThan(1_000);
    expect(await page.locator(".cell").count()).toBe(100);
    await page.locator(".folded summary").first().click();
    await page.locator(".folded .cell").nth(1_699).waitFor({ state: "attached" });
    await page.locator(".folded summary").first().click();
    // Short, so that there is somewhere to scroll to. The axis goes with the time, whatever else changes.
    await page.setViewportSize({ ...WIDE, height: 300 });
    const current = page.locator(".batch .cell").nth(40);
    await current.focus();
    await page.evaluate("window.scrollTo(0, 50)");
    const scrolled = await page.evaluate("scrollY");
    await page.evaluate(
      "window.seen = new Set(); new MutationObserver((all) => all.filter(({ target }) => !(target.parentElement ?? target).closest('time, .clock, .track, .ends')).forEach(({ target }) => seen.add(target))).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })",
    );
    expect(await current.getAttribute("title")).toMatch(/^cluster-\d+: Syncing/);
    wide = wideRun(2000, 41);
    for (const listener of listeners) listener();
    await page.waitForSelector(".cell:focus[title*=': Healthy']");
    expect((await page.evaluate("seen.size")) as number).toBeLessThan(40);
    expect(await current.getAttribute("title")).toMatch(/^cluster-\d+: Healthy/);
    expect(await page.evaluate("[scrollY, document.activeElement === document.querySelectorAll('.batch .cell')[40]]")).toEqual([
      scrolled,
      true,
    ]);
    await page.close();
  });
});
