import { z } from "zod";
import {
  budget,
  copySchema,
  duration,
  key,
  quantity,
  rolloutLimitsSchema,
  rolloutWindowSchema,
  selector,
  sourceRefSchema,
  text,
} from "./schema-common.ts";
import { releaseSchema } from "./schema-release.ts";
import { stageSchema, weightPinSchema } from "./schema-stage.ts";

/** Exactly one of file+path, clusterGenerator, copy, branch, tag; see the rules. */
export const pinSchema = z.strictObject({
  file: key(text.min(1).optional(), "File in the config repo; a template."),
  path: key(text.min(1).optional(), "Pin path in it; a template."),
  part: key(
    z.enum(["tag", "digest", "tag+digest", "ref"]).optional(),
    "Part of the value: of an image reference, or the `?ref=` of a URL.",
  ),
  create: key(
    z.boolean().optional(),
    "Insert the key, or the item of a list that `[key=value]` names, where it is absent or empty, and a value of its own where it stands in an alias (`*name`) or is merged in (`<<`): the anchor stays as it is.",
  ),
  value: key(text.min(1).optional(), "What is written; a template. Default: `{{ release.version }}`."),
  clusterGenerator: key(
    z
      .strictObject({
        file: key(text.min(1), "File of the ApplicationSet."),
        old: key(
          text.min(1).default("spec.generators[0]"),
          "Pin path of the generator entry that holds the old version; its `selector` says `NotIn`.",
        ),
        new: key(text.min(1).default("spec.generators[1]"), "Pin path of the entry that holds the new version; its `selector` says `In`."),
        path: key(text.min(1), "Where the version stands inside an entry's `clusters`, such as `values.revision`."),
      })
      .optional(),
    "Moves clusters between two clusters-generator entries.",
  ),
  copy: key(copySchema.optional(), "Copies a directory as the release's commit has it, removals and modes included."),
  branch: key(text.min(1).optional(), "Fast-forwards this branch to the release commit; a template. Needs `delivery.strategy: Commit`."),
  tag: key(
    text.min(1).optional(),
    "Moves this Git tag, which is there, to the release commit; a template. Only forward, as a branch. Needs `delivery.strategy: Commit`.",
  ),
  fastForward: key(
    z.boolean().optional(),
    "`false`: the branch or tag is also moved to a commit that does not contain what it is at, as long as it is where the plan found it.",
  ),
});

export const pinsSchema = z.array(pinSchema).min(1);

export const deliverySchema = z.strictObject({
  strategy: key(
    z.enum(["PullRequest", "Commit"]).default("PullRequest"),
    "`PullRequest`: one a batch. `Commit`: none; only with `branch` and `tag` pins in this version.",
  ),
  merge: key(
    z.enum(["Auto", "Manual"]).default("Auto"),
    "`Auto`: merged when the gates pass. `Manual`: a person merges, or comments `/promote` on the pull request; the bot goes on from there.",
  ),
  method: key(z.enum(["squash", "merge", "rebase"]).default("squash"), "How pull requests are merged."),
  ahead: key(z.boolean().default(true), "Opens the next batch's pull request while the one before settles; it merges in its turn."),
  labels: key(z.array(text.min(1).max(50)).default([]), "Labels of the pull requests."),
  base: key(
    text.min(1).optional(),
    "Branch that pins are read from and written to: the repo's default branch, and no other in this version.",
  ),
  reviewers: key(
    z
      .strictObject({
        teams: key(z.array(text).default([]), "Teams of the repo's organisation, by slug."),
        users: key(z.array(text).default([]), "Accounts."),
      })
      .optional(),
    "Who is asked to review each pull request. A name that GitHub does not know is said in the run's comment and holds nothing.",
  ),
  title: key(text.min(1).max(500).optional(), "Template of a pull request's title."),
  body: key(text.min(1).max(10_000).optional(), "Template of what its body begins with, as Markdown."),
  commitMessage: key(text.min(1).max(5000).optional(), "Template of the commit's message; the bot's trailers follow it."),
  signoff: key(z.boolean().default(false), "Adds `Signed-off-by` with the bot's name to the commit's message."),
});

