import type { FaultBoard, FaultSubject } from "../faults.ts";
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

interface WorkloadTimes {
  flash: () => number;
  rollout: () => number;
}

export interface WorkloadModel {
  readonly live: Workload;
  /** Something is applied. What is the same already changes nothing. */
  apply(desired: Desired): void;
  /** Somebody edits a live object by hand. */
  drift(): void;
  /** A paused canary goes on. */
  resume(): void;
  /** Faults of the cluster changed: what they held goes on, what they take back degrades. */
  faultsChanged(): void;
  remove(): void;
  /** Its Rollouts moved. */
  follow(): boolean;
  /** Whether a text that faults ask about stands in what runs. */
  mentions(text: string): boolean;
}

interface WorkloadContext {
  cluster: () => string;
  application: string;
  /** Nothing in it has a health of its own: it is Healthy as soon as it is applied. */
  inert: () => boolean;
  board: FaultBoard;
  times: WorkloadTimes;
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

/** Health of a new version over time: still the old Healthy for a moment, then Progressing, then what the faults make of it. */
export function createWorkload({ cluster, application, inert, board, times, after, onChange, rollouts }: WorkloadContext): WorkloadModel {
  const live: Workload = { content: undefined, health: "Missing", message: "" };
  let stop = () => {};
  let outcome: Outcome = "healthy";
  let mentions: ReadonlySet<string> = new Set();
  let drifts = 0;

  const subject = (): FaultSubject => ({ cluster: cluster(), application, mentions: (text) => mentions.has(text) });

  function become(health: HealthCode, message = ""): void {
    if (live.health === health && live.message === message) return;
    live.health = health;
    live.message = message;
    onChange();
  }

  function then(ms: number, task: () => void): void {
    stop();
    stop = after(ms, task);
  }

  function rolloutTime(): number {
    return times.rollout() * (board.find("slow", subject())?.factor ?? 1);
  }

  function degrade(message: string | undefined, recoversAfter: number | undefined): void {
    outcome = recoversAfter === undefined ? "held" : "healthy";
    become("Degraded", message ?? `Deployment "${application}" exceeded its progress deadline`);
    if (recoversAfter !== undefined) then(recoversAfter, () => become("Healthy"));
  }

  function flap(times: number, period: number): void {
    become("Healthy");
    if (times > 0) {
      then(period, () => {
        become("Degraded", "readiness probe failed");
        then(period, () => flap(times - 1, period));
      });
    }
  }

  /** What becomes of a version that had its time to start. */
  function finish(): void {
    const degraded = board.find("degraded", subject());
    const flapping = board.find("flap", subject());
    if (board.find("stuck", subject()) !== undefined) {
      outcome = "held";
    } else if (board.find("suspended", subject()) !== undefined) {
      outcome = "held";
      become("Suspended", "CanaryPauseStep");
    } else if (degraded?.after !== undefined) {
      become("Healthy");
      then(degraded.after, () => degrade(degraded.message, degraded.recoversAfter));
    } else if (degraded !== undefined) {
      degrade(degraded.message, degraded.recoversAfter);
    } else if (flapping !== undefined) {
      flap(flapping.times ?? 2, flapping.period ?? 5000);
    } else {
      become("Healthy");
    }
  }

  function progress(): void {
    outcome = "healthy";
    become("Progressing", "waiting for rollout to finish");
    then(rolloutTime(), finish);
  }

  /** Takes over the health of its Rollouts; false: it has none. */
  function follow(): boolean {
    const health = rollouts?.health();
    if (health === undefined) return false;
    stop();
    become(health.status, health.message);
    return true;
  }

  return {
    live,
    follow,
    mentions: (text) => mentions.has(text),
    apply(desired) {
      mentions = desired.mentions;
      if (live.content === desired.content) return;
      if ((desired.rollouts ?? []).length > 0) {
        live.content = desired.content;
        onChange();
        rollouts?.apply(desired.rollouts ?? []);
        follow();
        return;
      }
      const fresh = live.content === undefined;
      const healed = live.content?.startsWith("drift") === true;
      live.content = desired.content;
      onChange();
      if (inert()) return become("Healthy");
      if (healed) return;
      if (fresh) progress();
      else then(times.flash(), progress);
    },
    drift() {
      drifts += 1;
      live.content = `drift ${drifts}`;
      onChange();
    },
    resume() {
      rollouts?.resume();
      if (follow()) return;
      if (live.health === "Suspended") progressOn();
    },
    faultsChanged() {
      rollouts?.faultsChanged();
      if (follow()) return;
      const degraded = board.find("degraded", subject());
      const stuck = board.find("stuck", subject());
      if (live.content === undefined) return;
      if (degraded?.scope === "now" && live.health !== "Degraded") degrade(degraded.message, degraded.recoversAfter);
      else if (stuck?.scope === "now" && live.health === "Healthy") progress();
      else if (outcome === "held" && degraded === undefined && stuck === undefined && board.find("suspended", subject()) === undefined)
        progressOn();
    },
    remove() {
      stop();
      rollouts?.remove();
      live.content = undefined;
      live.health = "Missing";
      live.message = "";
    },
  };

  /** Goes on to Healthy past whatever held it. */
  function progressOn(): void {
    outcome = "healthy";
    become("Progressing", "waiting for rollout to finish");
    then(rolloutTime(), () => become("Healthy"));
  }
}
