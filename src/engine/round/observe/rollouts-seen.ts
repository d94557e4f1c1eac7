import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { iso } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { batchesMeant, wantsRollouts } from "../../../core/run/commands/rollouts.ts";
import type { Batch, BatchTarget, RolloutState, Run } from "../../../core/run/state/run.ts";
import type { LostPlane, ObservedRollouts } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
import { applicationAt } from "../../resolve/fleet.ts";
import type { RepoContext } from "../context.ts";

/** While something moves, it is read anew this often; where an Application has none, they are looked for less often. */
const AGAIN_MS = 15_000;
const NONE_AGAIN_MS = 5 * 60_000;
/** Each read is one or more calls to Argo CD: a round makes so many, the others are read in the rounds after it. */
const READS_A_ROUND = 20;
const MOST_KEPT = 5000;
/** Of what comes from outside. */
const LONGEST_WORD = 253;
const LONGEST_MESSAGE = 200;
const MOST_IMAGES = 3;

interface Kept {
  /** Epoch milliseconds. */
  at: number;
  /** What the Application showed then: another one is worth a read at once. */
  sign: string;
  seen?: RolloutState[] | undefined;
  unseen?: AnyReason | undefined;
}

/** Reads the Argo Rollouts of one repo's targets. */
export interface RolloutReader {
  /**
   * Those of a run's targets in flight whose Application is Suspended, Progressing or Degraded, or that somebody gives a
   * command on. Read at a sane pace and remembered in between.
   */
  observe(run: Run, commands: readonly Command[], lost: ReadonlyMap<string, LostPlane>): Promise<Map<string, ObservedRollouts>>;
  /** Of one target as of now, for whoever is about to act. undefined: they cannot be read. */
  now(target: string): Promise<readonly RolloutState[] | undefined>;
  /** After an action they are read anew whatever was read a moment ago. */
  forget(target: string): void;
}

interface How {
  /** For a command they are read as of now: what was seen a while ago may have moved on. */
  wanted: boolean;
  lost: ReadonlyMap<string, LostPlane>;
  mayRead: boolean;
}

export function openRolloutReader({ planes, clock, log }: Pick<RepoContext, "planes" | "clock" | "log">): RolloutReader {
  const kept = new BoundedMap<string, Kept>(MOST_KEPT);

  async function look(key: string, { wanted, lost, mayRead }: How): Promise<{ rollouts: ObservedRollouts; read: boolean } | undefined> {
    const [planeName = "", namespace = "", name = ""] = key.split("/");
    const now = clock.now();
    const plane = planes.get(planeName);
    if (plane === undefined || lost.has(planeName)) {
      const unseen = engineReason("PLANE_UNSEEN_NOW", { plane: planeName, because: lost.get(planeName)?.why });
      return wanted ? { rollouts: { at: iso(now), unseen, cannotAct: unseen }, read: false } : undefined;
    }
    const sign = signOf(plane, namespace, name);
    if (!wanted && sign === undefined) return undefined;
    let known = kept.get(key);
    const isDue = known === undefined || known.sign !== sign || now - known.at >= (known.seen?.length === 0 ? NONE_AGAIN_MS : AGAIN_MS);
    const read = mayRead && (wanted || isDue);
    if (read) {
      known = { at: now, sign: sign ?? "", ...(await readRollouts({ log }, plane, namespace, name)) };
      kept.set(key, known);
    }
    if (known === undefined) return undefined;
    const { seen, unseen, at } = known;
    // Without a way to see them, or any of them, there is nothing to come back for.
    const lookAgainAt = seen === undefined || seen.length === 0 ? undefined : iso(Math.max(at + AGAIN_MS, now + 1000));
    return { rollouts: { at: iso(at), lookAgainAt, seen, unseen, cannotAct: whyNotAct(plane) }, read };
  }

  return {
    async observe(run, commands, lost) {
      const found = new Map<string, ObservedRollouts>();
      const asked = askedFor(run, commands);
      let left = READS_A_ROUND;
      for (const batch of run.batches) {
        if (batch.merged === undefined) continue;
        for (const target of batch.targets) {
          const wanted = asked.has(target.key);
          if (!wanted && !isWatched(batch, target)) continue;
          const looked = await look(target.key, { wanted, lost, mayRead: wanted || left > 0 });
          if (looked === undefined) continue;
          if (looked.read) left -= 1;
          found.set(target.key, looked.rollouts);
        }
      }
      return found;
    },
    async now(target) {
      const { plane, namespace, name } = applicationAt(planes, target);
      return plane && (await readRollouts({ log }, plane, namespace, name)).seen;
    },
    forget(target) {
      const known = kept.get(target);
      if (known !== undefined) kept.set(target, { ...known, sign: "" });
    },
  };
}

