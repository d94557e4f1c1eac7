import { z } from "zod";
import { duration, key, quantity, selector, stageWindowSchema, team, text } from "./schema-common.ts";

export const ANALYSIS_WHEN = ["BeforeStage", "AfterBatch", "AfterStage", "Background"] as const;

const analysis = z.strictObject({
  templates: key(
    z
      .array(
        z.strictObject({
          templateName: key(text.min(1).max(253), "Name of the AnalysisTemplate."),
          clusterScope: key(z.boolean().default(false), "It is a ClusterAnalysisTemplate."),
          file: key(
            text.min(1).max(500).optional(),
            "File of the config repo that holds it. Default: any below `analysis/`; with the argo-rollouts engine, else the cluster.",
          ),
        }),
      )
      .min(1)
      .max(20),
    "Argo Rollouts' AnalysisTemplates that are run together, as one list of metrics.",
  ),
  args: key(
    z
      .array(
        z.strictObject({
          name: key(text.min(1).max(200), "Argument of the templates."),
          value: key(
            text.max(2000),
            "Its value; a template as in pins: `{{ release.version }}`, `{{ cluster.name }}`, `{{ cluster.labels.X }}`, `{{ application.name }}`. Where it names the cluster, the analysis is run once for each cluster of the batch.",
          ),
        }),
      )
      .max(100)
      .default([]),
    "Arguments of the templates.",
  ),
  when: key(
    z.array(z.enum(ANALYSIS_WHEN)).min(1).default(["AfterBatch"]),
    "`BeforeStage`: before the stage's first merge. `AfterBatch`: from the moment every cluster of a batch is confirmed, beside its bake. `AfterStage`: before the next stage. `Background`: from the stage's first merge to its end.",
  ),
});

const hook = z.strictObject({
  url: key(text.min(1).max(2000), "Gets a CloudEvent by POST. Its host must be allowed in the server's configuration."),
  timeout: key(duration.default("10s"), "How long an answer may take: at most 60s."),
});

const order = z.strictObject({
  by: key(z.enum(["name", "label", "seeded"]).default("name"), "What clusters are ordered by; ties by name."),
  key: key(text.optional(), "For `by: label`: the label. Values that are numbers are compared as numbers; clusters without it come last."),
  seed: key(
    text.max(200).optional(),
    "For `by: seeded`: any text. Clusters come in an order that looks random and is the same for the same seed. Default: the rollout's name.",
  ),
  pairs: key(
    z.array(z.array(text).min(2)).max(1000).optional(),
    "Lists of clusters that never travel in one batch nor are in flight together, such as an active one and its standby: `[[eu-1, eu-1-standby]]`.",
  ),
});

const requeue = z.strictObject({
  selector: key(selector, "Which of the stage's clusters are put off to its end."),
  attempts: key(z.int().min(1).default(5), "How many looks, one each `interval`, until a cluster that still matches has failed."),
  interval: key(duration.default("30m"), "Time between looks."),
});

const adaptive = z.strictObject({
  start: key(z.int().min(1), "Size of the first batch, and of the first after a failure: at most `max`."),
  factor: key(z.number().min(1).max(100), "What a batch that went well multiplies the size of the next by: more than 1."),
  max: key(quantity, "What it never grows past; a percentage is of the stage's clusters, rounded down, at least 1."),
});

/** One entry of `steps`: exactly one of its keys; see rules/pace.ts. */
const step = z.strictObject({
  setWeight: key(
    z.int().min(0).max(100).optional(),
    "Weight of the new version, in percent: what the batch's next pull request writes. Each is more than the one before; 100 comes last by itself.",
  ),
  pause: key(
    z.strictObject({ duration: key(duration.optional(), "How long. Default: until somebody comments `/promote`.") }).optional(),
    "Waits, from the moment what stands before it is done. A moment in which a cluster is not healthy begins it anew.",
  ),
  analysis: key(analysis.omit({ when: true }).optional(), "Measurements that must pass before the next weight."),
});

/** Where the weight of a step is written. */
export const weightPinSchema = z.strictObject({
  file: key(text.min(1), "File in the config repo; a template."),
  path: key(text.min(1), "Pin path in it; a template."),
  value: key(
    text.min(1).default("{{ step.weight }}"),
    "What is written; a template that also knows `{{ step.weight }}` and, with `replicas`, `{{ step.replicas }}`.",
  ),
  replicas: key(
    z.int().min(1).max(1_000_000).optional(),
    "How many replicas the clusters of one batch have together. `{{ step.replicas }}` is the share of each cluster in as many of them as the weight says, rounded up: 10 on 2 clusters are 1 and 1 at 20%.",
  ),
});

