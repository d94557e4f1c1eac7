import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Run } from "../../src/core/run/state/run.ts";
import { webRoutes } from "../../src/surfaces/web/server.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";
import { wideRun } from "../support/wide-run.ts";
import type { BenchRow } from "./row.ts";

const CLUSTERS = 2000;
const CHANGES = 20;
const HEALTHY = 40;
const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined };
/** When the last of the grid stands there, and the frame that shows it has been made. */
const WATCH = `new MutationObserver((_, watch) => {
  if (document.querySelector(".stages .cell") === null) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.drawnAt = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

/** A run of 2,000 targets in Chromium: until it is seen, and what one target that becomes healthy costs. */
export async function benchPage(): Promise<BenchRow[]> {
  if (chromiumPath === undefined) {
    console.log("skipped: the page (no Chromium on this machine)");
    return [];
  }
  let run: Run = wideRun(CLUSTERS, HEALTHY);
  const listeners = new Set<() => void>();
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const routes = webRoutes({ runs: () => [{ repository: "acme/config", run }], onChange }, clock);
  const server = createServer((request, response) => void (routes(request, response) || response.writeHead(404).end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/r/acme/config/payments`;
  const browser = await launchBrowser();
  try {
    // The script is made of its sources when it is first asked for, which a package has done already.
    await fetch(new URL("/page.js", url));
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.addInitScript(WATCH);
    await page.goto(url);
    await page.waitForSelector("html[data-drawn-at]");
    const [painted, drawn, nodes] = (await page.evaluate(
      "[performance.getEntriesByName('first-contentful-paint')[0]?.startTime, Number(document.documentElement.dataset.drawnAt), document.querySelectorAll('*').length]",
    )) as [number, number, number];
    const meter = await page.context().newCDPSession(page);
    await meter.send("Performance.enable");
    const spent = async (name: string) => {
      const { metrics } = await meter.send("Performance.getMetrics");
      return 1000 * (metrics.find((one) => one.name === name)?.value ?? Number.NaN);
    };
    const before = [await spent("ScriptDuration"), await spent("TaskDuration")];
    for (let healthy = HEALTHY + 1; healthy <= HEALTHY + CHANGES; healthy++) {
      run = wideRun(CLUSTERS, healthy);
      for (const listener of listeners) listener();
      await page.waitForSelector(`.bar[aria-label^="${1700 + healthy} of"]`);
    }
    const each = [await spent("ScriptDuration"), await spent("TaskDuration")].map((ms, at) => (ms - (before[at] ?? 0)) / CHANGES);
    const name = `page of ${CLUSTERS} targets`;
    return [
      { name: `${name}: first contentful paint`, value: painted, unit: "ms", limit: 1000 },
      { name: `${name}: all of it drawn`, value: drawn, unit: "ms", limit: 1000 },
      { name: `${name}: elements`, value: nodes, unit: "", limit: 1_000 },
      { name: `${name}: script of one change`, value: each[0] ?? Number.NaN, unit: "ms", limit: 50 },
      { name: `${name}: all work of one change`, value: each[1] ?? Number.NaN, unit: "ms" },
    ];
  } finally {
    await browser.close();
    server.close().closeAllConnections();
  }
}
