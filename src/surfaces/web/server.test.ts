import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../test/support/sample-run.ts";
import { type WebState, webApp } from "./server.ts";

const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined };

function appOf(onChange: (listener: () => void) => () => void = () => () => undefined) {
  return webApp({ runs: () => [{ repository: "acme/config", run: sampleRun() }], onChange }, clock);
}

describe("the page's server", () => {
  test("gives the last run of each rollout as JSON", async () => {
    const state = (await (await appOf().request("/api/runs")).json()) as WebState;
    expect([state.now, state.runs[0]?.rollout, state.runs[0]?.repository]).toEqual(["2026-11-21T09:04:00.000Z", "payments", "acme/config"]);
  });

  test.each(["/", "/page.css", "/page.js", "/api/runs"])("%s allows nothing from elsewhere", async (path) => {
    const response = await appOf().request(path);
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
    expect((await appOf().request(path)).status).toBe(status);
  });

  test("below a path the page asks for what is there", async () => {
    const source = { runs: () => [], onChange: () => () => undefined, publicUrl: "https://host/stage/coach/" };
    const text = await (await webApp(source, clock).request("/")).text();
    expect(text).toContain('href="/stage/coach/page.css"');
    expect(text).toContain('<meta name="stagecoach-base" content="/stage/coach">');
  });

  test("events send the state at once and again on a change", async () => {
    let changed = (): void => undefined;
    const response = await appOf((listener) => {
      changed = listener;
      return () => undefined;
    }).request("/api/events");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    changed();
    const second = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect(first.startsWith("data: {")).toBe(true);
    expect(second.startsWith("data: {")).toBe(true);
  });
});
