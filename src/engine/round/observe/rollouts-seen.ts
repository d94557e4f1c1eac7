import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { iso } from "../../../core/base/time.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { batchesMeant, wantsRollouts } from "../../../core/run/commands/rollouts.ts";
import type { Batch, BatchTarget, RolloutState, Run } from "../../../core/run/state/run.ts";
import type { LostPlane, ObservedRollouts } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
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
  seen?: RolloutState[];
  unseen?: string;
}

/** Reads the Argo Rollouts of one repo's targets. */
export interface RolloutReader {
  observe(run: Run, commands: readonly Command[], lost: ReadonlyMap<string, LostPlane>): Promise<Map<string, ObservedRollouts>>;
  /** After an action they are read anew whatever was read a moment ago. */
  forget(target: string): void;
}

export function openRolloutReader(context: RepoContext): RolloutReader {
  const kept = new BoundedMap<string, Kept>(MOST_KEPT);
  return {
    observe: (run, commands, lost) => observeRollouts(context, kept, run, commands, lost),
    forget(target) {
      const known = kept.get(target);
      if (known !== undefined) kept.set(target, { ...known, sign: "" });
    },
  };
}

/**
 * The Argo Rollouts of a run's targets in flight whose Application is Suspended, Progressing or Degraded, or that somebody gives a
 * command on. Read at a sane pace and remembered in between.
 */
async function observeRollouts(
  context: RepoContext,
  kept: Map<string, Kept>,
  run: Run,
  commands: readonly Command[],
  lost: ReadonlyMap<string, LostPlane>,
): Promise<Map<string, ObservedRollouts>> {
  const found = new Map<string, ObservedRollouts>();
  const asked = askedFor(run, commands);
  let left = READS_A_ROUND;
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const target of batch.targets) {
      const wanted = asked.has(target.key);
      if (!wanted && !isWatched(batch, target)) continue;
      const looked = await look(context, kept, target.key, { wanted, lost, mayRead: wanted || left > 0 });
      if (looked === undefined) continue;
      if (looked.read) left -= 1;
      found.set(target.key, looked.rollouts);
    }
  }
  return found;
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

interface How {
  wanted: boolean;
  lost: ReadonlyMap<string, LostPlane>;
  mayRead: boolean;
}

async function look(
  context: RepoContext,
  kept: Map<string, Kept>,
  key: string,
  { wanted, lost, mayRead }: How,
): Promise<{ rollouts: ObservedRollouts; read: boolean } | undefined> {
  const [planeName = "", namespace = "", name = ""] = key.split("/");
  const now = context.clock.now();
  const plane = context.planes.get(planeName);
  if (plane === undefined || lost.has(planeName)) {
    const why = `control plane ${planeName} cannot be seen: ${sentenceOf(lost.get(planeName)?.why ?? "it is not configured")}`;
    return wanted ? { rollouts: { at: iso(now), unseen: why, cannotAct: why }, read: false } : undefined;
  }
  const sign = signOf(plane, namespace, name);
  if (!wanted && sign === undefined) return undefined;
  let known = kept.get(key);
  const due = known === undefined || known.sign !== sign || now - known.at >= (known.seen?.length === 0 ? NONE_AGAIN_MS : AGAIN_MS);
  // For a command they are read as of now: what was seen a while ago may have moved on.
  const read = mayRead && (wanted || due);
  if (read) {
    known = { at: now, sign: sign ?? "", ...(await readRollouts(context, plane, namespace, name)) };
    kept.set(key, known);
  }
  if (known === undefined) return undefined;
  const { seen, unseen, at } = known;
  // Without a way to see them, or any of them, there is nothing to come back for.
  const again = seen === undefined || seen.length === 0 ? {} : { lookAgainAt: iso(Math.max(at + AGAIN_MS, now + 1000)) };
  const cannotAct = whyNotAct(plane);
  const rollouts: ObservedRollouts = {
    at: iso(at),
    ...again,
    ...(seen === undefined ? {} : { seen }),
    ...(unseen === undefined ? {} : { unseen }),
    ...(cannotAct === undefined ? {} : { cannotAct }),
  };
  return { rollouts, read };
}

/** undefined: nothing is under way in it that Rollouts would explain. */
function signOf(plane: ControlPlane, namespace: string, name: string): string | undefined {
  const health = plane.application(namespace, name)?.status.health;
  if (health?.status !== "Suspended" && health?.status !== "Progressing" && health?.status !== "Degraded") return undefined;
  return `${health.status} ${health.lastTransitionTime ?? ""} ${health.message ?? ""}`;
}

async function readRollouts(
  { log }: RepoContext,
  plane: ControlPlane,
  namespace: string,
  name: string,
): Promise<Pick<Kept, "seen" | "unseen">> {
  if (plane.rollouts === undefined) return { unseen: `control plane ${plane.name} cannot show Argo Rollouts` };
  try {
    const found = await plane.rollouts(namespace, name);
    if (typeof found === "object") return "tooMany" in found ? { unseen: tooMany(name, found.tooMany) } : { seen: found.map(bounded) };
    return {
      unseen: `the Argo Rollouts of ${name} cannot be read through control plane ${plane.name}: see docs/argo-rollouts.md for what it needs`,
    };
  } catch (error) {
    log.debug({ plane: plane.name, application: name, error: String(error) }, "Rollouts could not be read");
    return { unseen: `the Argo Rollouts of ${name} could not be read through control plane ${plane.name}` };
  }
}

/** All of an Application or none: half of a batch resumed by a command that says "all" would be worse than a refusal. */
function tooMany(name: string, count: number): string {
  return `${name} has ${count} Argo Rollouts, more than are shown and steered one by one: resume or promote them in Argo CD`;
}

/** What is configured is known before anybody is told that it was tried. */
export function whyNotAct(plane: ControlPlane): string | undefined {
  if (plane.runAction !== undefined) return undefined;
  return (
    `control plane ${plane.name} may not run actions on Argo Rollouts: give it \`kind: api\` and \`allowRolloutActions: true\`, and its account ` +
    "`p, ACCOUNT, applications, action/argoproj.io/Rollout/*, PROJECT/*, allow` (docs/argo-rollouts.md)"
  );
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

/** Of one target as of now, for whoever is about to act. undefined: they cannot be read. */
export async function rolloutsNow(context: RepoContext, target: string): Promise<readonly RolloutState[] | undefined> {
  const [planeName = "", namespace = "", name = ""] = target.split("/");
  const plane = context.planes.get(planeName);
  if (plane?.state().fresh !== true) return undefined;
  return (await readRollouts(context, plane, namespace, name)).seen;
}
