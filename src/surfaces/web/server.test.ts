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
