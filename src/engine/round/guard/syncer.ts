/**
 * Asking Argo CD to sync targets whose automated sync is off, where their stage says so: each once in a while, few at a time, and no round
 * waits for it. Whether it is wanted still, and would bring nothing but the batch, is judged again right before, on what is there then.
 */
import type { ControlPlane, SyncOutcome } from "../../../adapters/argocd/port.ts";
import type { Change } from "../../../core/argocd/liveness/types.ts";
import { type SyncWanted, syncWanted } from "../../../core/argocd/sync-wanted.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { iso } from "../../../core/base/time.ts";
import { planeReason } from "../../../core/reasons/control-plane.ts";
import { said } from "../../../core/reasons/run.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Effect, ObservedSync } from "../../../core/run/state/effects.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { SpecsByPlane } from "../../config-repo/rendered.ts";
import type { RepoContext } from "../context.ts";
import { openLanes } from "../few-at-once.ts";
import type { Facts } from "../observe/facts.ts";

const ASK_AGAIN_MS = 60_000;
/** Of one control plane: a batch's targets begin at once, a fleet's do not. */
const MOST_AT_ONCE = 4;
const MOST_KEPT = 20_000;

type Wish = Extract<Effect, { kind: "Sync" }>;

export interface Syncer {
  /** What a sync of the target's change would be of, and what came of asking. undefined: its stage does not have the bot ask. */
  of(moved: Moved): ObservedSync | undefined;
  /** Asks, unless that was done a moment ago. Returns at once, with true: nothing can be told of it yet. */
  ask(rollout: string, wish: Wish): true;
  /** Forgets what waits for a place and the rollout wishes no more: it was paused, halted, or has ended. */
  keep(rollout: string, effects: readonly Effect[]): void;
}

interface Moved {
  run: Run;
  batch: Batch;
  merged: NonNullable<Batch["merged"]>;
  target: BatchTarget;
  plane: ControlPlane;
  name: string;
  application: ApplicationView | undefined;
  change: Change;
  also: readonly Change[];
  /** First parent of the merge, and what the repository yields there. */
  parent?: string | undefined;
  before?: SpecsByPlane | undefined;
  /** Of an Application that Git does not declare as it lives. */
  facts: Pick<Facts, "madeBefore">;
}

export function openSyncer({ planes, clock, log }: Pick<RepoContext, "planes" | "clock" | "log">): Syncer {
  const asked = new BoundedMap<string, { at: number; outcome: SyncOutcome | undefined }>(MOST_KEPT);
  /** What the last look made of it, and the wishes that wait for a place. */
  const seen = new BoundedMap<string, SyncWanted>(MOST_KEPT);
  const wishes = new Map<string, Wish & { rollout: string; wanted: SyncWanted }>();
  const lanes = openLanes(MOST_AT_ONCE, askOne);

  async function askOne(key: string): Promise<void> {
    const wish = wishes.get(key);
    wishes.delete(key);
    if (wish === undefined) return;
    const outcome = await attempt(wish);
    asked.set(idOf(wish), { at: clock.now(), outcome });
    const result = outcome.kind === "asked" ? "asked" : sentenceOf(outcome.why);
    log.info({ target: wish.target, revisions: wish.wanted.revisions, outcome: result }, "asked Argo CD for a sync");
  }

  async function attempt({ target, wanted }: Wish & { wanted: SyncWanted }): Promise<SyncOutcome> {
    const [planeName = "", namespace = "", name = ""] = target.split("/");
    try {
      const outcome = await planes.get(planeName)?.sync?.(namespace, name, wanted);
      return outcome ?? { kind: "refused", why: planeReason("SYNC_UNSAFE", { kind: "NotAllowed" }) };
    } catch (error) {
      return { kind: "refused", why: said(errorText(error).slice(0, 300)) };
    }
  }

  return {
    of({ run, batch, merged, target, plane, name, application, change, also, parent, before, facts }) {
      if (run.spec.stages[batch.stage]?.sync !== "Request" || application === undefined) return undefined;
      if (plane.sync === undefined) return { cannot: planeReason("SYNC_UNSAFE", { kind: "NotAllowed" }) };
      const changes = [change, ...also];
      const isInSpec = parent !== undefined && changes.some(({ kind }) => kind !== "commit");
      const made = () => (isInSpec ? facts.madeBefore(plane, application, { commit: merged.commit, parent }) : undefined);
      const wanted = syncWanted({ application, changes, parent, sourcesBefore: before?.get(plane.name)?.get(name)?.sources ?? made() });
      if ("cannot" in wanted) return wanted;
      const id = idOf({ target: target.key, commit: merged.commit });
      seen.set(id, wanted);
      const last = asked.get(id);
      if (last?.outcome === undefined) return { wanted };
      const answer = last.outcome.kind === "asked" ? ("asked" as const) : { refused: last.outcome.why };
      return { wanted, last: { at: iso(last.at), answer } };
    },
    keep(rollout, effects) {
      const kept = new Set(effects.flatMap((effect) => (effect.kind === "Sync" ? [idOf(effect)] : [])));
      for (const [key, wish] of wishes) if (wish.rollout === rollout && !kept.has(idOf(wish))) wishes.delete(key);
    },
    ask(rollout, wish) {
      const id = idOf(wish);
      const before = asked.get(id);
      if (planes.get(wish.target.slice(0, wish.target.indexOf("/")))?.state().fresh !== true) return true;
      const wanted = seen.get(id);
      if (wanted === undefined) return true;
      if (before !== undefined && clock.now() < before.at + ASK_AGAIN_MS) return true;
      asked.set(id, { at: clock.now(), outcome: before?.outcome });
      wishes.set(wish.target, { ...wish, rollout, wanted });
      lanes.add(wish.target);
      return true;
    },
  };
}

function idOf({ target, commit }: Pick<Wish, "target" | "commit">): string {
  return `${target} ${commit}`;
}
