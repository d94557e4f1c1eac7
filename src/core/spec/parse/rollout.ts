import type { z } from "zod";
import { parseDuration } from "../../base/time.ts";
import type { Delivery, Order, PinTemplate, Quantity, ReleaseSpec, Rollout, SourceRef, Stage, Step, WeightPin } from "../rollout.ts";
import type { Resource } from "../schema.ts";
import type { deliverySchema, pinSchema, releaseSchema, windowSchema } from "../schema-spec.ts";
import type { StageAnalysis, StageHooks } from "../stage-checks.ts";
import type { weightPinSchema } from "../step-schema.ts";
import type { Window } from "../windows.ts";

type WrittenStage = Resource["spec"]["stages"][number];

/** A valid resource as the rest of the program sees it: quantities and durations read, templates as they are. */
export function toRollout(resource: Resource, file: string, defaultMode: Rollout["mode"]): Rollout {
  const { metadata, spec } = resource;
  return {
    name: metadata.name,
    file,
    mode: spec.mode ?? defaultMode,
    source: toSource(spec.sourceRef),
    ...(spec.release === undefined ? {} : { release: toRelease(spec.release) }),
    pins: (spec.pins ?? []).map(toPin),
    ...(spec.weightPins === undefined ? {} : { weightPins: spec.weightPins.map(toWeightPin) }),
    delivery: toDelivery(spec.delivery),
    onNewRelease: spec.onNewRelease,
    onFailure: { action: spec.onFailure.action, maxFailures: toQuantity(spec.onFailure.maxFailures) },
    baseline: spec.baseline,
    allowUnstaged: spec.allowUnstaged,
    ...(spec.suspended === undefined ? {} : { suspended: spec.suspended }),
    ...(spec.flap === undefined ? {} : { flap: toFlap(spec.flap) }),
    ...(spec.rollback === undefined ? {} : { rollback: toRollback(spec.rollback) }),
    ...(spec.joiners === undefined ? {} : { joiners: spec.joiners }),
    ...(spec.quarantine === undefined ? {} : { quarantine: toQuarantine(spec.quarantine) }),
    ...(spec.windows === undefined ? {} : { windows: spec.windows.map(toWindow) }),
    ...(spec.dependsOn === undefined ? {} : { dependsOn: spec.dependsOn }),
    ...(spec.inventory === undefined ? {} : { inventory: spec.inventory }),
    settleMs: ms(spec.settle),
    graceMs: ms(spec.grace),
    seenDeadlineMs: ms(spec.seenDeadline),
    waitingDeadlineMs: ms(spec.waitingDeadline),
    stages: spec.stages.map((stage) => toStage(stage, resource.metadata.name)),
  };
}

function toSource(ref: Resource["spec"]["sourceRef"]): SourceRef {
  const planes = ref.controlPlane;
  return {
    kind: ref.kind,
    name: ref.name ?? "",
    namespace: ref.namespace,
    controlPlanes: planes === undefined ? [] : typeof planes === "string" ? [planes] : planes,
    ...(ref.selector === undefined ? {} : { selector: ref.selector }),
    unverified: ref.unverified,
  };
}

function toRelease(release: z.output<typeof releaseSchema>): ReleaseSpec {
  const { attempt } = release;
  if (release.from !== undefined) return { kind: "from", ...release.from, attempt };
  if (release.values !== undefined) return { kind: "values", values: release.values, attempt };
  if (release.commit !== undefined) return { kind: "commit", paths: release.commit.paths, attempt };
  if (typeof release.tag === "string") return { kind: "tag", range: release.tag, attempt };
  if (release.tag !== undefined) {
    const { range, prefix } = release.tag;
    return { kind: "tag", range, ...(prefix === undefined ? {} : { prefix }), attempt };
  }
  return { kind: "version", version: release.version ?? "", attempt };
}

const DEFAULT_VALUE = "{{ release.version }}";

function toPin(pin: z.output<typeof pinSchema>): PinTemplate {
  if (pin.branch !== undefined) return { kind: "branch", branch: pin.branch };
  const value = pin.value ?? DEFAULT_VALUE;
  if (pin.clusterGenerator !== undefined) return { kind: "clusterGenerator", ...pin.clusterGenerator, value };
  return {
    kind: "value",
    file: pin.file ?? "",
    path: pin.path ?? "",
    ...(pin.part === undefined ? {} : { part: pin.part }),
    create: pin.create ?? false,
    value,
  };
}

function toWeightPin({ file, path, value, replicas }: z.output<typeof weightPinSchema>): WeightPin {
  return { file, path, value, ...(replicas === undefined ? {} : { replicas }) };
}

