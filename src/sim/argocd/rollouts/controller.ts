import type { RolloutSet } from "../application/workload.ts";
import type { FaultBoard, FaultSubject } from "../faults.ts";
import { nextMove, podHash } from "./canary.ts";
import type { RolloutManifest } from "./manifest.ts";
import { type RolloutObject, type RolloutShelf, rolloutHealth } from "./objects.ts";

const TRACKING = "argocd.argoproj.io/tracking-id";

/** What the controller of one cluster has to know of who applied a Rollout. */
interface Owner {
  subject(): FaultSubject;
  /** How long pods take. */
  podsMs(): number;
  onChange(): void;
}

export interface ClusterRollouts {
  shelf: RolloutShelf;
  /** The Rollouts of one Application. */
  setOf(application: string, owner: Owner): RolloutSet;
  /** Images of a template, by its hash. */
  imagesOf(hash: string): string[];
}

interface ControllerParts {
  shelf: RolloutShelf;
  board: FaultBoard;
  now(): number;
  after(ms: number, task: () => void): () => void;
  /** From a change to the controller's round. */
  reactionMs: number;
}

interface Waiting {
  /** What it was when the wait began: another state ends the wait. */
  of: string;
  stop(): void;
}

/** The Argo Rollouts controller of one cluster. */
export function startRollouts({ shelf, board, now, after, reactionMs }: ControllerParts): ClusterRollouts {
  const owners = new Map<string, Owner>();
  const waiting = new Map<string, Waiting>();
  const due = new Set<string>();
  const images = new Map<string, string[]>();
  const keyOf = ({ metadata }: RolloutObject) => `${metadata.namespace}/${metadata.name}`;
  const ownerOf = (object: RolloutObject) => owners.get(applicationOf(object));
  const stateOf = ({ status = {}, metadata, spec }: RolloutObject) =>
    JSON.stringify([podHash(spec), status.currentStepIndex, status.phase, status.pauseConditions, status.promoteFull, metadata.generation]);

  function look(key: string): void {
    if (due.has(key)) return;
    due.add(key);
    after(reactionMs, () => {
      due.delete(key);
      const [namespace = "", name = ""] = key.split("/");
      const object = shelf.get(namespace, name);
      if (object !== undefined) round(key, object);
    });
  }

  function round(key: string, object: RolloutObject): void {
    images.set(podHash(object.spec), imagesIn(object));
    shelf.keepTemplate?.(object, podHash(object.spec));
    // It had its time and did not come up: it goes on once whatever held it is gone.
    if (object.status?.phase === "Degraded" && object.status.abort !== true && isHeld(object)) return;
    const { status, wait } = nextMove(object, now());
    const next = JSON.stringify(object.status) === JSON.stringify(status) ? object : shelf.put({ ...object, status });
    const of = stateOf(next);
    const before = waiting.get(key);
    if (before !== undefined && before.of === of && wait !== undefined) return;
    before?.stop();
    waiting.delete(key);
    if (wait === undefined) return;
    const stop = after(wait.ms ?? ownerOf(object)?.podsMs() ?? 0, () => {
      waiting.delete(key);
      const current = shelf.get(object.metadata.namespace ?? "", object.metadata.name);
      if (current === undefined || stateOf(current) !== of) return;
      if (wait.kind === "pods" && isHeld(current)) return void hold(current);
      shelf.put({ ...current, status: wait.next });
    });
    waiting.set(key, { of, stop });
  }

  /** Whether a fault keeps its pods from coming up. */
  function isHeld(object: RolloutObject): boolean {
    const subject = ownerOf(object)?.subject();
    return subject !== undefined && (board.find("stuck", subject) !== undefined || board.find("degraded", subject) !== undefined);
  }

  function hold(object: RolloutObject): void {
    const subject = ownerOf(object)?.subject();
    const degraded = subject === undefined ? undefined : board.find("degraded", subject);
    if (degraded === undefined) return;
    const message =
      degraded.message ??
      `ProgressDeadlineExceeded: ReplicaSet "${object.metadata.name}-${podHash(object.spec)}" has timed out progressing.`;
    shelf.put({ ...object, status: { ...object.status, phase: "Degraded", message } });
  }

  shelf.onChange((object) => {
    const owner = ownerOf(object);
    // Put there by hand: nobody runs it.
    if (owner === undefined) return;
    look(keyOf(object));
    owner.onChange();
  });

  return {
    shelf,
    imagesOf: (hash) => images.get(hash) ?? [],
    setOf(application, owner) {
      owners.set(application, owner);
      const own = () => shelf.list().filter((object) => applicationOf(object) === application);
      return {
        apply(manifests) {
          for (const manifest of manifests) put(shelf, application, manifest);
          const kept = new Set(manifests.map(({ namespace, name }) => `${namespace}/${name}`));
          for (const object of own()) {
            if (!kept.has(keyOf(object))) shelf.remove(object.metadata.namespace ?? "", object.metadata.name);
          }
        },
        health: () => worst(own()),
        resume() {
          for (const object of own()) {
            const { pauseConditions: _, ...status } = object.status ?? {};
            if ((object.status?.pauseConditions ?? []).length > 0) shelf.put({ ...object, status });
          }
        },
        faultsChanged() {
          for (const object of own()) look(keyOf(object));
        },
        remove() {
          for (const object of own()) shelf.remove(object.metadata.namespace ?? "", object.metadata.name);
          owners.delete(application);
        },
      };
    },
  };
}

function applicationOf({ metadata }: RolloutObject): string {
  return metadata.annotations?.[TRACKING]?.split(":")[0] ?? "";
}

function put(shelf: RolloutShelf, application: string, { namespace, name, spec }: RolloutManifest): void {
  const old = shelf.get(namespace, name);
  const tracking = { [TRACKING]: `${application}:argoproj.io/Rollout:${namespace}/${name}` };
  const revision = "rollout.argoproj.io/revision";
  const count = Number(old?.metadata.annotations?.[revision] ?? 0);
  const changed = old === undefined || podHash(old.spec) !== podHash(spec);
  const annotations = { ...old?.metadata.annotations, ...tracking, [revision]: String(count + (changed ? 1 : 0)) };
  const metadata = { ...old?.metadata, name, namespace, annotations };
  shelf.put({ ...old, apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", metadata, spec });
}

function imagesIn({ spec }: RolloutObject): string[] {
  return (spec.template?.spec?.containers ?? []).flatMap(({ image }) => (image === undefined ? [] : [image]));
}

const ORDER = ["Healthy", "Suspended", "Progressing", "Degraded"];

function worst(objects: readonly RolloutObject[]): ReturnType<RolloutSet["health"]> {
  const all = objects.map(rolloutHealth);
  return all.sort((a, b) => ORDER.indexOf(b.status) - ORDER.indexOf(a.status))[0];
}
