/** An Argo Rollout in words, as every report calls it. */
import { present } from "../markdown.ts";
import type { ModelNode } from "./types.ts";

type Argo = NonNullable<ModelNode["argoRollout"]>;

/** As all reports call it: one that is paused is, whatever its controller says besides. */
export function rolloutPhase(rollout: Pick<Argo, "phase" | "paused">): string {
  return rollout.paused && rollout.phase !== "Degraded" ? "Paused" : rollout.phase;
}

/** `step 1/4 · weight 20 (actual 25) · shop:v1 → shop:v2 · 5/5 available, 1 updated · CanaryPauseStep`. Not escaped. */
export function rolloutDetails(rollout: Argo): string {
  const { step, steps, message } = rollout;
  const at = step !== undefined && steps !== undefined && `step ${Math.min(step, steps)}/${steps}`;
  return present(at, weightWords(rollout), imageWords(rollout), replicaWords(rollout), message).join(" · ");
}

export function weightWords({ setWeight, actualWeight }: Argo): string {
  if (setWeight === undefined) return "";
  return actualWeight === undefined || actualWeight === setWeight ? `weight ${setWeight}` : `weight ${setWeight} (actual ${actualWeight})`;
}

export function replicaWords({ replicas }: Argo): string {
  return `${replicas.available}/${replicas.desired} available, ${replicas.updated} updated`;
}

function imageWords({ stableImages, canaryImages }: Argo): string {
  const [stable, canary] = [imagesOf(stableImages), imagesOf(canaryImages)];
  if (canary === "") return stable;
  return stable === "" ? `canary ${canary}` : `${stable} → ${canary}`;
}

/** The last part of each, which is what differs: `ghcr.io/acme/shop:v2` → `shop:v2`. */
export function imagesOf(images: readonly string[]): string {
  return images.map((image) => image.slice(image.lastIndexOf("/") + 1)).join(", ");
}
