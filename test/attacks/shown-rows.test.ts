import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ShownBoard, ShownPart } from "../../src/adapters/queue/port.ts";
import type { Fleet } from "../../src/core/report/model/schema/fleet.ts";
import { silentLog } from "../../src/engine/round/context.ts";
import type { Repos } from "../../src/surfaces/server/tenancy/repos.ts";
import { openSharedViews } from "../../src/surfaces/server/tenancy/shared-views.ts";
import { besideText, historyText, pack, packBeside, VIEW_FORMAT, type View } from "../../src/surfaces/server/tenancy/view.ts";
import { apiApp } from "../../src/surfaces/web/api/routes.ts";
import { sampleRun } from "../support/sample-run.ts";

const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined };
const HERE = { incoming: { socket: { remoteAddress: "127.0.0.1" }, headers: {} } };
const KEYS = ["acme/config", "acme/other"];
const PULL = {
  ...{ repository: "acme/config", pull: 7, title: "Release v2", author: "alice", head: "a".repeat(40), isFork: false },
  ...{ judgedAt: "2026-11-21T09:00:00.000Z", links: [{ name: "#7", url: "https://github.com/acme/config/pull/7" }], planned: [] },
};

const VIEW: View = {
  ...{ repository: "acme/config", state: "Read", idle: ["search"], unread: [], releases: [PULL], attention: [], refused: [], heard: [] },
  ...{ runs: [{ run: sampleRun(), history: undefined }], journalHead: "b".repeat(40) },
};

/** A replica that looks after nothing, and what it is told by rows. */
function replicaOf() {
  let tell: (parts: readonly ShownPart[]) => Promise<void> = async () => undefined;
  const board: ShownBoard = {
    ...{ largest: 1, write: async () => false, look: async () => undefined, standingOf: () => [] },
    onRead: (listener) => {
      tell = listener;
    },
  };
  const repos = {
    keys: () => KEYS,
    get: () => undefined,
    nameOf: (key: string) => (KEYS.includes(key) ? key : undefined),
    openedByKey: () => [],
  };
  const views = openSharedViews({
    repos: repos as unknown as Repos,
    board,
    owns: () => false,
    log: silentLog,
    announce: () => undefined,
    onChange: () => undefined,
  });
  const broken: string[] = [];
  const app = apiApp(
    {
      runs: () => views.all().flatMap(({ repository, runs }) => runs.map((one) => ({ repository, ...one }))),
      standing: () => views.all(),
      repositories: () => views.all(),
      onBroken: (repository) => void broken.push(repository),
      onChange: () => () => undefined,
    },
    clock,
  );
  const fleet = async () => {
    const answer = await app.request("/api/v1/fleet", {}, HERE);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Fleet;
  };
  const part = (name: string, content: Uint8Array | undefined, format = VIEW_FORMAT) =>
    tell([{ repository: "acme/config", part: name, format, content }]);
  return { fleet, part, tell: (parts: readonly ShownPart[]) => tell(parts), broken, stop: views.stop };
}

const text = (given: unknown) => gzipSync(typeof given === "string" ? given : JSON.stringify(given));
const beside = (change: object) => text({ ...(JSON.parse(besideText(VIEW)) as object), ...change });
const run = (change: object) => text(`null\n${JSON.stringify({ ...sampleRun(), ...change })}`);

describe("rows that somebody else wrote where replicas show each other what they have", () => {
  test("are shown as they are where they are ours", async () => {
    const { fleet, part, stop } = replicaOf();
    await part("", await packBeside(besideText(VIEW)));
    await part("payments", await pack(sampleRun(), historyText(undefined)));
    const { rollouts, repositories } = await fleet();
    expect(rollouts.map(({ key, number }) => [key, number])).toEqual([["acme/config/payments", 42]]);
    expect(repositories.map(({ repository, state }) => [repository, state])).toEqual([
      ["acme/config", "Read"],
      ["acme/other", "Reading"],
    ]);
    await stop();
  });

  const deep = "[".repeat(200_000);
  test.each<[string, string, Uint8Array | undefined, number?]>([
    ["what is not compressed", "", Buffer.from("{}")],
    ["what is nothing", "", Buffer.alloc(0)],
    ["what unpacks to far more than it is", "", gzipSync(Buffer.alloc(200 * 1024 * 1024))],
    ["what is larger than any may be", "", undefined],
    ["what is no JSON", "", text("{")],
    ["what is nested without end", "", text(deep)],
    ["another shape", "", text([])],
    ["a newer version's", "", text({}), VIEW_FORMAT + 1],
    [
      "a link that does something when it is pressed",
      "",
      beside({ releases: [{ ...PULL, links: [{ name: "#7", url: "javascript:alert(1)" }] }] }),
    ],
    ["a journal's head that is an option of git", "", beside({ journalHead: "--upload-pack=x" })],
    ["a state that there is none", "", beside({ state: "<img>" })],
    ["a run of another rollout", "payments", run({ rollout: "billing" })],
    ["a run of another format", "payments", run({ format: 9 })],
    ["a run without batches", "payments", run({ batches: "many" })],
    ["a run whose plan is none", "payments", run({ plan: { stages: null } })],
    [
      "a run whose pull request is a script",
      "payments",
      run({
        batches: sampleRun().batches.map((one) => ({
          ...one,
          pull: { ...one.pull, number: 1, head: "a", openedAt: "x", url: "javascript:alert(1)" },
        })),
      }),
    ],
    ["a run's history that is none", "payments", text(`{"stages":1}\n${JSON.stringify(sampleRun())}`)],
  ])("%s: what was read before is shown, and that it cannot be read", async (_, name, content, format) => {
    const { fleet, part, stop } = replicaOf();
    await part("", await packBeside(besideText(VIEW)));
    await part("payments", await pack(sampleRun(), historyText(undefined)));
    await part(name, content, format);
    const { rollouts, repositories } = await fleet();
    expect(rollouts.map(({ key, number, state }) => [key, number, state])).toEqual([["acme/config/payments", 42, expect.any(String)]]);
    expect(repositories[0]?.attention).toEqual([expect.stringMatching(/^this replica cannot read what another shows of it: .{5,220}$/)]);
    await stop();
  });

  test("show nothing as another repository's, whatever they call themselves", async () => {
    const { fleet, part, tell, stop } = replicaOf();
    await part("", beside({ repository: "acme/other", releases: [{ ...PULL, repository: "acme/other", planned: [] }] }));
    await part("payments", await pack(sampleRun(), historyText(undefined)));
    await tell([{ repository: "evil/unlisted", part: "", format: VIEW_FORMAT, content: beside({ repository: "evil/unlisted" }) }]);
    const whole = await fleet();
    expect(whole.repositories.map(({ repository, idleCount }) => [repository, idleCount])).toEqual([
      ["acme/config", 1],
      ["acme/other", 0],
    ]);
    expect(whole.rollouts.map(({ repository }) => repository)).toEqual(["acme/config"]);
    await stop();
  });

  test("that pass every check and cannot be drawn hide no other", async () => {
    const { fleet, part, broken, stop } = replicaOf();
    await part("", beside({ rollouts: ["payments", "search"] }));
    await part("payments", await pack(sampleRun(), historyText(undefined)));
    await part("search", run({ rollout: "search", stage: 99, since: "never", why: { code: "NO_SUCH_CODE" } }));
    const { rollouts } = await fleet();
    expect(rollouts.map(({ key }) => key)).toContain("acme/config/payments");
    expect(broken.filter((repository) => repository !== "acme/config")).toEqual([]);
    await stop();
  });
});
