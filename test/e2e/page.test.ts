import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { said } from "../../src/core/reasons/run.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { webRoutes } from "../../src/surfaces/web/server.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";
import { sampleRun } from "../support/sample-run.ts";

if (chromiumPath === undefined) console.log("skipped: the page in a browser (no Chromium on this machine)");

const NOON = Date.parse("2026-11-21T09:04:00.000Z");
const clock = { now: () => NOON, after: () => () => undefined, speed: 1 };

describe.skipIf(chromiumPath === undefined)("the page in a browser", () => {
  let browser: Browser;
  let server: Server;
  let url: string;
  let run: Run = sampleRun();
  const listeners = new Set<() => void>();
  const listen = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  beforeAll(async () => {
    const planes = [{ name: "hub", uiUrl: "https://argocd.example.com" }];
    const routes = webRoutes({ runs: () => [{ repository: "acme/config", run }], onChange: listen, planes }, clock);
    server = createServer((request, response) => {
      if (!routes(request, response)) response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
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
    expect(await page.locator(".why").innerText()).toBe("waiting for us-1, us-2 to become live (0 of 2 confirmed)");
    run = sampleRun({
      phase: "Paused",
      why: said("us-1 failed"),
      paused: { kind: "Failure", by: "", reason: said("us-1 failed"), at: run.since, ask: said("Comment /retry.") },
    });
    for (const listener of listeners) listener();
    await page.waitForSelector(".phase.Paused");
    expect(await page.locator(".ask").innerText()).toBe("Comment /retry.");
    expect(errors).toEqual([]);
    await page.close();
  });

  test("text from outside stays text", async () => {
    run = sampleRun({ why: said('<img src=x onerror="document.title=1"> is not markup') });
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForSelector(".run");
    expect(await page.locator(".why").innerText()).toContain('<img src=x onerror="document.title=1">');
    expect([await page.title(), await page.locator(".why img").count()]).toEqual(["Stagecoach", 0]);
    await page.close();
  });

  test("everything is reachable by keyboard and named for a screen reader", async () => {
    run = sampleRun();
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForSelector(".run");
    const label = await page.locator(".cell").first().getAttribute("aria-label");
    expect(label).toBe("eu-1: Healthy\nv1.4.1 → v1.4.2\npayments-eu-1\nlive at 1f2e3d4 and healthy");
    expect(await page.locator(".cell").first().getAttribute("tabindex")).toBe("0");
    await page.close();
  });
});