function toDelivery(delivery: z.output<typeof deliverySchema>): Delivery {
  return {
    strategy: delivery.strategy,
    merge: delivery.merge,
    method: delivery.method,
    ...(delivery.base === undefined ? {} : { base: delivery.base }),
    labels: delivery.labels,
    reviewers: delivery.reviewers ?? { teams: [], users: [] },
    ...(delivery.title === undefined ? {} : { title: delivery.title }),
    ...(delivery.body === undefined ? {} : { body: delivery.body }),
    ...(delivery.commitMessage === undefined ? {} : { commitMessage: delivery.commitMessage }),
    ...(delivery.signoff ? { signoff: true as const } : {}),
  };
}

function toStage(stage: WrittenStage, rollout: string): Stage {
  const topologyKey = stage.topologyKey ?? stage.clusters.topologyKey;
  const { maxUnavailable: written } = stage;
  const grow = typeof written === "object" ? { start: written.start, factor: written.factor } : undefined;
  return {
    name: stage.name,
    selector: stage.clusters.selector,
    maxClusters: toQuantity(stage.maxClusters),
    maxUnavailable: toQuantity(typeof written === "object" ? written.max : written),
    batching: stage.batching,
    order: toOrder(stage.order, rollout),
    ...(topologyKey === undefined ? {} : { topologyKey }),
    ...(stage.order.pairs === undefined ? {} : { pairs: stage.order.pairs }),
    ...(grow === undefined ? {} : { grow }),
    ...(stage.approval === undefined ? {} : { approval: stage.approval }),
    ...(stage.jitter === undefined ? {} : { jitterMs: ms(stage.jitter) }),
    ...(stage.analysis === undefined ? {} : { analysis: toAnalysis(stage.analysis) }),
    ...(stage.hooks === undefined ? {} : { hooks: toHooks(stage.hooks) }),
    ...(stage.steps === undefined ? {} : { steps: stage.steps.map(toStep) }),
    bakeMs: ms(stage.bake),
    progressDeadlineMs: ms(stage.progressDeadline),
    ...(stage.requeue === undefined
      ? {}
      : { requeue: { selector: stage.requeue.selector, attempts: stage.requeue.attempts, intervalMs: ms(stage.requeue.interval) } }),
  };
}

function toAnalysis({ templates, args, when }: NonNullable<WrittenStage["analysis"]>): StageAnalysis {
  const refs = templates.map(({ templateName, clusterScope, file }) => ({
    templateName,
    clusterScope,
    ...(file === undefined ? {} : { file }),
  }));
  return { templates: refs, args, when: [...new Set(when)] };
}

function toHooks(hooks: NonNullable<WrittenStage["hooks"]>): StageHooks {
  const read = (list: typeof hooks.before) => list.map(({ url, timeout }) => ({ url, timeoutMs: ms(timeout) }));
  return { before: read(hooks.before), after: read(hooks.after), onFailure: read(hooks.onFailure) };
}

function toStep({ setWeight, pause, analysis }: NonNullable<WrittenStage["steps"]>[number]): Step {
  if (analysis !== undefined) return { kind: "analysis", analysis: toAnalysis({ ...analysis, when: ["AfterBatch"] }) };
  if (setWeight !== undefined) return { kind: "setWeight", weight: setWeight };
  return { kind: "pause", ...(pause?.duration === undefined ? {} : { durationMs: ms(pause.duration) }) };
}

function toOrder(order: WrittenStage["order"], rollout: string): Order {
  if (order.by === "label") return { by: "label", key: order.key ?? "" };
  if (order.by === "seeded") return { by: "seeded", seed: order.seed ?? rollout };
  return { by: "name" };
}

function toFlap({ ignore, most, window }: NonNullable<Resource["spec"]["flap"]>): NonNullable<Rollout["flap"]> {
  return { ignoreMs: ms(ignore), most, windowMs: ms(window) };
}

function toRollback({ maxUnavailable, skipBake }: NonNullable<Resource["spec"]["rollback"]>): NonNullable<Rollout["rollback"]> {
  return { skipBake, ...(maxUnavailable === undefined ? {} : { maxUnavailable: toQuantity(maxUnavailable) }) };
}

function toQuarantine({ max, onReturn, selector }: NonNullable<Resource["spec"]["quarantine"]>): NonNullable<Rollout["quarantine"]> {
  return { max: toQuantity(max), onReturn, ...(selector === undefined ? {} : { selector }) };
}

/** A window as it is written, in the core's terms. */
export function toWindow({ schedule, duration, timeZone, kind }: z.output<typeof windowSchema>): Window {
  return { schedule, durationMs: ms(duration), timeZone, kind };
}

function toQuantity(written: number | string): Quantity {
  return typeof written === "number" ? { count: written } : { percent: Number(written.slice(0, -1)) };
}

/** The schema lets only durations through. */
function ms(text: string): number {
  return parseDuration(text) ?? 0;
}
