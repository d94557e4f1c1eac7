/** Gives a valid resource as the rest of the program sees it: quantities and durations read, templates as they are. Called by `parse.ts`. */
import type { z } from "zod";
import { TAGS } from "../../base/ref-name.ts";
import { parseDuration } from "../../base/time.ts";
import type { Order, PinTemplate, Quantity, ReleaseSpec, Rollout, SourceRef, Stage, Step } from "../rollout.ts";
import type { Resource } from "../schema.ts";
import type { releaseSchema } from "../schema-release.ts";
import type { pinSchema } from "../schema-spec.ts";
import { toFreeze } from "../windows-binding.ts";

type WrittenStage = Resource["spec"]["stages"][number];

export function toRollout({ metadata, spec }: Resource, file: string, defaultMode: Rollout["mode"]): Rollout {
  const { release, flap, rollback, quarantine, onFailure, delivery } = spec;
  return {
    name: metadata.name,
    file,
    mode: spec.mode ?? defaultMode,
    source: toSource(spec.sourceRef),
    targetBy: spec.targetBy === "cluster" ? undefined : spec.targetBy,
    release: release && toRelease(release),
    pins: (spec.pins ?? []).map(toPin),
    weightPins: spec.weightPins,
    delivery: {
      ...delivery,
      ahead: delivery.ahead && undefined,
      reviewers: delivery.reviewers ?? { teams: [], users: [] },
      signoff: delivery.signoff || undefined,
    },
    onNewRelease: spec.onNewRelease,
    onFailure: { action: onFailure.action, maxFailures: toQuantity(onFailure.maxFailures) },
    baseline: spec.baseline,
    allowUnstaged: spec.allowUnstaged,
    suspended: spec.suspended,
    proof: spec.proof,
    flap: flap && { ignoreMs: ms(flap.ignore), most: flap.most, windowMs: ms(flap.window) },
    rollback: rollback && toRollback(rollback),
    joiners: spec.joiners,
    quarantine: quarantine && { ...quarantine, max: toQuantity(quarantine.max) },
    windows: spec.windows?.map(toFreeze),
    limits: spec.limits,
    dependsOn: spec.dependsOn,
    inventory: spec.inventory,
    settleMs: ms(spec.settle),
    graceMs: ms(spec.grace),
    seenDeadlineMs: ms(spec.seenDeadline),
    waitingDeadlineMs: ms(spec.waitingDeadline),
    stages: spec.stages.map((stage) => toStage(stage, metadata.name)),
  };
}

function toSource({
  kind,
  name,
  names = [],
  namespace,
  controlPlane = [],
  selector,
  unverified,
}: Resource["spec"]["sourceRef"]): SourceRef {
  const [first, ...others] = new Set(names);
  const only = name ?? (others.length === 0 ? first : undefined);
  const several = only === undefined && first !== undefined ? [first, ...others] : undefined;
  const source = { kind, name: only ?? "", namespace, controlPlanes: [controlPlane].flat(), selector, unverified };
  return several === undefined ? source : { ...source, names: several };
}

function toRelease({ version = "", from, values, commit, tag, attempt }: z.output<typeof releaseSchema>): ReleaseSpec {
  if (from?.paths !== undefined) {
    const { file, paths } = from;
    return { kind: "values", values: mapValues(paths, (path) => ({ file, path })), attempt };
  }
  if (from !== undefined) return { kind: "from", file: from.file, path: from.path ?? "", attempt };
  if (values !== undefined) return { kind: "values", values, attempt };
  if (commit !== undefined) return { kind: "commit", paths: commit.paths, attempt };
  if (tag !== undefined) return { kind: "tag", ...(typeof tag === "string" ? { range: tag } : tag), attempt };
  return { kind: "version", version, attempt };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function toPin(pin: z.output<typeof pinSchema>): PinTemplate {
  const {
    tag,
    branch = tag && `${TAGS}${tag}`,
    fastForward,
    clusterGenerator,
    copy,
    file = "",
    path = "",
    part,
    create = false,
    value = "{{ release.version }}",
  } = pin;
  if (branch !== undefined) return { kind: "branch", branch, ...(fastForward === false && { forced: true }) };
  if (copy !== undefined) return { kind: "copy", ...copy };
  if (clusterGenerator !== undefined) return { kind: "clusterGenerator", ...clusterGenerator, value };
  return { kind: "value", file, path, part, create, value };
}

function toStage(stage: WrittenStage, rollout: string): Stage {
  const { maxUnavailable: size, requeue, hooks } = stage;
  const chosen = chosenBy(stage);
  const isAdaptive = typeof size === "object";
  return {
    name: stage.name,
    selector: chosen.selector,
    maxClusters: toQuantity(stage.maxClusters),
    maxUnavailable: toQuantity(isAdaptive ? size.max : size),
    batching: stage.batching,
    order: toOrder(stage.order, rollout),
    topologyKey: stage.topologyKey ?? chosen.topologyKey,
    pairs: stage.order.pairs,
    grow: isAdaptive ? { start: size.start, factor: size.factor } : undefined,
    approval: stage.approval,
    sync: stage.sync,
    jitterMs: stage.jitter === undefined ? undefined : ms(stage.jitter),
    analysis: stage.analysis && { ...stage.analysis, when: [...new Set(stage.analysis.when)] },
    hooks: hooks && { before: toHooks(hooks.before), after: toHooks(hooks.after), onFailure: toHooks(hooks.onFailure) },
    steps: stage.steps?.map(toStep),
    windows: stage.windows?.map(toFreeze),
    bakeMs: ms(stage.bake),
    progressDeadlineMs: ms(stage.progressDeadline),
    requeue: requeue && { selector: requeue.selector, attempts: requeue.attempts, intervalMs: ms(requeue.interval) },
  };
}

/** Both words mean one thing. Neither, or both, is told by `rules.ts`. */
export function chosenBy({ clusters, targets }: Pick<WrittenStage, "clusters" | "targets">): NonNullable<WrittenStage["clusters"]> {
  return clusters ?? targets ?? { selector: { matchLabels: {}, matchExpressions: [] } };
}

function toHooks(hooks: NonNullable<WrittenStage["hooks"]>["before"]) {
  return hooks.map(({ url, timeout }) => ({ url, timeoutMs: ms(timeout) }));
}

function toStep({ setWeight, pause, analysis }: NonNullable<WrittenStage["steps"]>[number]): Step {
  if (analysis !== undefined) return { kind: "analysis", analysis: { ...analysis, when: ["AfterBatch"] } };
  if (setWeight !== undefined) return { kind: "setWeight", weight: setWeight };
  return { kind: "pause", durationMs: pause?.duration === undefined ? undefined : ms(pause.duration) };
}

function toOrder({ by, key = "", seed }: WrittenStage["order"], rollout: string): Order {
  if (by === "label") return { by, key };
  return by === "seeded" ? { by, seed: seed ?? rollout } : { by };
}

function toRollback({ maxUnavailable: size, skipBake }: NonNullable<Resource["spec"]["rollback"]>): Rollout["rollback"] {
  return { skipBake, maxUnavailable: size === undefined ? undefined : toQuantity(size) };
}

function toQuantity(written: number | string): Quantity {
  return typeof written === "number" ? { count: written } : { percent: Number(written.slice(0, -1)) };
}

/** The schema lets only durations through. */
function ms(text: string): number {
  return parseDuration(text) ?? 0;
}
