import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { rolloutKey } from "../../../core/report/model/fleet.ts";
import { webRoutes } from "../server.ts";
import { EventLine, FLEET } from "./event-line.ts";
import { LiveModels } from "./live-models.ts";
import { apiApp } from "./routes.ts";

const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined };

afterEach(() => void vi.useRealTimers());

test("a reader is asked anew who they are after a while", async () => {
  vi.useFakeTimers();
  const proxy = { header: "x-user", secretHeader: "x-proxy", secret: "s".repeat(32), sees: () => true };
  const app = apiApp({ runs: () => [], onChange: () => () => undefined, proxy }, clock);
  const headers = { "x-user": "jane", "x-proxy": proxy.secret };
  const incoming = { headers, socket: { remoteAddress: "10.0.0.1" } };
  const answer = await app.request("/api/v1/events", { headers }, { incoming });
  let isOver = false;
  const heard = answer.text().then((text) => {
    isOver = true;
    return text;
  });
  await vi.advanceTimersByTimeAsync(14 * 60_000);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(isOver).toBe(true);
  expect(await heard).toContain("event: hello");
});

test("a reader that goes away leaves no line open, and whoever asks only for the head opens none", async () => {
  let listening = 0;
  let over = (): void => undefined;
  const onChange = () => {
    listening += 1;
    return () => {
      listening -= 1;
      over();
    };
  };
  const routes = webRoutes({ runs: () => [], onChange }, clock);
  const server = createServer((incoming, response) => void routes(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/events`;
  try {
    for (let turn = 0; turn < 3; turn++) {
      expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
      expect(listening).toBe(0);
      const sent = request(url);
      const ended = new Promise<void>((resolve) => {
        over = resolve;
      });
      await new Promise<void>((resolve) => sent.on("response", (answer) => answer.once("data", () => resolve())).end());
      expect(listening).toBe(1);
      sent.destroy();
      await ended;
      expect(listening).toBe(0);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("who listens is told how fast the clock goes by now", () => {
  const line = new EventLine("p");
  const told: string[] = [];
  line.listen("", { after: undefined, hello: { speed: 90 }, send: (bytes) => told.push(new TextDecoder().decode(bytes)) });
  line.greet({ speed: 1 });
  expect(told.map((text) => /^event: (\w+)[\s\S]*"speed":(\d+)/.exec(text)?.slice(1))).toEqual([
    ["hello", "90"],
    ["hello", "1"],
  ]);
});

test("who missed more than a slow reader may have waiting reads anew, and is not cut off while being told of it", () => {
  const line = new EventLine("p");
  const after = line.idOf(FLEET);
  const toldOf = () => {
    const told: string[] = [];
    line.listen(FLEET, { after, hello: {}, send: (bytes) => void told.push(new TextDecoder().decode(bytes).split("\n")[0] ?? "") })();
    return told;
  };
  line.emit(FLEET, "acme/config", "fleet", {});
  expect(toldOf()).toEqual(["event: hello", "event: fleet"]);
  for (let index = 0; index < 200; index++) line.emit(FLEET, "acme/config", "fleet", { text: "x".repeat(10_000) });
  expect(toldOf()).toEqual(["event: hello", "event: reset"]);
});

test("who listens to a rollout that has no run yet is told once it has one", () => {
  const line = new EventLine("p");
  const runs: ReturnType<ConstructorParameters<typeof LiveModels>[0]["runs"]>[number][] = [];
  const models = new LiveModels({ runs: () => runs, onChange: () => () => undefined }, clock, line);
  const told: string[] = [];
  const send = (bytes: Uint8Array) => void told.push(new TextDecoder().decode(bytes).split("\n")[0] ?? "");
  const key = rolloutKey("acme/config", "payments");
  line.listen(key, { after: undefined, hello: {}, send });
  models.sync();
  expect(told).toEqual(["event: hello"]);
  runs.push({ repository: "acme/config", run: sampleRun() });
  models.sync();
  expect(told).toEqual(["event: hello", "event: reset"]);
});
