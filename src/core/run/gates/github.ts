/**
 * What GitHub's own rules want before it merges a PR, and what it answered when it was asked to. A required check is always waited
 * for, also where the App could bypass it; anything else is put to GitHub once, since only its answer tells whether the App may
 * bypass that rule, and then again when it changes.
 */
import { epoch, iso, type Time } from "../../base/time.ts";
import type { MergeObstacle, PullNeed } from "../../reasons/gates.ts";
import { runReason } from "../../reasons/run.ts";
import { type Scene, type Wait, wait } from "../state/decision.ts";
import { pullRef } from "../state/names.ts";
import type { Batch, Next } from "../state/run.ts";
import type { ObservedPull } from "../state/world.ts";
import { obstaclesIn } from "./github-words.ts";

/** A required check that has said nothing for so long is probably never run for such a PR. */
const SILENT_MS = 10 * 60_000;
/** GitHub computes mergeability when asked for it; a second look is soon worth it. */
const MERGEABLE_MS = 2_000;

export function githubGate({ now }: Scene, batch: Batch, observed: ObservedPull): Wait | undefined {
  const pull = pullRef(observed);
  if (observed.mergeable === "unknown")
    return wait(runReason("MERGEABLE_UNKNOWN", { pull }), { what: runReason("NEXT_GITHUB_ANSWERS") }, now + MERGEABLE_MS);
  if (observed.mergeable !== "blocked") return refusedBefore(now, batch, observed);
  if (observed.gate !== undefined && observed.gate !== "passed")
    return wait(runReason("GATE_UNSEEN", { pull }), { what: runReason("NEXT_GATE_SEEN") }, now + MERGEABLE_MS);
  const { needs } = observed;
  if (needs === undefined) return wait(runReason("GITHUB_BLOCKS", { pull }), { what: runReason("NEXT_GITHUB_RULES") });
  if (needs.length === 0) return refusedBefore(now, batch, observed);
  if (!needs.some(isCheck) && refusedBefore(now, batch, observed) === undefined) return undefined;
  return wantedBy(needs, observed, now);
}

function isCheck(need: PullNeed): need is Extract<PullNeed, { kind: "check" }> {
  return need.kind === "check";
}

/** What the base branch's rules still want of a PR, and what somebody has to do about it. */
function wantedBy(needs: PullNeed[], observed: ObservedPull, now: number): Wait {
  const mute = needs.find((need) => isCheck(need) && need.state === "silent");
  const due = epoch(observed.openedAt) + SILENT_MS;
  const silent = mute !== undefined && now >= due;
  const what = silent && isCheck(mute) ? runReason("NEXT_CHECK_REPORTS", { check: mute.name }) : whatNext(needs);
  const why = runReason("GITHUB_WANTS", { pull: pullRef(observed), needs, silent });
  return wait(why, { what }, mute !== undefined && !silent ? due : undefined);
}

function whatNext(needs: readonly PullNeed[]): Next["what"] {
  const checks = needs.filter(isCheck);
  if (checks.some((check) => check.state === "failed")) return runReason("NEXT_CHECK_PASSES");
  if (checks.length > 0) return runReason("NEXT_CHECKS_DONE");
  if (needs.some((need) => need.kind === "signatures" || need.kind === "method")) return runReason("NEXT_RULE_CHANGED");
  return runReason("NEXT_REVIEWED");
}

function refusedBefore(now: number, batch: Batch, observed: ObservedPull): Wait | undefined {
  const { refused } = batch;
  if (refused === undefined || refused.key !== refusalKey(observed)) return undefined;
  const again = askAgainAt(now, refused, observed);
  if (now >= again) return undefined;
  const obstacles = obstaclesIn(refused.message);
  const check = silentIn(obstacles, observed.openedAt, now);
  const next =
    check === undefined ? { what: runReason("NEXT_TRIED_AGAIN"), eta: iso(again) } : { what: runReason("NEXT_CHECK_REPORTS", { check }) };
  return wait(runReason("GITHUB_ANSWERED", { pull: pullRef(observed), obstacles, message: refused.message }), next, again);
}

/** Checks of ours, by name, or any that a count may be of. */
const OURS_NAMED = /"stagecoach\/(?:gate|plan)"/i;
const CHECKS_COUNTED = /\d+ of \d+ required status checks/i;
/** GitHub takes a moment to know of a check that it was told of. */
const SOONEST_MS = 2_000;
const LATE_MS = 60_000;

/**
 * A refusal for want of a check of ours ends with that check: what was posted green since GitHub was asked makes it worth asking at once,
 * and one that was there before, and GitHub had not noticed, ever later.
 */
function askAgainAt(now: number, { message, at }: NonNullable<Batch["refused"]>, { greenAt }: ObservedPull): number {
  const asked = epoch(at);
  const named = OURS_NAMED.test(message);
  if (!named && !CHECKS_COUNTED.test(message)) return asked + SILENT_MS;
  // It is on its way: nothing else would tell that it is there.
  if (greenAt === undefined) return named && now < asked + LATE_MS ? now + SOONEST_MS : asked + SILENT_MS;
  if (epoch(greenAt) >= asked) return now;
  return asked + (named ? Math.min(SILENT_MS, Math.max(SOONEST_MS, asked - epoch(greenAt))) : SILENT_MS);
}

/** What a refusal was said of: another head, another answer of GitHub, another thing missing make it worth asking again. */
export function refusalKey(pull: ObservedPull): string {
  return JSON.stringify([pull.head, pull.mergeable, pull.needs ?? null, pull.gate ?? null]);
}

/** GitHub's words name a required check that never reported where its rules cannot be read (classic branch protection). */
function silentIn(obstacles: readonly MergeObstacle[], openedAt: Time, now: number): string | undefined {
  if (now < epoch(openedAt) + SILENT_MS) return undefined;
  for (const one of obstacles) if (one.kind === "check" && one.state === "silent") return one.name;
  return undefined;
}
