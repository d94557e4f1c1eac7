/** The shape of which version ran where at a moment: what the API answers and the page draws. Made by `versions.ts`. */
import { z } from "zod";
import { key } from "../../../spec/schema-common.ts";
import { text, time } from "./node.ts";
import { runSchema } from "./run.ts";

const { apiVersion, number, release } = runSchema.shape;

export const versionShare = z.object({
  version: key(text.optional(), "Absent: of several others together."),
  targets: key(z.int(), "So many have it."),
  live: key(z.int(), "Of these Argo CD was seen to have so many live."),
  failed: key(z.int(), "So many failed on it."),
});

const targetVersion = z.object({
  target: key(text, "`hub/argocd/payments-eu-1`."),
  application: text,
  cluster: text,
  version: key(text, "What its pin said; of several pins each."),
  before: key(text.optional(), "Of one that was not seen live yet: what it may still have had."),
  known: key(
    z.enum(["Live", "Merged", "Failed", "InGit"]),
    "Live: Argo CD was seen to have it live. Merged: it was merged, and not seen live yet. Failed: it failed on it. InGit: it stood in Git when the run began, and nobody looked.",
  ),
  since: time,
});

const moment = z.object({
  at: key(time, "When it happened."),
  recordedAt: key(time, "From when on the journal has it: as of then it is shown."),
  repository: text,
  rollout: text,
  number,
  what: z.enum(["Began", "Merged", "Paused", "Ended"]),
  batch: key(z.int().optional(), "Of what merged."),
  release: text.optional(),
});

const around = {
  apiVersion,
  at: key(time, "The moment that was asked for."),
  moments: key(z.array(moment), "Around it, oldest first; at most some on either side."),
};

export const versionsSchema = z
  .object({
    ...around,
    kind: z.literal("Versions"),
    rollouts: z.array(
      z.object({
        repository: text,
        rollout: text,
        number: key(number, "Of the last run that had begun."),
        release,
        versions: key(z.array(versionShare), "The most first."),
      }),
    ),
    unread: key(z.array(text), "Repositories whose journal has nothing from then, or cannot be read."),
  })
  .meta({ id: "Versions" });

export const rolloutVersionsSchema = z
  .object({
    ...around,
    kind: z.literal("RolloutVersions"),
    repository: text,
    rollout: text,
    number: key(number.optional(), "Absent: no run had begun."),
    versions: z.array(versionShare),
    targets: z.array(targetVersion),
  })
  .meta({ id: "RolloutVersions" });

export type VersionShare = z.output<typeof versionShare>;
export type TargetVersion = z.output<typeof targetVersion>;
export type Moment = z.output<typeof moment>;
export type Versions = z.output<typeof versionsSchema>;
export type RolloutVersions = z.output<typeof rolloutVersionsSchema>;
