/** The shape of many rollouts at once, as the page's first screen draws them and the API answers. Made by `fleet.ts`. */
import { z } from "zod";
import { key } from "../../spec/schema-common.ts";
import { GROUPS } from "./labels.ts";
import { text } from "./node-schema.ts";
import { runSchema } from "./run-schema.ts";

const run = runSchema.shape;

/** One rollout: its last run without what is below it, and a release that was merged since and started none. */
export const fleetRolloutSchema = z
  .object({
    key: key(text, "`acme/config/payments`; of a refused release that is no rollout's `acme/config/#12`."),
    repository: key(text, "`acme/config`."),
    rollout: key(text.optional(), "Absent: what was merged is no rollout for its errors."),
    group: key(z.enum(GROUPS), "What it wants: a person, a look, nothing but time, a mend, or nothing."),
    number: key(run.number.optional(), "Of its last run; absent: it has none."),
    state: run.state.optional(),
    tone: run.tone,
    release: run.release.optional(),
    change: run.change,
    says: run.says,
    reason: run.reason,
    ask: run.ask,
    waitsOn: run.waitsOn,
    waitsFor: run.waitsFor,
    since: run.since,
    startedAt: run.startedAt.optional(),
    endedAt: run.endedAt,
    eta: run.eta,
    deadline: run.deadline,
    counts: run.counts.optional(),
    pull: run.pull,
    author: run.author.optional(),
    links: run.links,
    refused: key(run.refused, "At most three of its problems."),
  })
  .meta({ id: "FleetRollout" });

/** A repository in which something stands still that is no run's own matter. */
export const fleetRepositorySchema = z
  .object({ repository: text, attention: key(z.array(text), "What keeps the server from its work there; empty: nothing any more.") })
  .meta({ id: "FleetRepository" });

export const fleetSchema = z
  .object({
    apiVersion: run.apiVersion,
    kind: z.literal("Fleet"),
    rollouts: key(z.array(fleetRolloutSchema), "By group, then by name."),
    repositories: key(z.array(fleetRepositorySchema), "Those that want attention."),
  })
  .meta({ id: "Fleet" });

export type Fleet = z.output<typeof fleetSchema>;
export type FleetRollout = z.output<typeof fleetRolloutSchema>;
export type FleetRepository = z.output<typeof fleetRepositorySchema>;
