import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import type { Fleet } from "../../../core/report/model/schema/fleet.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { applyPatch } from "../json-patch.ts";
import type { WebSource } from "../source.ts";
import { apiApp } from "./routes.ts";
import { undescribed } from "./testing/described.ts";
import { type Heard, hearing } from "./testing/hearing.ts";

const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined };
const HERE = { incoming: { socket: { remoteAddress: "127.0.0.1" }, headers: {} } };
const ROLLOUT = "/api/v1/repos/acme/config/rollouts/payments";
const NO_PAST = { stateAt: async () => undefined, runsAround: async () => [] };
const LOG = [
  { sha: "a".repeat(40), at: "2026-11-21T09:00:00.000Z", subject: "payments #42: begins", trailers: { "Stagecoach-Actor": "alice" } },
  { sha: "b".repeat(40), at: "2026-11-21T09:01:00.000Z", subject: "payments #42: batch 1 merged", trailers: {} },
];

function worldOf(first: Run = sampleRun(), more: Partial<WebSource> = {}) {
  let run = first;
  const listeners = new Set<() => void>();
  const app = apiApp(
    {
      runs: () => [{ repository: "Acme/config", run }],
      onChange: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      journal: (repository) =>
        repository.toLowerCase() !== "acme/config"
          ? undefined
          : {
              runs: async () =>
                [40, 41, 42].map((number) => ({
                  number,
                  phase: "Succeeded",
                  startedAt: "2026-11-21T09:00:00.000Z",
                  release: `v${number}`,
                })),
              run: async (_, number) =>
                number > 42 ? undefined : sampleRun({ number, phase: "Succeeded", endedAt: "2026-11-21T09:03:00.000Z" }),
              log: async (_, number) => (number === 42 ? LOG : []),
              ...NO_PAST,
            },
      ...more,
    },
    clock,
  );
  return {
    app,
    listeners,
    /** What is answered, which is as the API's description has it. */
    async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
      const response = await app.request(path, { headers }, HERE);
      expect(await undescribed(path, response)).toBe(undefined);
      return response;
    },
    change(next: Run): void {
      run = next;
    },
  };
}

const json = async <T>(response: Response | Promise<Response>) => (await (await response).json()) as T;

