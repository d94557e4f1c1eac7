import type { BatchRef } from "../../../reasons/refs.ts";

const batch: BatchRef = { stage: "canary", number: 2, kind: "Planned" };

/** Samples for fields of stages, ends and breaches that no other code has. */
export const STAGE_FIELDS = {
  ...{
    confirmed: 1,
    of: 3,
    wait: { templates: ["webcheck"] },
    about: "apart",
    attempts: 3,
    values: ["v1.4.3"],
    open: [7, batch],
    moved: true,
  },
  ...{ cannot: { code: "ROLLBACK_OF_BRANCHES" }, excused: [], other: 1, target: "hub/argocd/payments-eu-1", before: 50, ended: true },
  ...{ effect: "StartAnalysis", permission: "read" },
};

/** The ways in which these are said. */
export const STAGE_VARIANTS = {
  BATCH_SETTLED_WITH: [{ failed: ["hub/eu-1"] }, { failed: ["hub/eu-1"], excused: ["hub/us-1"] }],
  WAIT_BEGINS: [{ again: false }, { wait: { forMs: 600_000 }, again: true }, { wait: {}, again: false }],
  CLUSTERS_UNREAD: [{ about: "apart" }, { about: "putOff" }, { about: "requeued" }],
  NEXT_PROMOTED: [{}, { after: { forMs: 600_000 } }, { after: null }],
  ROLLBACK_OF_NOTHING: [{ moved: true }, { moved: false }],
  MERGE_OVER_UNCONFIRMED: [{ phase: "Syncing" }, { verdict: "pending" }, "beyondBudget", "unproven", "unmerged", "older"].map((how) => ({
    how,
  })),
  END_AND_PHASE_DIFFER: [{}, { ended: false }],
  RUN_THROUGH: [
    { phase: "Succeeded" as const, checks: [] },
    { phase: "RolledBack" as const, checks: [], skipped: ["hub/eu-1"] },
    { phase: "Failed" as const, failed: ["hub/eu-1"], quarantined: ["hub/us-1"] },
    { phase: "Succeeded" as const, checks: [], failed: ["hub/eu-1"] },
  ],
  RUN_ENDED: [
    { phase: "Succeeded" as const },
    { phase: "RolledBack" as const },
    { phase: "Failed" as const },
    { phase: "Aborted" as const },
  ],
};
