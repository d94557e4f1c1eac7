import type { Fault, FaultBoard, FaultKind, FaultSubject } from "../faults.ts";
import type { RolloutManifest } from "../rollouts/manifest.ts";
import type { HealthCode } from "../types.ts";
import type { Desired } from "./manifests.ts";

/** What runs in the cluster for one Application, whatever Argo CD knows of it. */
export interface Workload {
  /** Hash of what was applied last; undefined: nothing is there. Differs from the desired one after a drift. */
  content: string | undefined;
  health: HealthCode;
  message: string;
}
interface WorkloadContext {
  cluster: () => string;
  application: string;
  /** Nothing in it has a health of its own: it is Healthy as soon as it is applied. */
  inert: () => boolean;
  board: FaultBoard;
  times: { flash: () => number; rollout: () => number };
  after(ms: number, task: () => void): () => void;
  onChange(): void;
  /** Its Argo Rollouts, where it has any: then its health is theirs. */
  rollouts?: RolloutSet;
}

/** The Argo Rollouts of one Application in its cluster. */
export interface RolloutSet {
  /** What was applied; what is no longer among it goes. */
  apply(manifests: readonly RolloutManifest[]): void;
  /** The worst of them; undefined: there are none. */
  health(): { status: HealthCode; message: string } | undefined;
  /** Lets paused ones go on. */
  resume(): void;
  faultsChanged(): void;
  remove(): void;
}

type Outcome = "healthy" | "held";

const MOVING = "waiting for rollout to finish";

/** Health of a new version over time: still the old Healthy for a moment, then Progressing, then what the faults make of it. */
export class WorkloadModel {
  readonly live: Workload = { content: undefined, health: "Missing", message: "" };
  readonly #context: WorkloadContext;
  #stop = () => {};
  #outcome: Outcome = "healthy";
  #mentions: ReadonlySet<string> = new Set();
  #drifts = 0;
  /** Whatever was done to it since. */
  applied: Desired | undefined;

  constructor(context: WorkloadContext) {
    this.#context = context;
  }

  /** Whether a text that faults ask about stands in what runs. */
  mentions(text: string): boolean {
    return this.#mentions.has(text);
  }

  /** Something is applied. What is the same already changes nothing. */
  apply(desired: Desired): void {
    const { content, mentions, rollouts = [] } = desired;
    this.applied = desired;
    const { live } = this;
    const { inert, times, onChange } = this.#context;
    this.#mentions = mentions;
    const before = live.content;
    if (before === content) return;
    live.content = content;
    onChange();
    if (rollouts.length > 0) {
      this.#context.rollouts?.apply(rollouts);
      this.follow();
    } else if (inert()) this.#become("Healthy");
    else if (before === undefined) this.#progress(() => this.#finish());
    else if (!before.startsWith("drift")) this.#then(times.flash(), () => this.#progress(() => this.#finish()));
  }

  /** Somebody edits a live object by hand. */
  drift(): void {
    this.#drifts += 1;
    this.live.content = `drift ${this.#drifts}`;
    this.#context.onChange();
  }

  /** A paused canary goes on. */
  resume(): void {
    this.#context.rollouts?.resume();
    if (!this.follow() && this.live.health === "Suspended") this.#goOn();
  }

  /** Faults of the cluster changed: what they held goes on, what they take back degrades. */
  faultsChanged(): void {
    this.#context.rollouts?.faultsChanged();
    if (this.follow() || this.live.content === undefined) return;
    const [degraded, stuck, suspended] = [this.#fault("degraded"), this.#fault("stuck"), this.#fault("suspended")];
    if (degraded?.scope === "now" && this.live.health !== "Degraded") this.#degrade(degraded);
    else if (stuck?.scope === "now" && this.live.health === "Healthy") this.#progress(() => this.#finish());
    else if (this.#outcome === "held" && (degraded ?? stuck ?? suspended) === undefined) this.#goOn();
  }

  /** Takes over the health of its Rollouts; false: it has none. */
  follow(): boolean {
    const health = this.#context.rollouts?.health();
    if (health === undefined) return false;
    this.#stop();
    this.#become(health.status, health.message);
    return true;
  }

  remove(): void {
    this.#stop();
    this.#context.rollouts?.remove();
    this.applied = undefined;
    Object.assign(this.live, { content: undefined, health: "Missing", message: "" } satisfies Workload);
  }

  #fault<Kind extends FaultKind>(kind: Kind): Extract<Fault, { kind: Kind }> | undefined {
    const { board, cluster, application } = this.#context;
    const subject: FaultSubject = { cluster: cluster(), application, mentions: (text) => this.mentions(text) };
    return board.find(kind, subject);
  }

  #become(health: HealthCode, message = ""): void {
    if (this.live.health === health && this.live.message === message) return;
    Object.assign(this.live, { health, message });
    this.#context.onChange();
  }

  #then(ms: number, task: () => void): void {
    this.#stop();
    this.#stop = this.#context.after(ms, task);
  }

  #progress(end: () => void): void {
    this.#outcome = "healthy";
    this.#become("Progressing", MOVING);
    this.#then(this.#context.times.rollout() * (this.#fault("slow")?.factor ?? 1), end);
  }

  /** Goes on to Healthy past whatever held it. */
  #goOn(): void {
    this.#progress(() => this.#become("Healthy"));
  }

  #degrade({ message, recoversAfter }: { message?: string; recoversAfter?: number }): void {
    this.#outcome = recoversAfter === undefined ? "held" : "healthy";
    this.#become("Degraded", message ?? `Deployment "${this.#context.application}" exceeded its progress deadline`);
    if (recoversAfter !== undefined) this.#then(recoversAfter, () => this.#become("Healthy"));
  }

  #flap(times: number, period: number): void {
    this.#become("Healthy");
    if (times === 0) return;
    this.#then(period, () => {
      this.#become("Degraded", "readiness probe failed");
      this.#then(period, () => this.#flap(times - 1, period));
    });
  }

  /** What becomes of a version that had its time to start. */
  #finish(): void {
    const degraded = this.#fault("degraded");
    const flapping = this.#fault("flap");
    const isStuck = this.#fault("stuck") !== undefined;
    if (isStuck || this.#fault("suspended") !== undefined) {
      this.#outcome = "held";
      if (!isStuck) this.#become("Suspended", "CanaryPauseStep");
    } else if (degraded?.after !== undefined) {
      this.#become("Healthy");
      this.#then(degraded.after, () => this.#degrade(degraded));
    } else if (degraded !== undefined) this.#degrade(degraded);
    else if (flapping !== undefined) this.#flap(flapping.times ?? 2, flapping.period ?? 5000);
    else this.#become("Healthy");
  }
}
