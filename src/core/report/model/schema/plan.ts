/** The shape of what merging an open release PR would do, as the page draws it and the API answers. Made by `../plan/plan-model.ts`. */
import { z } from "zod";
import { key } from "../../../spec/schema-common.ts";
import { change, link, text, time, valueChange } from "./node.ts";
import { countedBy, refusedProblem, runSchema } from "./run.ts";

const took = z.object({
  p50Ms: key(z.int(), "Half of the earlier runs were faster."),
  p90Ms: key(z.int(), "Nine of ten were."),
  runs: key(z.int(), "So many there were."),
});

const plannedBatch = z.object({
  clusters: key(z.array(text), "By name; of a very large plan not all: see `size`."),
  size: key(z.int(), "How many clusters."),
  targets: key(z.int(), "How many Applications."),
  changes: key(
    z.array(change.extend({ value: key(text.optional(), "Which of several values of the release.") })),
    "What becomes of their versions, each kind of change once, ten at most; `from` and `to` alike: it is there already.",
  ),
});

const plannedStage = z.object({
  name: text,
  clusters: z.int(),
  batchCount: z.int(),
  atOnce: key(z.int(), "How many clusters may be in flight."),
  gates: key(z.array(text), "What its batches wait for: `bake 10m`, `approval of acme/sre`."),
  took: key(took.optional(), "From when its turn comes, waits for windows from now on counted in. Absent: no run went through it yet."),
  requeued: key(z.array(text), "Clusters put off to its end."),
  requeuedCount: z.int(),
  batches: key(z.array(plannedBatch), "In order; of a very large plan not all: see `batchCount`."),
});

/** One rollout's part of a release PR, judged. */
export const plannedSchema = z.object({
  rollout: key(text.optional(), "Absent: what is wrong or withheld is no single rollout's."),
  state: key(
    z.enum(["Planned", "Warned", "Against", "Refused", "Waiting", "NotPlanned"]),
    "Warned: merged now, its run would stand still. Against: planned, and something stands against merging it. Refused: no run would start. Waiting: something cannot be seen now. NotPlanned: nobody who may has asked for its plan, or making it took too much.",
  ),
  says: key(text, "What merging it does, or why that is not known."),
  release: text.optional(),
  change: change.optional(),
  values: key(z.array(valueChange).optional(), "Of a release of several values: what becomes of each."),
  mode: text.optional(),
  planHash: text.optional(),
  targetBy: countedBy,
  counts: key(z.object({ clusters: z.int(), batches: z.int(), stages: z.int() }).optional(), "Absent: there is no plan."),
  against: key(z.array(text), "Why it should not be merged."),
  before: key(z.array(text), "What to put right before it is merged, since its run would stand still."),
  overlap: key(text.optional(), "What becomes of the run that goes on."),
  problems: z.array(refusedProblem),
  warnings: z.array(z.object({ code: text, says: text })),
  expected: key(z.object({ says: text, total: took.optional(), leastMs: z.int(), waitMs: z.int() }).optional(), "How long it will take."),
  rules: key(z.array(text), "What the run would go by besides: windows, limits, rules of the branch."),
  uncovered: key(z.int(), "Clusters that no stage takes."),
  stages: z.array(plannedStage),
});

const pullFields = z.object({
  repository: text,
  pull: z.int(),
  title: text,
  author: text,
  head: key(text, "The commit that was judged."),
  isFork: key(z.boolean(), "It comes from another repository: anybody may have written it."),
  judgedAt: time,
  links: z.array(link),
});

/** What is answered of one PR and one rollout. */
export const planSchema = plannedSchema
  .extend({ apiVersion: runSchema.shape.apiVersion, kind: z.literal("Plan"), ...pullFields.shape })
  .meta({ id: "Plan" });

/** The same in a list of many. */
export const fleetReleaseSchema = plannedSchema
  .omit({ stages: true, rules: true, warnings: true, expected: true })
  .extend({ key: key(text, "`acme/config/payments/pulls/12`; of no single rollout `acme/config/pulls/12`."), ...pullFields.shape })
  .extend({ problems: key(z.array(refusedProblem), "At most three."), took: key(took.optional(), "The whole run.") })
  .meta({ id: "FleetRelease" });

export type Planned = z.output<typeof plannedSchema>;
export type PlannedStage = z.output<typeof plannedStage>;
export type PlanDocument = z.output<typeof planSchema>;
export type FleetRelease = z.output<typeof fleetReleaseSchema>;
export const releasePullSchema = pullFields.extend({ planned: z.array(plannedSchema) });
/** A release PR, with what each rollout it concerns makes of it. */
export type ReleasePull = z.output<typeof pullFields> & { planned: readonly Planned[] };