/** One stage of a rollout. */
export const stageSchema = z.strictObject({
  name: key(text.min(1).max(63), "Unique in the rollout. Shown everywhere, so say what it is for."),
  clusters: key(
    z
      .strictObject({
        selector: key(
          selector,
          "Kubernetes label selector over the labels of Argo CD's cluster Secrets, plus `name` and `server`. `{}` selects every cluster.",
        ),
        topologyKey: key(text.optional(), "The same as the stage's `topologyKey`."),
      })
      .optional(),
    "Which clusters the stage takes, of those that no earlier stage has taken. This or `targets`.",
  ),
  targets: key(
    z
      .strictObject({
        selector: key(selector, "Label selector over the labels of what `targetBy` counts, plus `name` and `server`. `{}` selects all."),
      })
      .optional(),
    "The same as `clusters`: the word for what is no cluster (`targetBy`).",
  ),
  maxClusters: key(quantity.default("100%"), "How many of the selected clusters the stage takes; a percentage is rounded up."),
  maxUnavailable: key(
    z.union([quantity, adaptive]).default(1),
    "How many clusters may be in flight at once: the size of a batch. A percentage is of the stage's clusters, rounded down, at least 1. `{start: 1, factor: 2, max: 25%}` begins small, grows with each batch in which nothing failed, and begins anew after a failure.",
  ),
  batching: key(
    z.enum(["Fixed", "Rolling"]).default("Fixed"),
    "`Fixed`: the next batch when the whole batch is confirmed. `Rolling`: refill as single clusters are confirmed.",
  ),
  order: key(order.default({ by: "name" }), "In which order clusters are taken."),
  topologyKey: key(
    text.min(1).optional(),
    "Label; a batch never holds two clusters of one value, and picks go round the values. A cluster without it is a value of its own.",
  ),
  windows: key(
    z.array(stageWindowSchema).min(1).max(50).optional(),
    "When this stage's batches may merge, besides the rollout's windows: both must be open.",
  ),
  bake: key(duration.default("0s"), "How long a batch stays healthy before the next."),
  progressDeadline: key(
    duration.default("15m"),
    "From the first sight of the change in Argo CD to healthy; past it the target has failed.",
  ),
  requeue: key(requeue.optional(), "Clusters put off to the stage's end, such as drained ones."),
  approval: key(
    z
      .strictObject({
        teams: key(z.array(team).min(1).max(20), "Slugs of teams whose members may approve. The author of the release never counts."),
        count: key(z.int().min(1).max(20).default(1), "How many of them."),
        notBy: key(
          z
            .array(z.enum(["author", "merger"]))
            .min(1)
            .max(2)
            .optional(),
          "Default `[author]`. Whose approval does not count: the `author` (who opened the release's pull request, made or pushed its commits; always, whether or not it stands here), and with `merger` who merged it.",
        ),
      })
      .optional(),
    "Wanted before the stage's first batch merges: an approving review of its pull request at its head, or `/promote` on it. It is given to the stage as it is planned, and lapses where that changes.",
  ),
  analysis: key(
    analysis.optional(),
    "Measurements that must pass. Failed or in error, it counts as a failure of the run, whatever `maxFailures` tolerates; inconclusive, the run pauses and asks.",
  ),
  steps: key(
    z.array(step).min(1).max(50).optional(),
    "A weighted canary across the clusters of each batch: they go from weight to weight together, one pull request each, and a cluster counts as in flight until the last one is confirmed. Needs `weightPins`.",
  ),
  hooks: key(
    z
      .strictObject({
        before: key(
          z.array(hook).max(10).default([]),
          "Asked one after the other before the stage's first merge; each may hold it, or fail the run.",
        ),
        after: key(
          z.array(hook).max(10).default([]),
          "Asked once the stage is done, before the next; each may hold that, or fail the run.",
        ),
        onFailure: key(
          z.array(hook).max(10).default([]),
          "Told when a cluster, an analysis or a hook of the stage fails; nobody waits for the answer.",
        ),
      })
      .optional(),
    "Endpoints that are asked around the stage.",
  ),
  sync: key(
    z.enum(["Wait", "Request"]).optional(),
    "For Applications without automated sync. `Wait`: a person syncs each. `Request`: the bot asks Argo CD to sync the batch's very revision, and [nothing else](../argocd.md#who-syncs). Default: `Wait`, which lint warns of.",
  ),
  jitter: key(
    duration.optional(),
    "A wait before each batch merges, of a length that looks random and is at most this: so that rollouts that may all go on at one moment do not ask one registry at once.",
  ),
});
