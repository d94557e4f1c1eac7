/**
 * Reads an Argo Rollout as `kubectl argo rollouts get rollout` shows it. Called by both ways of reading Argo CD.
 */
import { defined } from "../../base/defined.ts";
import type { RolloutView } from "../views.ts";
import { child, count, type Fields, fields, list, message, own, word } from "./lenient.ts";

/** What is known besides the Rollout itself. */
export interface RolloutSurroundings {
  /** Images of the pods, by the hash of their template. */
  images?: ReadonlyMap<string, readonly string[]>;
  /** How many of those pods are available, where they were counted. */
  available?: ReadonlyMap<string, number>;
}

/** Of one Application: each is read, shown and steered by itself. Where there are more, none is, rather than some of them. */
export const MOST_ROLLOUTS = 100;
const MOST_IMAGES = 50;

/**
 * A Rollout as `kubectl argo rollouts get rollout` shows it: phase and message are the controller's, unless what it says is
 * of an older spec or pause. undefined: it has no name. Never throws.
 */
export function decodeRollout(raw: unknown, around: RolloutSurroundings = {}): RolloutView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const name = word(metadata, "name");
  if (name === undefined) return undefined;
  const spec = child(object, "spec");
  const status = child(object, "status");
  const steps = list(child(child(spec, "strategy"), "canary"), "steps");
  const canary = typeof own(child(spec, "strategy"), "canary") === "object";
  const at = own(status, "currentStepIndex");
  return defined({
    namespace: word(metadata, "namespace") ?? "",
    name,
    ...phaseOf(object),
    paused: own(spec, "paused") === true || list(status, "pauseConditions").length > 0,
    step: typeof at === "number" && Number.isSafeInteger(at) && steps.length > 0 ? Math.max(0, at) : undefined,
    steps: steps.length === 0 ? undefined : steps.length,
    ...(canary ? weightsOf(spec, status, steps, around) : {}),
    ...imagesOf(spec, status, around),
    replicas: {
      desired: typeof own(spec, "replicas") === "number" ? count(spec, "replicas") : 1,
      updated: count(status, "updatedReplicas"),
      ready: count(status, "readyReplicas"),
      available: count(status, "availableReplicas"),
    },
  });
}

function phaseOf(object: Fields): { phase: string; message: string } {
  const status = child(object, "status");
  const observed = Number(word(status, "observedGeneration") ?? Number.NaN);
  const generation = own(child(object, "metadata"), "generation");
  if (typeof generation === "number" && observed < generation)
    return { phase: "Progressing", message: "waiting for rollout spec update to be observed" };
  // Somebody ended the pause, and the controller has not seen it yet.
  if (own(status, "controllerPause") === true && list(status, "pauseConditions").length === 0)
    return { phase: "Progressing", message: "waiting for rollout to unpause" };
  return { phase: word(status, "phase") ?? "Unknown", message: message(status, "message") ?? "" };
}

function isPromoted(status: Fields): boolean {
  const stable = word(status, "stableRS");
  return stable !== undefined && stable === word(status, "currentPodHash");
}

function weightsOf(spec: Fields, status: Fields, steps: unknown[], around: RolloutSurroundings): Partial<RolloutView> {
  const setWeight = setWeightOf(status, steps);
  const routed = own(child(child(child(status, "canary"), "weights"), "canary"), "weight");
  if (typeof routed === "number") return { setWeight, actualWeight: routed };
  const index = own(status, "currentStepIndex");
  if (isPromoted(status) || steps.length === 0 || (typeof index === "number" && index >= steps.length))
    return { setWeight, actualWeight: 100 };
  const routing = own(child(child(spec, "strategy"), "canary"), "trafficRouting");
  if (typeof routing === "object" && routing !== null) return { setWeight, actualWeight: setWeight };
  const available = count(status, "availableReplicas");
  const counted = around.available?.get(word(status, "currentPodHash") ?? "");
  const canary = Math.min(counted ?? count(status, "updatedReplicas"), available);
  return { setWeight, actualWeight: available === 0 ? 0 : Math.floor((canary * 100) / available) };
}

/** That of the last setWeight step up to the current one. */
function setWeightOf(status: Fields, steps: unknown[]): number {
  if (isPromoted(status) || steps.length === 0) return 100;
  if (own(status, "abort") === true) return 0;
  const index = own(status, "currentStepIndex");
  if (typeof index !== "number") return 0;
  if (index >= steps.length) return 100;
  for (let i = Math.min(index, steps.length - 1); i >= 0; i--) {
    const weight = own(fields(steps[i]), "setWeight");
    if (typeof weight === "number") return weight;
  }
  return 0;
}

function imagesOf(spec: Fields, status: Fields, { images }: RolloutSurroundings): Pick<RolloutView, "stableImages" | "canaryImages"> {
  const current = word(status, "currentPodHash") ?? "";
  const stable = word(status, "stableRS") ?? "";
  const template = imagesOfTemplate(child(spec, "template"));
  const newest = template.length > 0 ? template : [...(images?.get(current) ?? [])];
  if (isPromoted(status)) return { stableImages: newest, canaryImages: [] };
  return { stableImages: [...(images?.get(stable) ?? [])], canaryImages: newest };
}

/** Of a pod template: its containers' images, each once. */
export function imagesOfTemplate(template: Fields): string[] {
  const found = new Set<string>();
  for (const raw of list(child(template, "spec"), "containers").slice(0, MOST_IMAGES)) {
    const image = word(fields(raw), "image");
    if (image !== undefined) found.add(image);
  }
  return [...found];
}