/** Those a command that is not answered yet means, or an order under way. A stranger's command costs nothing. */
function askedFor(run: Run, commands: readonly Command[]): Set<string> {
  const handled = new Set(run.commands.map((one) => one.id));
  const fresh = commands.filter((one) => wantsRollouts(one) && !handled.has(one.id) && isTrusted(one));
  const keys = fresh.flatMap((one) => batchesMeant(run, one).flatMap((batch) => batch.targets.map((target) => target.key)));
  return new Set([...keys, ...(run.rolloutOrders ?? []).flatMap((order) => order.rollouts.map((one) => one.target))]);
}

function isTrusted({ permission }: Command): boolean {
  return permission === "write" || permission === "maintain" || permission === "admin";
}

function isWatched(batch: Batch, { phase }: BatchTarget): boolean {
  if (phase === "Failed") return batch.phase !== "Settled";
  return phase === "Merged" || phase === "Syncing" || phase === "Healthy";
}

/** undefined: nothing is under way in it that Rollouts would explain. */
function signOf(plane: ControlPlane, namespace: string, name: string): string | undefined {
  const health = plane.application(namespace, name)?.status.health;
  if (health?.status !== "Suspended" && health?.status !== "Progressing" && health?.status !== "Degraded") return undefined;
  return `${health.status} ${health.lastTransitionTime ?? ""} ${health.message ?? ""}`;
}

/** What is configured is known before anybody is told that it was tried. */
export function whyNotAct(plane: ControlPlane): AnyReason | undefined {
  return plane.runAction === undefined ? engineReason("ACTIONS_NOT_ALLOWED", { plane: plane.name }) : undefined;
}

/** Whatever a cluster says, as much of it as the journal and a comment have room for. */
function bounded(view: RolloutState): RolloutState {
  const { namespace, name, phase, message, paused, step, steps, setWeight, actualWeight, stableImages, canaryImages, replicas } = view;
  const word = (text: string) => text.slice(0, LONGEST_WORD);
  const images = (all: readonly string[]) => all.slice(0, MOST_IMAGES).map(word);
  const numbers = Object.entries({ step, steps, setWeight, actualWeight }).filter(([, value]) => value !== undefined);
  return {
    namespace: word(namespace),
    name: word(name),
    phase: word(phase),
    message: message.replace(/\s+/g, " ").slice(0, LONGEST_MESSAGE),
    paused,
    ...Object.fromEntries(numbers),
    stableImages: images(stableImages),
    canaryImages: images(canaryImages),
    replicas: { desired: replicas.desired, updated: replicas.updated, ready: replicas.ready, available: replicas.available },
  };
}

async function readRollouts(
  { log }: Pick<RepoContext, "log">,
  plane: ControlPlane,
  namespace: string,
  application: string,
): Promise<Pick<Kept, "seen" | "unseen">> {
  const data = { application, plane: plane.name };
  if (plane.rollouts === undefined) return { unseen: engineReason("ROLLOUTS_NOT_SHOWN", { plane: plane.name }) };
  try {
    const found = await plane.rollouts(namespace, application);
    if (found === "unavailable") return { unseen: engineReason("ROLLOUTS_UNREADABLE", { ...data, how: "notAllowed" }) };
    // All of an Application or none: half of a batch resumed by a command that says "all" would be worse than a refusal.
    if ("tooMany" in found) return { unseen: engineReason("ROLLOUTS_BEYOND_COUNT", { application, count: found.tooMany }) };
    return { seen: found.map(bounded) };
  } catch (error) {
    log.debug({ ...data, error: String(error) }, "Rollouts could not be read");
    return { unseen: engineReason("ROLLOUTS_UNREADABLE", { ...data, how: "failed" }) };
  }
}
