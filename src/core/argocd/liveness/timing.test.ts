import { expect, test } from "vitest";
import { application, at, COMMIT, input, LATER, NOW, REPO } from "../../../adapters/argocd/testing/application.ts";
import { assess } from "./liveness.ts";

const status = (over: Record<string, unknown>) => application({ status: over });

test("a clock that is ahead by less than five minutes is made up for, by no more than was measured", () => {
  const ahead = application({ status: { reconciledAt: at("10:02:00") } });
  const goodSince = at("10:01:00");
  const read = (now: string) => assess(input({ application: ahead, now: Date.parse(at(now)), held: { goodSince } }));
  // Read at 10:01:00 with a time of 10:02:00 in it: at least a minute ahead, so that time was 10:01:00 at the latest.
  expect(read("10:01:09").clause).toBe("settled");
  expect(read("10:01:10").verdict).toBe("live");
  expect(read("10:01:10").evidence.fields["clockAheadSeconds"]).toBe(60);
  const hours = application({ status: { reconciledAt: at("12:00:00") } });
  expect(assess(input({ application: hours, now: Date.parse(at("10:30:00")), held: { goodSince } })).verdict).toBe("pending");
});

test("grace is counted by our own clock as well, so that a clock that is behind shortens it by nothing", () => {
  const degraded = application({ status: { health: { status: "Degraded", lastTransitionTime: at("10:00:20") } } });
  const first = assess(input({ application: degraded, now: NOW + 300_000, held: {} }));
  expect(first).toMatchObject({ verdict: "pending", held: { badSince: "2026-11-21T10:06:00.000Z" } });
  const { held = {} } = first;
  expect(assess(input({ application: degraded, now: NOW + 359_000, held })).verdict).toBe("pending");
  const twice = status({ health: { status: "Degraded", lastTransitionTime: at("10:00:20") }, reconciledAt: at("10:06:30") });
  expect(assess(input({ application: twice, now: NOW + 360_000, held, firstSeenAt: at("10:00:10") })).verdict).toBe("failing");
});

