import { createHash } from "node:crypto";
import { parseDuration } from "../../../core/base/time.ts";
import { kubeTime } from "../../kubernetes/store.ts";
import type { RolloutSpec, RolloutStep } from "./manifest.ts";
import type { RolloutObject, RolloutStatus } from "./objects.ts";

/** What the controller in the cluster does next with a Rollout. */
interface Move {
  status: RolloutStatus;
  /** Pods are started, or a pause with an end goes by: `next`, unless something else happens before. */
  wait?: { kind: "pods" | "pause"; ms?: number; next: RolloutStatus };
}

export function podHash(spec: RolloutSpec): string {
  return createHash("sha256")
    .update(JSON.stringify(spec.template ?? {}))
    .digest("hex")
    .slice(0, 10);
}

const stepsOf = (spec: RolloutSpec): RolloutStep[] => spec.strategy?.canary?.steps ?? [];

/**
 * One round of the canary strategy of Argo Rollouts: a pure function of the object. Modelled: setWeight, pause with and without
 * an end, resume, promotion in full, abort, retry, a new template on the way, back to the stable one, spec.paused. Other steps
 * (analysis, experiments, plugins) pass at once; blue-green goes over in one step; there is no traffic routing.
 */
export function nextMove(object: RolloutObject, now: number): Move {
  const { spec } = object;
  const hash = podHash(spec);
  const old = object.status ?? {};
  const seen: RolloutStatus = { ...old, observedGeneration: String(object.metadata.generation ?? 1) };
  if (old.stableRS === undefined) return first(spec, seen, hash);
  const status = old.currentPodHash === hash ? seen : restarted(seen, hash, stepsOf(spec).length);
  if (status.abort === true) return { status: aborted(status, object, now) };
  if (spec.paused === true) return { status: { ...status, phase: "Paused", message: "manually paused" } };
  if (status.promoteFull === true && status.currentPodHash !== status.stableRS) return complete(spec, unpaused(status));
  if ((status.pauseConditions ?? []).length > 0) return paused(spec, status, now);
  if (status.controllerPause === true) {
    // Somebody ended the pause; who skipped it has moved on to the next step already.
    const atPause = stepsOf(spec)[status.currentStepIndex ?? 0]?.pause !== undefined;
    return walk(spec, atPause ? advanced(unpaused(status)) : unpaused(status), now);
  }
  return walk(spec, status, now);
}

/** Pods of the very first template start all at once. */
function first(spec: RolloutSpec, status: RolloutStatus, hash: string): Move {
  const replicas = spec.replicas ?? 1;
  const starting: RolloutStatus = {
    ...status,
    ...progressing("waiting for all steps to complete"),
    currentPodHash: hash,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: 0,
    availableReplicas: 0,
  };
  return { status: starting, wait: { kind: "pods", next: healthy(spec, starting) } };
}

const progressing = (message: string) => ({ phase: "Progressing" as const, message });

function restarted(status: RolloutStatus, hash: string, steps: number): RolloutStatus {
  const { abort: _a, abortedAt: _t, promoteFull: _f, ...rest } = unpaused(status);
  return { ...rest, currentPodHash: hash, currentStepIndex: hash === status.stableRS ? steps : 0 };
}

function unpaused(status: RolloutStatus): RolloutStatus {
  const { pauseConditions: _p, ...rest } = status;
  return { ...rest, controllerPause: false };
}

const advanced = (status: RolloutStatus): RolloutStatus => ({ ...status, currentStepIndex: (status.currentStepIndex ?? 0) + 1 });

function healthy(spec: RolloutSpec, status: RolloutStatus): RolloutStatus {
  const { promoteFull: _, message: _m, ...rest } = status;
  const replicas = spec.replicas ?? 1;
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const stable = status.currentPodHash === undefined ? {} : { stableRS: status.currentPodHash };
  return { ...rest, ...counts, ...stable, phase: "Healthy", currentStepIndex: stepsOf(spec).length };
}

function aborted(status: RolloutStatus, { metadata }: RolloutObject, now: number): RolloutStatus {
  const revision = metadata.annotations?.["rollout.argoproj.io/revision"] ?? "2";
  return {
    ...unpaused(status),
    phase: "Degraded",
    message: `RolloutAborted: Rollout aborted update to revision ${revision}`,
    abortedAt: status.abortedAt ?? kubeTime(now),
    currentStepIndex: 0,
    updatedReplicas: 0,
  };
}

/** All pods of the new template start. */
function complete(spec: RolloutSpec, status: RolloutStatus): Move {
  const all = { ...status, ...progressing("more replicas need to be updated"), updatedReplicas: spec.replicas ?? 1 };
  return { status: all, wait: { kind: "pods", next: healthy(spec, all) } };
}

function paused(spec: RolloutSpec, status: RolloutStatus, now: number): Move {
  const duration = stepsOf(spec)[status.currentStepIndex ?? 0]?.pause?.duration;
  if (duration === undefined) return { status };
  const ms = parseDuration(/^\d+$/.test(String(duration)) ? `${duration}s` : String(duration)) ?? 0;
  const until = Date.parse(status.pauseConditions?.[0]?.startTime ?? "") + ms;
  return { status, wait: { kind: "pause", ms: Math.max(0, until - now), next: unpausedAfter(status) } };
}

const unpausedAfter = (status: RolloutStatus): RolloutStatus => advanced(unpaused(status));

/** What the current step asks for; steps that do nothing are passed. */
function walk(spec: RolloutSpec, from: RolloutStatus, now: number): Move {
  const steps = stepsOf(spec);
  let status = from;
  const isNew = status.currentPodHash !== status.stableRS;
  for (;;) {
    const step = isNew ? steps[status.currentStepIndex ?? 0] : undefined;
    if (step === undefined) return status.phase === "Healthy" && !isNew ? { status } : complete(spec, status);
    if (step.pause !== undefined) {
      const waiting: RolloutStatus = {
        ...status,
        phase: "Paused",
        message: "CanaryPauseStep",
        controllerPause: true,
        pauseConditions: [{ reason: "CanaryPauseStep", startTime: kubeTime(now) }],
      };
      return paused(spec, waiting, now);
    }
    if (step.setWeight !== undefined) {
      const updatedReplicas = Math.ceil(((spec.replicas ?? 1) * step.setWeight) / 100);
      const scaling = { ...status, ...progressing("more replicas need to be updated"), updatedReplicas };
      return { status: scaling, wait: { kind: "pods", next: advanced(scaling) } };
    }
    status = advanced(status);
  }
}
