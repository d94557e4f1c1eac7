import type { RolloutSet } from "../application/workload.ts";
import type { FaultBoard, FaultSubject } from "../faults.ts";
import type { Scheduler } from "../scheduler.ts";
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

interface ControllerParts {
  shelf: RolloutShelf;
  board: FaultBoard;
  scheduler: Scheduler;
  /** From a change to the controller's round. */
  reactionMs: number;
}

interface Waiting {
  /** What it was when the wait began: another state ends the wait. */
  of: string;
  stop(): void;
}

/** The Argo Rollouts controller of one cluster. */
export class ClusterRollouts {
  readonly shelf: RolloutShelf;
  readonly #parts: ControllerParts;
  readonly #owners = new Map<string, Owner>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #due = new Set<string>();
  readonly #images = new Map<string, string[]>();

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.shelf = parts.shelf;
    this.shelf.onChange((object) => {
      const owner = this.#ownerOf(object);
      // Put there by hand: nobody runs it.
      if (owner === undefined) return;
      this.#look(keyOf(object));
      owner.onChange();
    });
  }

  /** Images of a template, by its hash. */
  imagesOf(hash: string): string[] {
    return this.#images.get(hash) ?? [];
  }

  /** The Rollouts of one Application. */
  setOf(application: string, owner: Owner): RolloutSet {
    const { shelf } = this;
    this.#owners.set(application, owner);
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
      faultsChanged: () => {
        for (const object of own()) this.#look(keyOf(object));
      },
      remove: () => {
        for (const object of own()) shelf.remove(object.metadata.namespace ?? "", object.metadata.name);
        this.#owners.delete(application);
      },
    };
  }

  #ownerOf(object: RolloutObject): Owner | undefined {
    return this.#owners.get(applicationOf(object));
  }

  #look(key: string): void {
    if (this.#due.has(key)) return;
    this.#due.add(key);
    const { scheduler, reactionMs } = this.#parts;
    scheduler.after(reactionMs, () => {
      this.#due.delete(key);
      const [namespace = "", name = ""] = key.split("/");
      const object = this.shelf.get(namespace, name);
      if (object !== undefined) this.#round(key, object);
    });
  }

  #round(key: string, object: RolloutObject): void {
    this.#images.set(podHash(object.spec), imagesIn(object));
    this.shelf.keepTemplate?.(object, podHash(object.spec));
    // It had its time and did not come up: it goes on once whatever held it is gone.
    if (object.status?.phase === "Degraded" && object.status.abort !== true && this.#isHeld(object)) return;
    const { status, wait } = nextMove(object, this.#parts.scheduler.now());
    const next = JSON.stringify(object.status) === JSON.stringify(status) ? object : this.shelf.put({ ...object, status });
    const of = stateOf(next);
    const before = this.#waiting.get(key);
    if (before !== undefined && before.of === of && wait !== undefined) return;
    before?.stop();
    this.#waiting.delete(key);
    if (wait === undefined) return;
    const stop = this.#parts.scheduler.after(wait.ms ?? this.#ownerOf(object)?.podsMs() ?? 0, () => {
      this.#waiting.delete(key);
      const current = this.shelf.get(object.metadata.namespace ?? "", object.metadata.name);
      if (current === undefined || stateOf(current) !== of) return;
      if (wait.kind === "pods" && this.#isHeld(current)) this.#hold(current);
      else this.shelf.put({ ...current, status: wait.next });
    });
    this.#waiting.set(key, { of, stop });
  }

  /** Whether a fault keeps its pods from coming up. */
  #isHeld(object: RolloutObject): boolean {
    const subject = this.#ownerOf(object)?.subject();
    const { board } = this.#parts;
    return subject !== undefined && (board.find("stuck", subject) !== undefined || board.find("degraded", subject) !== undefined);
  }

  #hold(object: RolloutObject): void {
    const subject = this.#ownerOf(object)?.subject();
    const degraded = subject === undefined ? undefined : this.#parts.board.find("degraded", subject);
    if (degraded === undefined) return;
    const message =
      degraded.message ??
      `ProgressDeadlineExceeded: ReplicaSet "${object.metadata.name}-${podHash(object.spec)}" has timed out progressing.`;
    this.shelf.put({ ...object, status: { ...object.status, phase: "Degraded", message } });
  }
}

function keyOf({ metadata }: RolloutObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function stateOf({ status = {}, metadata, spec }: RolloutObject): string {
  return JSON.stringify([
    podHash(spec),
    ...[status.currentStepIndex, status.phase, status.pauseConditions, status.promoteFull],
    metadata.generation,
  ]);
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
