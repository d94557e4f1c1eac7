/** The shape of many rollouts at once, as the page's first screen draws them and the API answers. Made by `fleet.ts`. */
import { z } from "zod";
import { key } from "../../../spec/schema-common.ts";
import { GROUPS } from "../labels.ts";
import { text, time } from "./node.ts";
import { fleetReleaseSchema } from "./plan.ts";
import { runSchema } from "./run.ts";
import { versionShare } from "./versions.ts";

const run = runSchema.shape;

/** One rollout: its last run without what is below it, and a release that was merged since and started none. */
export const fleetRolloutSchema = z
  .object({
    key: key(text, "`acme/config/payments`; of a refused release that is no rollout's `acme/config/#12`."),
    repository: key(text, "`acme/config`."),
    rollout: key(text.optional(), "Absent: what was merged is no rollout for its errors."),
    group: key(z.enum(GROUPS), "What it wants: a person, a look, nothing but time, a mend, or nothing."),
    failing: key(z.literal(true).optional(), "Something of it failed: it counts as failing, too, where it waits for a person."),
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
    targetBy: run.targetBy,
    pull: run.pull,
    author: run.author.optional(),
    links: run.links,
    refused: key(run.refused, "At most three of its problems."),
    versions: key(
      z.array(versionShare).optional(),
      "How many of its targets have which version, the most first; what it says of them is the run's.",
    ),
    unread: key(text.optional(), "The file of the journal for which its last run cannot be read."),
  })
  .meta({ id: "FleetRollout" });

/** A repository that is looked after. */
export const fleetRepositorySchema = z
  .object({
    repository: text,
    attention: key(z.array(text), "What keeps the server from its work there; empty: nothing."),
    state: key(
      z.enum(["Reading", "Read", "Held", "Gone"]),
      "Reading: it was not looked at yet. Held: its journal cannot be gone by, so what is shown is from before. Gone, in events: it is looked after no more.",
    ),
    idle: key(z.array(text), "Rollouts that had no run yet, the first 20 by name."),
    idleCount: z.int(),
  })
  .meta({ id: "FleetRepository" });

export const fleetSchema = z
  .object({
    apiVersion: run.apiVersion,
    kind: z.literal("Fleet"),
    at: key(time.optional(), "The moment that was asked for; absent: now."),
    isWhole: key(
      z.boolean(),
      "Whoever asks sees everything; else only what GitHub shows them, and repositories without a rollout are left out.",
    ),
    rollouts: key(z.array(fleetRolloutSchema), "By group, then by name."),
    releases: key(z.array(fleetReleaseSchema), "Open release PRs, as they were judged last."),
    repositories: key(z.array(fleetRepositorySchema), "Those that are looked after."),
  })
  .meta({ id: "Fleet" });

export type Fleet = z.output<typeof fleetSchema>;
export type FleetRollout = z.output<typeof fleetRolloutSchema>;
export type FleetRepository = z.output<typeof fleetRepositorySchema>;
