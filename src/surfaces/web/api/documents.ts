/** The documents of the API that no other view has. */
import { z } from "zod";
import { fleetRepositorySchema, fleetRolloutSchema } from "../../../core/report/model/schema/fleet.ts";
import { fleetReleaseSchema } from "../../../core/report/model/schema/plan.ts";
import { runSchema } from "../../../core/report/model/schema/run.ts";
import { COMMAND_NAMES, type Permission } from "../../../core/spec/commands.ts";
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

/** What a target was judged by, as the journal has it. */
export const targetEvidenceSchema = z
  .object({
    apiVersion,
    kind: z.literal("TargetEvidence"),
    repository: text,
    rollout: text,
    number: z.int(),
    target: key(text, "`hub/argocd/payments-eu-1`."),
    batch: key(z.int(), "The last one that it was in."),
    merged: key(z.object({ commit: text, at: time }).optional(), "What has to be live; absent: the batch has not merged."),
    evidence: key(
      z
        .object({
          verdict: key(text, "`live`, `pending`, `waiting`, `failing` or `lost`."),
          clause: key(text, "The clause that was not met; `all`: each was. docs/liveness.md has them."),
          readAt: time,
          fields: key(z.array(z.object({ name: text, value: text })), "What Argo CD showed, by the names of its fields."),
        })
        .optional(),
      "Of the last look; absent: nobody has looked.",
    ),
  })
  .meta({ id: "TargetEvidence" });

/** What is told of a change. */
export const helloSchema = z
  .object({ now: key(time, "The server's clock."), speed: key(z.number(), "Its seconds in one of yours; 1 but in a simulated world.") })
  .meta({ id: "Hello" });

export const changeSchema = z
  .object({
    rollout: key(fleetRolloutSchema.optional(), "It takes the place of the one with its key."),
    gone: key(text.optional(), "The key of one that is there no more."),
    release: key(fleetReleaseSchema.optional(), "It takes the place of the one with its key."),
    releaseGone: key(text.optional(), "The key of one that is open no more."),
    repository: fleetRepositorySchema.optional(),
  })
  .meta({ id: "FleetChange" });

export const patchSchema = z
  .object({
    key: text,
    patch: key(
      z.array(z.object({ op: z.enum(["add", "replace", "remove"]), path: text, value: z.unknown().optional() })),
      "JSON Patch (RFC 6902) of the document that was read.",
    ),
  })
  .meta({ id: "RunPatch" });

/** Who asks. */
export const meSchema = z
  .object({
    login: key(text.optional(), "Whose comment a command becomes; absent: nobody may give one from here."),
    name: key(text.optional(), "What the operator's proxy calls somebody who only reads."),
    signIn: key(z.boolean(), "Whether people can sign in at this address, by `login` beside the page."),
    ended: key(z.literal(true).optional(), "GitHub takes the token of the session no more."),
    permission: key(
      z.enum(["none", "read", "triage", "write", "maintain", "admin"] satisfies Permission[]).optional(),
      "On the repository that was asked about, as GitHub tells it.",
    ),
  })
  .meta({ id: "Me" });

export const commandSchema = z
  .strictObject({
    verb: z.enum(COMMAND_NAMES),
    args: key(z.array(text.max(300)).max(10), "As the action has them."),
    pull: key(z.int().positive().optional(), "As the action has it."),
    reason: key(text.max(1000).optional(), "Stands in the comment, as plain text of one line; at most 300 characters of it."),
    seen: key(text.max(100), "`seen` of the run as whoever gives the command saw it."),
  })
  .meta({ id: "CommandAsked" });

export const commandWrittenSchema = z
  .object({
    apiVersion,
    kind: z.literal("Command"),
    repository: text,
    rollout: text,
    number: z.int(),
    pull: key(z.int(), "Where it is written."),
    comment: key(text, "Its id: `commands` of the run tells what becomes of it."),
    url: text,
    text: key(text, "Its command."),
  })
  .meta({ id: "CommandWritten" });

export type Me = z.output<typeof meSchema>;
export type CommandAsked = z.output<typeof commandSchema>;
export type CommandWritten = z.output<typeof commandWrittenSchema>;
export type RunHistory = z.output<typeof runHistorySchema>;
export type RunEvents = z.output<typeof runEventsSchema>;
export type TargetEvidence = z.output<typeof targetEvidenceSchema>;