test("the comparison that first showed a file of another source is no second one, though its clock is ahead and ours clamps the sight", () => {
  const sources = [
    { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.2.3", helm: { valueFiles: ["$values/web.yaml"] } },
    { repoURL: REPO, targetRevision: "main", ref: "values" },
  ];
  const spec = { source: undefined, sources };
  const sync = { revision: undefined, revisions: ["1.2.3", COMMIT], comparedTo: { source: undefined, sources } };
  const compared = (clock: string, read: string) => {
    const now = Date.parse(`2026-11-21T${read}Z`);
    return { application: application({ spec, status: { sync, operationState: undefined, reconciledAt: at(clock) } }, now), now };
  };
  const first = assess(input({ ...compared("10:02:00", "10:01:57.200"), held: {} }));
  expect(first).toMatchObject({ clause: "reconciled", firstComparedAt: "2026-11-21T10:02:00.000Z" });
  const { firstComparedAt = "" } = first;
  const kept = { firstSeenAt: "2026-11-21T10:01:57.200Z", held: { goodSince: at("10:01:58") } };
  // What an older version has kept lacks it: nothing is known to be later then.
  for (const known of [{ firstComparedAt }, {}]) {
    const same = assess(input({ ...compared("10:02:00", "10:04:00"), ...kept, ...known }));
    expect(same).toMatchObject({ verdict: "pending", clause: "reconciled", sentence: { code: "REFERENCE_COMPARED_ONCE" } });
  }
  expect(assess(input({ ...compared("10:03:00", "10:04:00"), ...kept, firstComparedAt })).verdict).toBe("live");
});

test("a sign of life that is missing once is pending, and lost only where it is missing for the grace", () => {
  const asked = (clock: string, more: object) => ({ ...application({}), askedAt: at(clock), clusterAnswer: { at: at(clock), ...more } });
  const missed = { failed: "dial tcp: i/o timeout", since: at("10:00:50") };
  const look = (clock: string, more: object) =>
    assess(input({ application: asked(clock, more), now: Date.parse(at(clock)) + 1000, kept: {}, held: { goodSince: at("10:00:30") } }));
  expect(look("10:00:50", missed)).toMatchObject({ verdict: "pending", clause: "cluster", lookAgainAt: "2026-11-21T10:01:20.000Z" });
  expect(look("10:01:49", missed).verdict).toBe("pending");
  expect(look("10:01:50", missed)).toMatchObject({ verdict: "lost", clause: "cluster" });
  // Kept by a version that did not say since when.
  expect(look("10:01:50", { failed: "dial tcp: i/o timeout" }).verdict).toBe("pending");
  const unclear = look("10:01:50", { unclear: "the server could not find the requested resource" });
  expect(unclear).toMatchObject({ verdict: "live", sentence: { cluster: "unasked" } });
  expect(unclear.evidence.fields["clusterAnsweredAt"]).toContain("cannot be asked: the server could not find");
});

test("what one comparison alone says never fails, and the second is asked for at half of the grace", () => {
  const blip = [{ type: "ComparisonError", message: "dial tcp: i/o timeout", lastTransitionTime: at("10:00:45") }];
  const unknown = { sync: { status: "Unknown", revision: "main" }, conditions: blip, reconciledAt: at("10:00:45") };
  const first = assess(input({ application: status(unknown), firstSeenAt: at("10:00:10"), held: {} }));
  expect(first).toMatchObject({ verdict: "pending", wantsRefresh: true, lookAgainAt: "2026-11-21T10:01:30.000Z" });
  const { held = {} } = first;
  const later = assess(input({ application: status(unknown), firstSeenAt: at("10:00:10"), now: NOW + 600_000, held }));
  expect(later).toMatchObject({ verdict: "pending", wantsRefresh: true });
  // The message is another one each time, so that its time moves with every comparison.
  const again = {
    ...unknown,
    conditions: [{ ...blip[0], message: "lookup git", lastTransitionTime: at("10:05:00") }],
    reconciledAt: at("10:05:00"),
  };
  expect(assess(input({ application: status(again), firstSeenAt: at("10:00:10"), now: NOW + 600_000, held })).verdict).toBe("failing");
});

test("a second comparison is asked for at half of the grace, not only once all of it is over", () => {
  const conditions = [{ type: "UnknownError", message: "x", lastTransitionTime: at("10:00:45") }];
  const application = status({ conditions, reconciledAt: at("10:00:45"), operationState: undefined });
  const asks = (seconds: number) =>
    assess(input({ application, firstSeenAt: at("10:00:10"), now: NOW + seconds * 1000, held: { badSince: new Date(NOW).toISOString() } }))
      .wantsRefresh;
  expect([29, 30, 59].map(asks)).toEqual([false, true, true]);
});

test("what something paused in it keeps still is said, and only once the change is seen", () => {
  const suspended = { health: { status: "Suspended" } };
  expect(assess(input({ application: status(suspended) })).clockStopped).toBe(true);
  expect(assess(input({ application: status({ ...suspended, reconciledAt: at("09:00:00") }) })).clockStopped).toBeUndefined();
});

test("a retry that is waited for is looked at again once nobody can have begun it", () => {
  const retrying = status({ operationState: { phase: "Running", retryCount: 1, message: "hook failed" } });
  expect(assess(input({ application: retrying })).lookAgainAt).toBe("2026-11-21T10:05:18.001Z");
});

test("of many sources the first are said, and how many more there are", () => {
  const sources = Array.from({ length: 90 }, (_, n) => ({ repoURL: REPO, path: `apps/${n}`, targetRevision: "main" }));
  const revisions = sources.map((_, n) => (n === 0 ? LATER : COMMIT));
  const sync = { revision: undefined, revisions, comparedTo: { source: undefined, sources } };
  const many = application({ spec: { source: undefined, sources }, status: { sync, operationState: undefined } });
  const assessment = assess(input({ application: many, ancestry: () => "contains" }));
  expect(assessment).toMatchObject({ verdict: "live", sentence: { code: "CHANGE_LIVE", seen: [LATER, COMMIT, COMMIT], more: 87 } });
  expect(String(assessment.evidence.fields["seenRevision"])).toMatch(/, c{40} and 70 more$/);
});

test("settling counts from the end of an operation that came after the first sight", () => {
  const resynced = status({ operationState: { startedAt: at("10:00:45"), finishedAt: at("10:00:50") }, reconciledAt: at("10:00:52") });
  const read = (clock: string) => assess(input({ application: resynced, firstSeenAt: at("10:00:10"), now: Date.parse(at(clock)) })).clause;
  expect([read("10:00:59"), read("10:01:00")]).toEqual(["settled", "all"]);
});

test("settling never counts from before the merge, however far ahead the cluster's clock is", () => {
  const ahead = application(
    { status: { reconciledAt: at("10:04:04"), health: { lastTransitionTime: at("08:00:00") }, operationState: undefined } },
    Date.parse(at("10:00:04")),
  );
  const held = { goodSince: at("09:59:50") };
  const read = (clock: string) =>
    assess(input({ application: ahead, firstSeenAt: at("10:00:02"), held, now: Date.parse(at(clock)) })).clause;
  expect([read("10:00:09"), read("10:00:10")]).toEqual(["settled", "all"]);
});

test("compared in the very second of the merge the change is seen then where the revision proves it", () => {
  const same = status({ reconciledAt: at("10:00:00"), operationState: undefined });
  expect(assess(input({ application: same })).firstSeenAt).toBe("2026-11-21T10:00:00.000Z");
});

test("auto-sync off with a sync under way waits for nobody", () => {
  const manual = { spec: { syncPolicy: undefined }, status: { sync: { status: "OutOfSync" } } };
  expect(assess(input({ application: application(manual) })).verdict).toBe("waiting");
  expect(assess(input({ application: application({ ...manual, operation: { sync: {} } }) }))).toMatchObject({
    verdict: "pending",
    clause: "operation",
  });
  const running = { ...manual.status, operationState: { phase: "Running", finishedAt: undefined } };
  expect(assess(input({ application: application({ ...manual, status: running }) }))).toMatchObject({
    verdict: "pending",
    clause: "operation",
  });
});