describe("the read API", () => {
  test("gives the fleet, a rollout, its runs, one of them and its events", async () => {
    const { get } = worldOf();
    const fleet = await json<Fleet>(get("/api/v1/fleet"));
    expect(fleet.rollouts.map(({ key, group, state, change }) => ({ key, group, state, change }))).toEqual([
      { key: "acme/config/payments", group: "Running", state: "Progressing", change: { from: "v1.4.1", to: "v1.4.2" } },
    ]);
    const run = await json<RunDocument>(get(ROLLOUT));
    expect([run.kind, run.number, run.repository]).toEqual(["Run", 42, "Acme/config"]);
    const newest = await json<{ items: { number: number }[]; next: string }>(get(`${ROLLOUT}/runs?limit=2`));
    expect([newest.items.map(({ number }) => number), newest.next]).toEqual([[42, 41], "?before=41&limit=2"]);
    expect((await json<{ items: { number: number }[] }>(get(`${ROLLOUT}/runs${newest.next}`))).items.map(({ number }) => number)).toEqual([
      40,
    ]);
    expect((await json<RunDocument>(get(`${ROLLOUT}/runs/41`))).number).toBe(41);
    const events = await json<{ items: { says: string; by?: string }[] }>(get(`${ROLLOUT}/runs/42/events`));
    expect(events.items.map(({ by }) => by)).toEqual(["alice", undefined]);
    const lines = await get(`${ROLLOUT}/runs/42/events`, { accept: "application/jsonl" });
    expect(
      (await lines.text())
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(JSON.parse(JSON.stringify(events.items)));
  });

  test.each(["/api/v1/fleet", ROLLOUT, `${ROLLOUT}/runs`, `${ROLLOUT}/runs/41`, `${ROLLOUT}/runs/42/events`, "/api/v1/nothing"])(
    "%s allows a browser nothing, and says so",
    async (path) => {
      const { headers } = await worldOf().get(path);
      expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; frame-ancestors 'none'");
      expect([headers.get("X-Content-Type-Options"), headers.get("Cache-Control")]).toEqual(["nosniff", "private, no-cache"]);
    },
  );

  test.each(["/api/v1/fleet", ROLLOUT, `${ROLLOUT}/runs/41`])("%s is sent once to whoever has it", async (path) => {
    const { get } = worldOf();
    const etag = (await get(path)).headers.get("ETag") ?? "";
    const again = await get(path, { "if-none-match": `W/"x", ${etag}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await get(path, { "if-none-match": '"x"' })).status).toBe(200);
  });

  test.each([
    ["/api/v1/nothing", "NOT_FOUND"],
    ["/api/v1/repos/acme/config/rollouts/other", "NOT_FOUND"],
    ["/api/v1/repos/acme/other/rollouts/payments/runs", "NOT_FOUND"],
    [`${ROLLOUT}/runs/43`, "NOT_FOUND"],
    [`${ROLLOUT}/runs/-1`, "NOT_FOUND"],
    [`${ROLLOUT}/runs/1e3`, "NOT_FOUND"],
    ["/api/v1/repos/acme/config/rollouts/..%2f..%2fruns/runs", "NOT_FOUND"],
    ["/api/v1/repos/acme/config/rollouts/%1b%5b31m/runs", "NOT_FOUND"],
    [`${ROLLOUT}/runs?limit=x`, "BAD_REQUEST"],
    [`/api/v1/events?rollout=${"%3Cb%3E"}`, "BAD_REQUEST"],
    [`/api/v1/fleet?${"x".repeat(3000)}`, "BAD_REQUEST"],
  ])("%s is a problem: %s", async (path, code) => {
    const response = await worldOf().get(path);
    expect(response.headers.get("Content-Type")).toBe("application/problem+json");
    expect(await json<{ code: string; status: number }>(response)).toMatchObject({ code, status: response.status });
  });

  test("a repository that took another's name is not told of the runs of the one before, nor one that is looked after no more", async () => {
    const journalOf = (phase: string) => ({
      ...{ runs: async () => [], log: async () => [], ...NO_PAST },
      run: async () => sampleRun({ phase: phase as "Failed", endedAt: "2026-11-21T09:03:00.000Z" }),
    });
    let journal: ReturnType<typeof journalOf> | undefined = journalOf("Succeeded");
    const { get } = worldOf(sampleRun(), { journal: () => journal });
    const state = async () => (await json<{ state?: string }>(get(`${ROLLOUT}/runs/41`))).state;
    expect(await state()).toBe("Succeeded");
    journal = journalOf("Failed");
    expect(await state()).toBe("Failed");
    journal = undefined;
    expect((await get(`${ROLLOUT}/runs/41`)).status).toBe(404);
  });

  test("a run that cannot be drawn hides no other, ends no process, and is told of once", async () => {
    const told: string[] = [];
    const run = sampleRun({ rollout: "broken" });
    Object.defineProperty(run, "batches", {
      get: () => {
        throw new Error("broken");
      },
    });
    const runs = () => [run, sampleRun()].map((one) => ({ repository: "Acme/config", run: one }));
    const { get } = worldOf(sampleRun(), { runs, onBroken: (repository) => void told.push(repository) });
    expect((await json<Fleet>(get("/api/v1/fleet"))).rollouts.map(({ key }) => key)).toEqual(["acme/config/payments"]);
    expect((await get(ROLLOUT)).status).toBe(200);
    expect((await get(ROLLOUT.replace("payments", "broken"))).status).toBe(500);
    expect(told).toEqual(["Acme/config"]);
  });

  test("what throws is told without what it said", async () => {
    const rest = { run: async () => undefined, log: async () => [], ...NO_PAST };
    const journal = () => ({ runs: () => Promise.reject(new Error("/var/secret")), ...rest });
    const response = await worldOf(sampleRun(), { journal }).get(`${ROLLOUT}/runs`);
    const text = await response.text();
    expect([response.status, text.includes("secret"), (JSON.parse(text) as { code: string }).code]).toEqual([500, false, "UNREADABLE"]);
  });

  test("a journal that does not hold is told with its file, and as no fault of the server's; a fault as none of the journal's, and it is logged", async () => {
    const faults: unknown[] = [];
    const rest = { runs: async () => [], log: async () => [], ...NO_PAST };
    const broken = new JournalFileError("runs/payments/41/run.yaml", { code: "JOURNAL_NO_FILE", indexed: true });
    const journal = () => ({ ...rest, run: () => Promise.reject(broken) });
    const onFault = (error: unknown) => void faults.push(error);
    const { get } = worldOf(sampleRun(), { journal, onFault });
    expect(await json(get(`${ROLLOUT}/runs/41`))).toMatchObject({ status: 500, code: "UNREADABLE", detail: "runs/payments/41/run.yaml" });
    // All else is there.
    expect([(await get(ROLLOUT)).status, faults]).toEqual([200, []]);
    const other = worldOf(sampleRun(), {
      heard: () => Promise.reject(new Error("x")) as never,
      runs: () => {
        throw new Error("ours");
      },
      onFault,
    });
    expect(await json(other.get("/api/v1/fleet"))).toMatchObject({ status: 500, code: "FAULT" });
    expect(faults).toMatchObject([{ message: "ours" }]);
  });

  test("is only read", async () => {
    const response = await worldOf().app.request(ROLLOUT, { method: "POST" }, HERE);
    expect([response.status, response.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("events of the API", () => {
  const moved = (run: Run): Run => ({
    ...run,
    batches: run.batches.map((batch) => ({ ...batch, targets: batch.targets.map((target) => ({ ...target, phase: "Healthy" as const })) })),
  });

  async function heardFrom(world: ReturnType<typeof worldOf>, path: string, headers: Record<string, string> = {}): Promise<Heard> {
    return hearing(await world.get(path, headers));
  }

  test("patches make of the model that was read the one that is there now", async () => {
    const world = worldOf();
    const read = await world.get(ROLLOUT);
    const before = await json<RunDocument>(read);
    const heard = await heardFrom(world, `/api/v1/events?rollout=acme/config/payments&after=${read.headers.get("Stagecoach-Sequence")}`);
    expect((await heard.next()).event).toBe("hello");
    world.change(moved(sampleRun()));
    const now = await json<RunDocument>(world.get(ROLLOUT));
    const { event, data } = await heard.next();
    expect(event).toBe("rollout");
    expect(applyPatch(before, data["patch"] as never)).toEqual(now);
    await heard.close();
  });

  test("who was cut off goes on where they were; who comes from another process reads anew", async () => {
    const world = worldOf();
    const first = await heardFrom(world, "/api/v1/events");
    const { id } = await first.next();
    await first.close();
    world.change(sampleRun({ phase: "Paused" }));
    const again = await heardFrom(world, "/api/v1/events", { "last-event-id": id });
    expect([(await again.next()).event, (await again.next()).event]).toEqual(["hello", "fleet"]);
    await again.close();
    const stranger = await heardFrom(world, "/api/v1/events", { "last-event-id": "0123456789ab-1" });
    expect([(await stranger.next()).event, (await stranger.next()).event]).toEqual(["hello", "reset"]);
    await stranger.close();
  });

  test("a rollout that changed while nobody looked says reset, so that no patch meets another model", async () => {
    const world = worldOf();
    const { headers } = await world.get(ROLLOUT);
    world.change(sampleRun({ phase: "Paused" }));
    await world.get("/api/v1/fleet");
    world.change(sampleRun({ phase: "Failed" }));
    await world.get("/api/v1/fleet");
    const heard = await heardFrom(world, `/api/v1/events?rollout=acme/config/payments&after=${headers.get("Stagecoach-Sequence")}`);
    const events = [await heard.next(), await heard.next(), await heard.next()].map(({ event }) => event);
    expect(events).toEqual(["hello", "rollout", "reset"]);
    await heard.close();
  });

  test("nobody listens, nothing is watched; too many are told to come again", async () => {
    const world = worldOf();
    const open = await Promise.all(Array.from({ length: 250 }, () => heardFrom(world, "/api/v1/events")));
    expect([world.listeners.size, (await world.get("/api/v1/events")).status]).toEqual([1, 503]);
    await Promise.all(open.map((one) => one.close()));
    expect([world.listeners.size, (await world.get("/api/v1/fleet")).status]).toEqual([0, 200]);
  });
});

test("what a target was judged by is told, of that control plane's alone", async () => {
  const journal = () => ({ runs: async () => [], log: async () => [], ...NO_PAST, run: async () => sampleRun() });
  const { get } = worldOf(sampleRun(), { journal });
  const found = (await (await get(`${ROLLOUT}/runs/42/targets/hub/argocd/payments-eu-1`)).json()) as Record<string, unknown>;
  expect(found).toMatchObject({ target: "hub/argocd/payments-eu-1", batch: 1, merged: { commit: "b".repeat(40) } });
  const fields = [{ name: "status.sync.revision", value: "1f2e3d4" }];
  expect(found["evidence"]).toMatchObject({ verdict: "live", clause: "all", fields });
  for (const target of ["other/argocd/payments-eu-1", "hub/argocd/payments-eu-9", "hub/argocd/%2e%2e"])
    expect((await get(`${ROLLOUT}/runs/42/targets/${target}`)).status).toBe(404);
});

test("the last run is followed under its own number; one before it is the journal's, which nothing happens to", async () => {
  const { get } = worldOf(sampleRun());
  const [last, before] = [await get(`${ROLLOUT}/runs/42`), await get(`${ROLLOUT}/runs/41`)];
  expect(await last.json()).toMatchObject({ number: 42, state: "Progressing" });
  expect(last.headers.get("Stagecoach-Sequence")).toMatch(/-0$/);
  expect([((await before.json()) as { state: string }).state, before.headers.get("Stagecoach-Sequence")]).toEqual(["Succeeded", null]);
});