export const modeSchema = z.enum(["Observe", "Propose", "Run"]);
export const MODE =
  "`Observe`: comments only. `Propose`: opens pull requests, merges none. `Run`: all of it. Default: the repo's, else Propose.";

export const specSchema = z.strictObject({
  sourceRef: key(sourceRefSchema, "What owns the target Applications."),
  targetBy: key(
    z.enum(["cluster", "namespace", "application"]).default("cluster"),
    "What stages take, and what all counts are of. `cluster`: each with all of its Applications. `namespace`: each destination namespace of a cluster, with the labels that its Applications share over the cluster's. `application`: each Application, with its own labels over its cluster's. Both also have `stagecoach.dev/namespace`, `/cluster` and `/project`, an Application `/name`.",
  ),
  release: key(
    releaseSchema.optional(),
    "What starts a run when it changes on the default branch; exactly one of `version`, `from`, `values`, `commit`, `tag`.",
  ),
  pins: key(
    pinsSchema.optional(),
    "Where one target's version is written; all of them change in the batch's one commit. Each is `file` + `path`, or `clusterGenerator`, or `copy`, or `branch`, or `tag`.",
  ),
  mode: key(modeSchema.optional(), MODE),
  delivery: key(deliverySchema.default(deliverySchema.parse({})), "How a batch reaches the branch."),
  onNewRelease: key(
    z.enum(["Supersede", "Queue", "Reject"]).default("Supersede"),
    "What a release does that is merged while a run is in progress. `Supersede`: takes its place; after three in a row that never got to their end, one is let through. `Queue`: waits until it has ended, or is paused on a failure. `Reject`: does not start; `/retry` on its pull request starts it later.",
  ),
  onFailure: key(
    z
      .strictObject({
        action: key(
          z.enum(["Pause", "Rollback", "Continue"]).default("Pause"),
          "What happens past the budget. `Pause`: the run stops and asks. `Rollback`: it ends as Failed, and a run of its own puts the old values back, in reverse order. `Continue`: it goes on, and ends as Failed.",
        ),
        maxFailures: key(budget.default(0), "Failed clusters tolerated before `action`; a percentage is of the rollout's clusters."),
      })
      .default({ action: "Pause", maxFailures: 0 }),
    "What a failed target does.",
  ),
  stages: key(z.array(stageSchema).min(1), "The steps of the rollout, in order."),
  settle: key(duration.default("10s"), "How long a target must hold still before it counts as live."),
  grace: key(duration.default("60s"), "How long a bad state may last before it counts as failing."),
  seenDeadline: key(duration.default("15m"), "From the merge to the first sight of the change in Argo CD."),
  waitingDeadline: key(duration.default("24h"), "How long a target may wait for a person, a window or a retry before the run pauses."),
  baseline: key(
    z.enum(["Strict", "Tolerate"]).default("Strict"),
    "What a target that was unhealthy when its batch was proposed, and is no worse after it, counts as. `Strict`: as failed. `Tolerate`: as *Failed (baseline)*, outside of `maxFailures`, and never as confirmed.",
  ),
  allowUnstaged: key(
    z.boolean().default(false),
    "Go on where a release PR changes Applications by itself, past the stages: `stagecoach/plan` then warns instead of failing.",
  ),
  dependsOn: key(
    z
      .array(
        z.strictObject({
          rollout: key(text.min(1), "Its name; a rollout of the same repo."),
          atLeast: key(text.min(1).default("SameVersion"), "`SameVersion`, or the least semver version that must be there."),
        }),
      )
      .max(50)
      .optional(),
    "Rollouts that must be there first, cluster by cluster: a batch waits until each of its clusters has them confirmed. Where environments share clusters [by the names of stages](../concepts.md#what-is-counted). Cycles are an error.",
  ),
  windows: key(
    z.array(rolloutWindowSchema).min(1).max(50).optional(),
    "When batches may merge. A `deny` that is on closes (a freeze); where there are `allow` windows, one must be on. Those for some stages or clusters, those of stages, and freezes of the settings must be open as well. They are waited for with the pull request open.",
  ),
  limits: key(
    rolloutLimitsSchema.optional(),
    "Most that the rollout may have in flight at once, besides `maxUnavailable` and the repo's limits.",
  ),
  joiners: key(
    z.enum(["Append", "Ignore", "Hold"]).optional(),
    "What happens to clusters that appear during a run and that a stage selects. `Append` (the default): a last catch-up batch after the last stage. `Ignore`: they are named, and left as they are. `Hold`: as `Append`, and the run pauses first and asks.",
  ),
  rollback: key(
    z
      .strictObject({
        maxUnavailable: key(quantity.optional(), "Size of its batches. Default: as the run's batches were."),
        skipBake: key(z.boolean().default(true), "No bakes on the way back; health is waited for all the same."),
      })
      .optional(),
    "How a rollback travels.",
  ),
  quarantine: key(
    z
      .strictObject({
        max: key(
          budget.default("10%"),
          "How many clusters at most; the run pauses on more. A percentage is of the rollout's clusters, rounded up.",
        ),
        onReturn: key(
          z.enum(["CatchUp", "Skip"]).default("CatchUp"),
          "`CatchUp`: a cluster that is back before the run ends gets a late batch, after the last stage. `Skip`: it stays as it is until the next release.",
        ),
        selector: key(
          selector.optional(),
          "Clusters with these labels count as stopped, besides those to which Argo CD's connection failed and those of a control plane that cannot be read.",
        ),
      })
      .optional(),
    "Clusters that cannot be reached, or are stopped, are left out before their change is merged, and do not count as failed. Without it they are proposed as all others.",
  ),
  flap: key(
    z
      .strictObject({
        ignore: key(duration.default("30s"), "Dips shorter than this are ignored."),
        most: key(z.int().min(1).default(3), "How many dips within `window` are ignored; the next one counts."),
        window: key(duration.default("10m"), "The window in which dips are counted."),
      })
      .optional(),
    "Filter for health that flaps while a target bakes, such as under autoscaling: short and rare dips do not begin the bake anew. Without it every dip does.",
  ),
  suspended: key(
    z.enum(["Wait", "Accept"]).optional(),
    "What an Application counts as in which something is paused, such as a Rollout at a canary step. `Wait` (the default): in progress, and no deadline runs meanwhile. `Accept`: as healthy.",
  ),
  proof: key(
    z.enum(["revision", "content"]).optional(),
    "What a change is recognised by once Argo CD shows it Synced and Healthy. `revision`: the revision that it shows. `content`: its objects, too, which hold what the pins were set to, or are rendered to something else than before; where they cannot be asked for, nothing is live. Default: as `content` where a control plane is read by Argo CD's API (one call a target), and by the revision where objects cannot be asked for or tell nothing.",
  ),
  weightPins: key(
    z.array(weightPinSchema).min(1).max(20).optional(),
    "Where the weight of `steps` is written, in the same commit as the version. A stage without steps writes the whole weight.",
  ),
  inventory: key(
    z
      .strictObject({
        file: key(
          text.min(1).optional(),
          "File in the config repo: cluster Secrets as `kubectl get -o yaml` prints them, without `data.config`. Of several control planes, each has those of it that it knows.",
        ),
        files: key(
          z.record(z.string().min(1), text.min(1)).optional(),
          "In place of `file`, one for each control plane, by its name. What has none is as Argo CD knows it.",
        ),
      })
      .optional(),
    "Clusters, with their names, servers and labels, from a file of the repo instead of from Argo CD, as it is on the base branch at the time. Health is Argo CD's all the same.",
  ),
});
