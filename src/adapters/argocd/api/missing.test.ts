import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { assess } from "../../../core/argocd/liveness/liveness.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import type { ControlPlane } from "../port.ts";
import { input } from "../testing/application.ts";
import { applicationSet, named, until } from "../testing/contract.ts";
import { apiHarness } from "../testing/harness.ts";
import { WireError } from "../wire/http.ts";
import type { Versioned } from "../wire/source.ts";
import { openApiPlane } from "./index.ts";
import { withheldOf } from "./missing.ts";

const log = { info: () => undefined, warn: () => undefined };
const ALL = ["applications", "applicationsets", "clusters"].map((what) => `p, r, ${what}, get, *, allow`);
const SOME = [...ALL, "p, r, applications, get, other/*, deny", "p, r, applicationsets, get, other/*, deny"];
const inOther = (name: string) => ({ ...named(name), spec: { ...(named(name)["spec"] as object), project: "other" } });

describe("an account that loses a project while a run goes on", () => {
  let harness: Awaited<ReturnType<typeof apiHarness>>;
  let folder: string;
  let plane: ControlPlane;
  /** From now on the account may do this, and everything is listed anew. */
  async function becomes(policies: string[]): Promise<void> {
    await writeFile(join(folder, "token"), harness.api.addAccount("r", policies));
    harness.api.faults.dropStreams();
  }
  beforeEach(async () => {
    harness = await apiHarness();
    folder = await mkdtemp(join(tmpdir(), "stagecoach-test-"));
    await becomes(ALL);
    for (const object of [named("mine"), named("goes"), inOther("theirs"), inOther("dies")]) await harness.put(object);
    await harness.put({ ...applicationSet("theirs"), spec: { generators: [], template: { spec: { project: "other" } } } });
    const { url, ca, clock } = harness;
    const tuning = { staleMs: 0, maxBackoffMs: 20, clustersMs: 50, random: () => 0 };
    plane = openApiPlane({ name: "hub", url, ca, tokenFile: join(folder, "token"), clock, log, tuning });
    await plane.ready();
  });
  afterEach(async () => {
    await plane.close();
    await harness.close();
    await rm(folder, { recursive: true });
  });

  test("is told what it may not see, which is neither lost nor well; what is gone is gone", async () => {
    expect(assess(input({ application: plane.application("argocd", "theirs") })).verdict).toBe("live");
    harness.lose(() => true);
    await harness.remove("Application", "argocd", "goes");
    await harness.remove("Application", "argocd", "dies");
    await becomes(SOME);
    await until(
      plane,
      () =>
        plane.application("argocd", "theirs")?.unreadable !== undefined &&
        plane.applicationSet("argocd", "theirs")?.unreadable !== undefined,
    );
    const theirs = plane.application("argocd", "theirs");
    expect(theirs).toMatchObject({ spec: { project: "other" }, status: { health: {}, conditions: [] } });
    expect(assess(input({ application: theirs }))).toMatchObject({ verdict: "pending", clause: "readable" });
    expect(theirs?.unreadable).toHaveCode("UNLISTED_FORBIDDEN");
    expect(theirs?.unreadable).toHaveCode("GRANT_WANTED", { grant: "p, ACCOUNT, applications, get, other/*, allow" });
    // Whether one that may not be looked at is there at all, Argo CD tells nobody.
    expect(plane.application("argocd", "dies")?.unreadable).toBeDefined();
    expect(plane.application("argocd", "goes")).toBeUndefined();
    expect(plane.application("argocd", "mine")).not.toHaveProperty("unreadable");
    expect(plane.applicationSet("argocd", "theirs")?.unreadable).toMatchObject({ code: "UNLISTED_FORBIDDEN" });
    expect(await plane.reread("argocd", "theirs")).toMatchObject({ kind: "failed", why: expect.toHaveCode("GRANT_WANTED") });
    expect(plane.state().fresh).toBe(true);
  });

  test("and gets it back, sees it as it is", async () => {
    await becomes(SOME);
    // Each is listed for itself.
    const are = (there: boolean) => () =>
      (plane.application("argocd", "theirs")?.unreadable === undefined) === there &&
      (plane.applicationSet("argocd", "theirs")?.unreadable === undefined) === there;
    await until(plane, are(false));
    await becomes(ALL);
    await until(plane, are(true));
    expect(plane.application("argocd", "theirs")?.status.health.status).toBe("Healthy");
    expect(plane.applicationSet("argocd", "theirs")).toBeDefined();
  });
});

