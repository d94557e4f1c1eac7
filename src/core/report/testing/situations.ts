/** Eight situations a person may find a run in, each brought about by the state machine itself, for the golden files of every surface. */
import { defined } from "../../base/defined.ts";
import { iso } from "../../base/time.ts";
import { livenessReason } from "../../reasons/liveness.ts";
import type { Problem } from "../../reasons/problems/problem.ts";
import { said } from "../../reasons/run.ts";
import type { Run } from "../../run/state/run.ts";
import { type Bench, bench, bring, judge, MINUTE, pull, round, SECOND, say, see } from "../../run/testing/bench.ts";
import type { Rollout } from "../../spec/rollout.ts";

/** The eighth: a release of which no run began, as the engine hands it to whoever shows it. */
export const REFUSED_RELEASE = {
  ...{ rollout: "payments", values: { version: "v2" }, commit: "c".repeat(40), pull: 1, at: "2026-01-05T09:00:03.000Z" },
  problems: [
    {
      code: "SOURCE_NOT_FOUND",
      kind: "NotInRepo",
      source: { kind: "ApplicationSet", namespace: "argocd", name: "payments" },
      ...{ inventory: false, severity: "error", file: "rollouts/payments.yaml", line: 12, column: 9, path: [] },
    },
  ] as readonly Problem[],
};

interface Situation {
  run: Run;
  now: number;
}

const DAY = "2026-01-05";

/** Three clusters in two stages, a bake of ten minutes between them. */
function begun(change: (rollout: Rollout) => void = () => undefined): Bench {
  return bench(4, [{ region: "eu", maxUnavailable: 2, bakeMs: 10 * MINUTE }, { region: "us" }], (rollout) => {
    rollout.name = "payments";
    change(rollout);
  });
}

function at(self: Bench): Situation {
  return { run: self.run, now: self.now };
}

function running(): Situation {
  const self = begun();
  bring(self, 1, "merged");
  healthy(self, "c1");
  const sentence = livenessReason("CHANGE_NOT_SEEN", {
    because: livenessReason("COMMIT_NOT_SEEN", { seen: "a".repeat(40), commit: "c".repeat(40) }),
  });
  seeing(self, "c3", "pending", sentence);
  round(self, 40 * SECOND);
  return at(self);
}

/** What a read of Argo CD gives, with a reason of its own. */
function seeing(self: Bench, cluster: string, verdict: "pending" | "failing" | "live", sentence: ReturnType<typeof livenessReason>): void {
  judge(self, cluster, verdict, "health");
  const seen = self.world.targets.get(`hub/argocd/app-${cluster}`);
  if (seen?.assessment === undefined) throw new Error("it was judged");
  const evidence = seen.assessment.evidence && { ...seen.assessment.evidence, sentence };
  see(self, cluster, { assessment: defined({ ...seen.assessment, sentence, evidence }) as typeof seen.assessment });
}

function healthy(self: Bench, ...clusters: string[]): void {
  for (const cluster of clusters) {
    const times = { day: DAY, since: iso(self.now - MINUTE), comparedAt: iso(self.now) };
    seeing(self, cluster, "live", livenessReason("CHANGE_LIVE", { seen: ["c".repeat(40)], more: 0, health: "Healthy", ...times }));
    const { assessment } = self.world.targets.get(`hub/argocd/app-${cluster}`) ?? {};
    if (assessment !== undefined) see(self, cluster, { assessment: { ...assessment, clause: "all" } });
  }
}

function baking(): Situation {
  const self = begun();
  bring(self, 1, "merged");
  healthy(self, "c1", "c3");
  round(self, 2 * MINUTE);
  round(self, 3 * MINUTE);
  return at(self);
}

function windowShut(): Situation {
  const self = begun((rollout) => {
    rollout.windows = [{ schedule: "0 14 * * 1-5", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" }];
  });
  bring(self, 1, "merging");
  return at(self);
}

function awaitingApproval(): Situation {
  const self = begun((rollout) => {
    for (const stage of rollout.stages) stage.approval = { teams: ["acme/sre"], count: 1 };
  });
  self.world = { ...self.world, approvals: new Map() };
  bring(self, 1, "merging");
  return at(self);
}

function failed(): Situation {
  const self = begun();
  bring(self, 1, "merged");
  healthy(self, "c1");
  const message = 'Deployment "web": 0 of 3 pods are ready, CrashLoopBackOff';
  seeing(self, "c3", "failing", livenessReason("DEGRADED", { day: DAY, since: iso(self.now), seenAt: iso(self.now), message }));
  round(self, 2 * MINUTE);
  round(self, SECOND);
  return at(self);
}

function planeLost(): Situation {
  const self = begun();
  bring(self, 1, "merged");
  const lost = { since: iso(self.now), why: said("connect ECONNREFUSED 10.0.0.7:443") };
  self.world = {
    ...self.world,
    clustersKnown: false,
    lostPlanes: new Map([["hub", lost]]),
  };
  for (const cluster of ["c1", "c3"]) see(self, cluster, { assessment: undefined });
  round(self, MINUTE);
  return at(self);
}

function done(): Situation {
  const self = begun();
  bring(self, 1, "merged");
  healthy(self, "c1", "c3");
  round(self, MINUTE);
  round(self, 11 * MINUTE);
  for (const batch of [2, 3]) {
    round(self);
    pull(self, batch);
    bring(self, batch, "merged");
    healthy(self, ...(self.run.batches[batch - 1]?.targets ?? []).map(({ cluster }) => cluster.slice(4)));
    round(self, MINUTE);
    round(self);
  }
  round(self);
  return at(self);
}

function pausedByPerson(): Situation {
  const self = begun();
  bring(self, 1, "open");
  say(self, "/pause errors on the checkout page", { args: ["errors", "on", "the", "checkout", "page"] });
  round(self);
  return at(self);
}

export const SITUATIONS: Readonly<Record<string, () => Situation>> = {
  running,
  baking,
  "window shut": windowShut,
  "waiting for approval": awaitingApproval,
  failed,
  "control plane lost": planeLost,
  "paused by a person": pausedByPerson,
  done,
};
