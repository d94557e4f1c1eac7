import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { type Bench, batch, bench, bring, MINUTE, noPull, pull, round, say, wants } from "../testing/bench.ts";

const rule =
  (change: Partial<NonNullable<Rollout["quarantine"]>> = {}) =>
  (rollout: Rollout) => {
    rollout.quarantine = { max: { count: 1 }, onReturn: "CatchUp", ...change };
  };

function unreachable(self: Bench, ...names: string[]): void {
  self.world = { ...self.world, unreachable: new Map(names.map((name) => [`hub/${name}`, said("dial tcp: i/o timeout")])) };
}

describe("quarantine", () => {
  test("a cluster that cannot be reached is left out, and caught up by a late batch when it is back", () => {
    const self = bench(2, [{}], rule());
    unreachable(self, "c1");
    round(self);
    expect(self.run.quarantined).toMatchObject([
      { cluster: "hub/c1", why: expect.toHaveCode("QUARANTINE_UNREACHABLE", { because: { code: "SAID", text: "dial tcp: i/o timeout" } }) },
    ]);
    expect(batch(self.run, 1).targets[0]?.cluster).toBe("hub/c2");
    unreachable(self);
    bring(self, 1, "confirmed");
    expect(self.run.quarantined).toEqual([]);
    expect(batch(self.run, 2)).toMatchObject({ kind: "CatchUp", targets: [{ cluster: "hub/c1" }] });
    bring(self, 2, "confirmed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Succeeded", why: { code: "RUN_THROUGH", quarantined: [] } });
  });

  test("one that is not back by the run's end stays as it is, and is named; it is no failure", () => {
    const self = bench(2, [{}], rule());
    unreachable(self, "c1");
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Succeeded", why: { code: "RUN_THROUGH", quarantined: ["hub/c1"] } });
  });

  test("onReturn: Skip leaves it as it is though it is back", () => {
    const self = bench(2, [{}], rule({ onReturn: "Skip" }));
    unreachable(self, "c1");
    round(self);
    unreachable(self);
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Succeeded", quarantined: [{ cluster: "hub/c1" }] });
  });

  test("more than `max` pauses the run and asks, once: /resume goes on without them", () => {
    const self = bench(3, [{ maxUnavailable: 3 }], rule());
    unreachable(self, "c1", "c2");
    round(self);
    expect(self.run.paused).toMatchObject({
      kind: "Quarantine",
      reason: { code: "QUARANTINE_FULL", clusters: ["hub/c1", "hub/c2"], most: 1 },
    });
    say(self, "/resume");
    round(self);
    expect(self.run.phase).toBe("Progressing");
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
  });

  test("a percentage is of the run's clusters, rounded up", () => {
    const self = bench(3, [{ maxUnavailable: 3 }], rule({ max: { percent: 10 } }));
    unreachable(self, "c1");
    round(self);
    expect(self.run.phase).toBe("Progressing");
  });

  test("one whose PR is open is taken out of it: the PR is closed and built again without it", () => {
    const self = bench(2, [{ maxUnavailable: 2 }], rule());
    bring(self, 1, "open");
    unreachable(self, "c1");
    expect(wants(round(self))).toContain("Close 1");
    pull(self, 1, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    expect(batch(self.run, 1)).toMatchObject({ attempt: 2, targets: [{ cluster: "hub/c2" }] });
  });

  test("after its change is merged it is watched as ever: what the release may have broken is no excuse", () => {
    const self = bench(1, [{}], rule());
    bring(self, 1, "merged");
    unreachable(self, "c1");
    round(self);
    expect(self.run.quarantined).toBeUndefined();
  });

  test("the selector tells stopped ones; a control plane that cannot be read counts after the grace", () => {
    const self = bench(2, [{}], (rollout) => rule({ selector: { matchLabels: { region: "us" }, matchExpressions: [] } })(rollout));
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run.quarantined).toMatchObject([{ cluster: "hub/c2", why: { code: "QUARANTINE_MATCHED" } }]);
    const lost = bench(1, [{}], rule());
    lost.world = { ...lost.world, lostPlanes: new Map([["hub", { since: iso(lost.now), why: said("no route") }]]) };
    round(lost);
    expect(lost.run.quarantined).toBeUndefined();
    noPull(lost, 1);
    round(lost, MINUTE);
    expect(lost.run.quarantined).toMatchObject([{ cluster: "hub/c1", why: { code: "CONTROL_PLANE_UNSEEN", plane: "hub" } }]);
  });

  test("without the rule nobody is left out", () => {
    const self = bench(1);
    unreachable(self, "c1");
    round(self);
    expect(batch(self.run, 1).targets).toHaveLength(1);
  });

  test("the release value is restored by a rollback though its last clusters are all left out", () => {
    const self = bench(2, [{}], rule({ max: { count: 2 } }));
    const also = [{ file: "releases/app.yaml", path: "version", kind: "value" as const, from: "v2", to: "v1" }];
    self.run = { ...self.run, kind: "Rollback", of: 41, restore: also, quarantined: [] };
    bring(self, 1, "open");
    expect(batch(self.run, 1).also).toBeUndefined();
    unreachable(self, "c2");
    bring(self, 1, "confirmed");
    round(self);
    expect(batch(self.run, 2)).toMatchObject({ also, targets: [] });
    bring(self, 2, "confirmed");
    round(self);
    expect(self.run.phase).toBe("RolledBack");
  });
});
