/** The documents of the API that no other view has, and the paths they are at. */
import { z } from "zod";
import { fleetSchema } from "../../../core/report/model/fleet-schema.ts";
import { runSchema } from "../../../core/report/model/run-schema.ts";
import { key } from "../../../core/spec/schema-common.ts";

const text = z.string();
const time = text.describe("ISO, in UTC.");
const { apiVersion } = runSchema.shape;

export const runHistorySchema = z
  .object({
    apiVersion,
    kind: z.literal("RunHistory"),
    repository: text,
    rollout: text,
    items: key(
      z.array(
        z.object({
          number: z.int(),
          phase: key(text, "As the run ended or stands; `Unreadable`: its files cannot be read."),
          release: text,
          startedAt: key(time.optional(), "Absent: it cannot be read."),
          endedAt: time.optional(),
        }),
      ),
      "Newest first.",
    ),
    next: key(text.optional(), "Where the runs before these are, as a reference relative to this address; absent: there are none."),
  })
  .meta({ id: "RunHistory" });

const eventSchema = z
  .object({
    at: time,
    says: key(text, "What was recorded: `payments #42: batch 3 of 9 merged`."),
    by: key(text.optional(), "The person it was done for."),
    commit: key(text, "Of the journal."),
    trailers: z.record(text, text),
  })
  .meta({ id: "RunEvent" });

export const runEventsSchema = z
  .object({
    apiVersion,
    kind: z.literal("RunEvents"),
    repository: text,
    rollout: text,
    number: z.int(),
    items: key(z.array(eventSchema), "Oldest first; of more than 5,000 the last."),
  })
  .meta({ id: "RunEvents" });

export type RunHistory = z.output<typeof runHistorySchema>;
export type RunEvents = z.output<typeof runEventsSchema>;
export const SCHEMAS = { fleetSchema, runSchema, runHistorySchema, runEventsSchema };
