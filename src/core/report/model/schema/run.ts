/**
 * The shape of a run as every surface draws it and as programs read it: `stagecoach get -o json`, the API, the page. One schema gives the types,
 * the JSON Schema in `schema/run.schema.json` and the check of a test. Within one `apiVersion` fields and words of states are only added.
 */
import { z } from "zod";
import { key } from "../../../spec/schema-common.ts";
import {
  action,
  argoRollout,
  awaited,
  cause,
  change,
  command,
  counts,
  deed,
  eta,
  gate,
  link,
  metric,
  passed,
  pause,
  reason,
  rule,
  SUBJECTS,
  said,
  state,
  text,
  time,
  valueChange,
  waitsOn,
} from "./node.ts";

/** A node of any kind, without those below it. */
const nodeFields = z.object({
  kind: z.enum(["run", "stage", "batch", "cluster", "application", "rollout", "check", "controlPlane"]),
  name: text,
  state,
  tone: key(z.enum(["good", "busy", "warn", "bad", "dim"]), "What colour its state wears."),
  when: key(z.enum(["past", "now", "later"]), "What is over and what is to come may be folded away where room is short."),
  reason: reason.optional(),
  subject: key(z.enum(SUBJECTS).optional(), "What the reason is about."),
  says: key(text, "The one sentence on it; empty where its state says it all."),
  checking: key(text.optional(), "Of what is healthy: `baking until 14:10:00 UTC`."),
  waitsOn: key(waitsOn.optional(), "Who or what outside has to act, so that it goes on. Absent: it goes on by itself, or is over."),
  since: key(time.optional(), "Since when it is in its state."),
  cause: key(cause.optional(), "What a failure comes from."),
  waitsFor: key(awaited.optional(), "What comes next."),
  eta: key(eta.optional(), "When it is expected to be done."),
  deadline: key(time.optional(), "When it counts as failed, or a person is asked."),
  actions: key(z.array(action), "What a person may comment; `whyNot` of what would be refused."),
  links: z.array(link),
  change: key(change.optional(), "What becomes of its version; absent: nothing, or not the same below it."),
  gates: key(z.array(gate).optional(), "Of a batch that has not merged: what stands between it and the next."),
  passes: key(
    z.object({ before: z.array(text), after: z.array(text) }).optional(),
    "Of a stage: what each of its batches waits for before it merges, and the next one after that.",
  ),
  facts: key(z.array(text), "Short facts besides: `attempt 2`."),
  counts: key(counts.optional(), "Of clusters below it, each once."),
  evidence: key(
    z.object({ readAt: time, notes: z.array(text) }).optional(),
    "Of an Application: when Argo CD was read, and what that showed besides.",
  ),
  waitingSince: key(time.optional(), "Of an Application: since when it waits for a person, a sync window or a retry."),
  excused: key(z.literal(true).optional(), "Of an Application: it failed as it had been before, and counts against no budget."),
  rule: key(rule.optional(), "Of a cluster: the setting that keeps it out."),
  number: key(z.int().optional(), "Of a batch that was begun: its number in the run, by which its page is known."),
  target: key(text.optional(), "Of an Application: `hub/argocd/payments-eu-1`."),
  passed: key(passed.optional(), "Of a batch: when it was opened, merged and done."),
  metrics: key(z.array(metric).optional(), "Of an analysis: what was measured of each that is a number."),
  argoRollout: key(argoRollout.optional(), "Of an Argo Rollout: what its controller says."),
});

const node = nodeFields
  .extend({
    get children() {
      return z.array(node);
    },
  })
  .meta({ id: "Node" });

export const refusedProblem = z.object({
  code: text,
  severity: z.enum(["error", "warning"]),
  where: key(text, "`rollouts/payments.yaml:12:9`."),
  file: text.optional(),
  line: z.int().optional(),
  column: z.int().optional(),
  says: text,
  todo: text,
});

/** A release that was merged and started no run. */
const refused = z
  .object({
    state: z.literal("Refused"),
    rollout: key(text.optional(), "Absent: what was merged is no rollout for its errors."),
    release: text.optional(),
    pull: key(z.int().optional(), "The release PR; absent: there was none."),
    since: time.optional(),
    says: text,
    waitsFor: key(text, "What starts one."),
    problems: z.array(refusedProblem),
  })
  .meta({ id: "Refused" });

export const countedBy = key(
  z.enum(["application", "namespace"]).optional(),
  "What is counted in the place of clusters; absent: clusters.",
);

const model = node.extend({
  kind: z.literal("run"),
  rollout: text,
  number: z.int(),
  release: text,
  values: key(z.array(valueChange).optional(), "Of a release of several values: what becomes of each."),
  pull: key(z.int().optional(), "The release PR; absent: there was none."),
  author: key(text, "Who released it."),
  planHash: text,
  targetBy: countedBy,
  startedAt: time,
  endedAt: time.optional(),
  counts,
  pause: key(pause.optional(), "While it is paused."),
  of: key(z.int().optional(), "Of a run that puts old values back: the run whose they were."),
  isPutBack: key(z.literal(true).optional(), "A run of its own puts back what it moved, or will."),
  deeds: key(z.array(deed), "Who did what, in order: the release, merges by hand, commands that were done."),
  commands: key(z.array(command), "What was commented lately, and what became of it, oldest first."),
  seen: key(text, "Changes where something happened that whoever acts goes by; a command that is given by the API says what it was."),
  ask: key(said.optional(), "What a person is asked while it is paused."),
  wayBack: key(said.optional(), "Offered besides while it is paused, where there is something to put back."),
  controlPlanes: key(z.array(node), "Those that cannot be seen: their clusters wait."),
  notes: key(z.array(text), "What is worth knowing besides, said once."),
});

const apiVersion = z.literal("stagecoach.dev/v1");
const asOf = key(time, "As of when the journal was read.");

/** A run as a document of its own: what `get -o json` prints and the API answers. */
export const runSchema = model
  .extend({
    apiVersion,
    kind: z.literal("Run"),
    repository: key(text.optional(), "`acme/config`, where it is known."),
    asOf,
    refused: key(refused.optional(), "A later release that was merged and started no run."),
  })
  .meta({ id: "Run" });

/** The same without what is below it, for lists and single lines. */
const runSummarySchema = runSchema
  .omit({ children: true, actions: true, controlPlanes: true, deeds: true, commands: true, seen: true })
  .meta({ id: "RunSummary" });

/** Items stand in their list's version, and are as of its time. */
const listed = runSummarySchema.omit({ apiVersion: true, asOf: true });

const rollout = z.object({
  rollout: text,
  repository: key(text.optional(), "`acme/config`, where it is known."),
  state: key(
    z.union([state, z.enum(["Adopted", "Unreadable"])]),
    "That of its last run; Adopted: it has none yet; Unreadable: the journal's files of it.",
  ),
  says: text,
  release: text,
  number: key(z.int().optional(), "Of its last run."),
  run: key(listed.optional(), "The last one."),
  refused: key(refused.optional(), "A later release that was merged and started no run."),
});

export const rolloutListSchema = z
  .object({ apiVersion, kind: z.literal("RolloutList"), asOf, items: z.array(rollout) })
  .meta({ id: "RolloutList" });

export type Node = z.output<typeof node>;
export type Model = z.output<typeof model>;
export type RunDocument = z.output<typeof runSchema>;
export type RunSummary = z.output<typeof runSummarySchema>;
export type RolloutList = z.output<typeof rolloutListSchema>;
