import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { pageScript, pageStyle } from "./page.ts";
import { basePath, pageApp, webRoutes } from "./server.ts";

const clock = { now: () => 0, after: () => () => undefined };

test.each(["/", "/page.css", "/page.js", "/r/acme/config/payments/runs/3"])("%s allows nothing from elsewhere", async (path) => {
  const response = await pageApp().request(path);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
});

test.each([
  ["/r/acme/config/payments", 200],
  ["/r/acme/config/payments/runs/42/batches/3?at=2026-11-21T09:00:00Z", 200],
  ["/r/acme/config/payments/targets/hub/argocd/payments-eu-1", 200],
  ["/r/acme/config/Payments", 404],
  ["/r/acme/config/payments/runs/x", 404],
])("the page is at each of its addresses, and nowhere else: %s", async (path, status) => {
  expect((await pageApp().request(path)).status).toBe(status);
});

test("below a path the page asks for what is there", async () => {
  const text = await (await pageApp(basePath({ publicUrl: "https://host/stage/coach/" })).request("/")).text();
  expect(text).toContain('href="/stage/coach/page.css"');
  expect(text).toContain('data-base="/stage/coach"');
});

test.each([
  ["/stage/metrics", "https://host/stage"],
  ["/stage//metrics", "https://host/stage"],
  ["/stage/page.css/../../metrics", "https://host/stage"],
  ["//api/v1/fleet", "https://host/"],
])("what is another's is left with its whole path: %s", (url, publicUrl) => {
  const request = { url, method: "GET", headers: {}, socket: {} } as IncomingMessage;
  expect(webRoutes({ runs: () => [], onChange: () => () => undefined, publicUrl }, clock)(request, {} as ServerResponse)).toBe(false);
  expect(request.url).toBe(url);
});

test.each([
  ["https://host/api", "/api/v1/fleet"],
  ["https://host/api", "/api/api/v1/fleet"],
  ["https://host/r", "/r/acme/config/payments"],
])("below %s ours is found whether a proxy took the path away or not: %s", async (publicUrl, path) => {
  const routes = webRoutes({ runs: () => [], onChange: () => () => undefined, publicUrl }, clock);
  const server = createServer((incoming, response) => void (routes(incoming, response) || response.writeHead(404).end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    expect((await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).status).toBe(200);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("the page's script is small: what a browser has to read before it shows anything", async () => {
  expect(gzipSync(await pageScript()).length).toBeLessThan(60 * 1024);
  expect(gzipSync(await pageStyle()).length).toBeLessThan(8 * 1024);
});
