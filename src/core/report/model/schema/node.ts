/** What the nodes of a run are made of: see `run.ts`. */
import { z } from "zod";
import type { RunPhase } from "../../../run/state/run.ts";
import { COMMAND_NAMES, type Permission } from "../../../spec/commands.ts";
import { key } from "../../../spec/schema-common.ts";
import type { Subject } from "../../reasons/entry.ts";

export const time = z.string().describe("ISO, in UTC.");
export const text = z.string();

/** What stands in the journal as settled, confirmed, baked or live is one state for people: Healthy. */
export const state = z.enum([
  ...([
    "Pending",
    "Progressing",
    "Paused",
    "RollingBack",
    "Succeeded",
    "RolledBack",
    "Failed",
    "Aborted",
    "Superseded",
  ] satisfies RunPhase[]),
  ...(["ToCome", "NotReached"] as const),
  // Of a batch: its pull request is being made; is there; is being merged.
  ...(["Opening", "Open", "Merging", "Merged", "Syncing", "Healthy"] as const),
  // Healthy at a weight that is not the whole one; over, and not all of it is healthy.
  ...(["AtWeight", "Done", "Closed", "Requeued", "Skipped", "Joined", "Quarantined", "NotInRun"] as const),
  // Of a run or a stage: somebody has to act, or something outside it; and of an analysis or a hook.
  ...(["Waiting", "Running", "Held", "Passed", "Inconclusive", "Error", "Accepted", "Stopped"] as const),
  // Of an Argo Rollout, besides; of a control plane.
  ...(["Degraded", "Unknown", "Unseen"] as const),
]);

export const SUBJECTS = [
  ...(["run", "stage", "batch", "cluster", "application", "resource", "pull", "check", "window", "person", "analysis", "hook"] as const),
  ...(["controlPlane", "repository", "file"] as const),
] satisfies Subject[];

const PERMISSIONS = ["none", "read", "triage", "write", "maintain", "admin"] satisfies Permission[];

/** `reason` has the code that programs tell it by; `says` is its sentence, without a full stop. */
export const reason = z.looseObject({
  code: key(text, "What programs tell it by: docs/troubleshooting.md has those that ask for something."),
});
export const said = z.object({ reason, says: key(text, "Its sentence.") });
export const awaited = said.extend({ at: key(time.optional(), "When that is expected.") });
export const eta = z.object({
  p50: key(time, "Half of the batches of earlier runs were faster."),
  p90: key(time, "Nine of ten were. What is certain has both alike."),
});

const measured = z.object({
  metric: text,
  value: text,
  limit: key(text, "What its template allows; of what could not be measured, why."),
});

/** One metric of an analysis, as a chart of it is drawn. */
export const metric = z.object({
  name: text,
  phase: key(text, "In Argo Rollouts' words: `Running`, `Successful`, `Failed`."),
  limit: key(text, "What is allowed, in words; empty where the template does not say."),
  least: key(z.number().optional(), "The smallest value that is allowed, where that is a number."),
  most: key(z.number().optional(), "The largest."),
  points: key(z.array(z.object({ at: time, value: z.number(), phase: text })), "The last values that are numbers, oldest first."),
});

export const cause = z.object({
  kind: z.enum(["application", "rollout", "analysis", "hook"]),
  name: key(text, "`payments-eu-1 on eu-1`."),
  says: key(text, "In the words of whoever saw it; empty where it said nothing."),
  told: key(z.literal(true).optional(), "The node's own sentence has it already, so whoever draws both leaves it out."),
  measured: key(z.array(measured).optional(), "Of an analysis: each metric with what was measured and what it must meet."),
  link: text.optional(),
});

export const action = z.object({
  verb: z.enum(COMMAND_NAMES),
  args: z.array(text),
  effect: key(text, "Of what is allowed and for the whole run: what it would do just now."),
  does: key(text.optional(), 'The same in few words, as an order: `end the bake of batch 2 of stage "eu"`.'),
  pull: key(z.int().optional(), "The pull request it is about, so the one to comment it on; absent: the release PR."),
  needs: key(z.enum(PERMISSIONS), "The permission on the repository that whoever gives it has to have."),
  allowed: key(z.boolean(), "Whether it would be done now."),
  whyNot: said.optional(),
  notBy: key(
    z.array(z.object({ login: text, says: text })).optional(),
    "Accounts of which it would be refused all the same, each with why: who released cannot approve.",
  ),
});

export const link = z.object({ name: key(text, "`#12`, `Argo CD`."), url: text });

export const change = z.object({ from: key(text.optional(), "Absent where none stood there."), to: text });

/** Of a release of several values. */
export const valueChange = z.object({
  name: text,
  from: key(text.optional(), "What stands in its pins when the run begins; absent: nothing does. As `to`: it stays as it is."),
  to: text,
});

export const gate = z.object({
  kind: z.enum(["turn", "approval", "windows", "dependsOn", "jitter", "analysis", "hooks", "person", "health", "step", "bake"]),
  name: text,
  why: text,
  opens: text,
  when: key(text, "At the latest, as far as that is known; empty where it is not."),
  planned: key(text.optional(), "What is waited for, as a clause of one sentence; absent: nothing, as of now."),
  isAfter: key(z.literal(true).optional(), "It comes once the batch has merged."),
});

export const counts = z.object({
  clusters: z.int(),
  healthy: z.int(),
  failed: z.int(),
  requeued: z.int(),
  skipped: z.int(),
  toCome: key(z.int(), "Not begun: their change has not merged."),
});

export const waitsOn = z.object({
  kind: z.enum(["person", "window", "halt"]),
  who: key(z.array(text), "Teams or accounts, with their @; empty: whoever may give the command."),
  says: key(text, "`for @acme/sre`, `for you`, `for a window`."),
});

export const rule = z.object({
  setting: z.enum(["requeue", "quarantine"]),
  stage: text.optional(),
  selector: key(text, "What a cluster's labels have to match."),
});

export const pause = said.extend({
  kind: key(text, "What it is about: docs/troubleshooting.md has the kinds."),
  by: key(text.optional(), "Who paused it by command."),
  at: time,
  tried: key(z.object({ text, by: text }).optional(), "The command that was given for the same before, and did not help."),
});

/** When a batch was what; the journal has its every change. */
export const passed = z.object({
  openedAt: time.optional(),
  mergedAt: time.optional(),
  mergedBy: text.optional(),
  commit: text.optional(),
  doneAt: time.optional(),
});

export const deed = z.object({ at: time, by: text, did: key(text, "`/promote`, `merged #12`.") });

export const command = z.object({
  comment: key(text, "Its id on GitHub; `r123`: of a review."),
  text: key(text, "As written, one line."),
  by: text,
  at: time,
  state: key(z.enum(["Read", "Waiting", "Done", "Refused"]), "Read: it is not judged yet; Waiting: it cannot be done yet."),
  says: key(text, "What its author was answered; empty where there was nothing to say."),
});

/** As `kubectl argo rollouts get rollout` shows it. */
export const argoRollout = z.object({
  namespace: text,
  phase: text,
  paused: z.boolean(),
  step: key(z.int().optional(), "From 0; the one under way."),
  steps: z.int().optional(),
  setWeight: z.number().optional(),
  actualWeight: z.number().optional(),
  stableImages: z.array(text),
  canaryImages: z.array(text),
  replicas: z.object({ desired: z.int(), updated: z.int(), ready: z.int(), available: z.int() }),
  message: text,
});