describe("asking for those that are missing", () => {
  const many = (count: number, over: Partial<Versioned> = {}) =>
    new Map(Array.from({ length: count }, (_, i) => [`argocd/a-${i}`, { resourceVersion: String(i), ...over } as Versioned]));
  const asking = (ask: (view: Versioned) => Promise<unknown>) => ({
    ask,
    withhold: (view: Versioned, unreadable: AnyReason) => ({ ...view, unreadable }),
    grant: () => "p",
  });
  const open = { clock: manualClock(), isClosed: () => false };

  test("a few hundred are asked for, each in its turn, and the others are not taken for gone", async () => {
    const asked: string[] = [];
    const options = asking(async ({ resourceVersion }) => {
      asked.push(resourceVersion);
      throw new WireError(403, { code: "PROGRAM_SAYS", message: "permission denied" });
    });
    const first = await withheldOf(many(700), options, open);
    expect([asked.length, first.kept.size, first.unsettled]).toEqual([500, 700, true]);
    const second = await withheldOf(first.kept, options, open);
    expect([new Set(asked).size, second.kept.size, second.unsettled]).toEqual([700, 700, false]);
    expect(open.clock.waiting()).toBe(0);
  });

  test("where nothing answers hundreds are not waited for", async () => {
    let asked = 0;
    const silent = asking(async () => {
      asked += 1;
      throw new WireError(0, { code: "PROGRAM_SAYS", message: "no answer" });
    });
    expect(await withheldOf(many(100), silent, open)).toMatchObject({ kept: { size: 100 }, unsettled: true });
    expect(asked).toBeLessThanOrEqual(8);
  });

  test("those it answers for are gone; what one in between says is no answer", async () => {
    const told = asking(async ({ resourceVersion }) => {
      if (resourceVersion === "1") throw new WireError(404, { code: "PROGRAM_SAYS", message: "no Route matched" });
    });
    const { kept, unsettled } = await withheldOf(many(3), told, open);
    expect(unsettled).toBe(true);
    expect([...kept].map(([key, { unreadable }]) => [key, unreadable])).toEqual([
      ["argocd/a-1", { code: "UNLISTED_ASKING_FAILED", because: { code: "PROGRAM_SAYS", message: "no Route matched" } }],
    ]);
  });

  test("where it takes its time, what is not answered in 30 s counts as not asked", async () => {
    const clock = manualClock();
    const pending: { name: string; answer: () => void }[] = [];
    const slow = asking(({ resourceVersion: name }) => new Promise<void>((answer) => pending.push({ name, answer: () => answer() })));
    const first = withheldOf(many(20), slow, { clock, isClosed: () => false });
    clock.advance(20_000);
    for (const { answer } of pending.splice(0)) answer();
    await vi.waitFor(() => expect(pending).toHaveLength(8));
    clock.advance(10_000);
    const { kept, unsettled } = await first;
    expect([kept.size, unsettled, pending.length]).toEqual([12, true, 8]);
    expect(kept.get("argocd/a-8")?.unreadable).toEqual({ code: "UNLISTED_UNASKED" });
    // Too late: what was told already stays as it was told, and nobody else is asked about.
    for (const { answer } of pending.splice(0)) answer();
    await new Promise(setImmediate);
    expect([kept.size, pending.length]).toEqual([12, 0]);
  });

  test("what could not be read whole before it left the list has not been asked about", async () => {
    const forbidden = asking(async () => {
      throw new WireError(403, { code: "PROGRAM_SAYS", message: "permission denied" });
    });
    const known = new Map([...(await withheldOf(many(500), forbidden, open)).kept, ["argocd/deep", DEEP]]);
    const asked: string[] = [];
    const gone = asking(async ({ resourceVersion }) => asked.push(resourceVersion));
    await withheldOf(known, gone, open);
    expect(asked[0]).toBe("deep");
  });
});

const DEEP: Versioned = { resourceVersion: "deep", unreadable: { code: "NESTED_TOO_DEEP", most: 200 } };
