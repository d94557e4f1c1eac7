import { expect, test } from "vitest";
import { basePath, pageApp } from "./server.ts";

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
