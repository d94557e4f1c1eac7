import type { RepoContext } from "../../../engine/round/context.ts";
import { type OnboardingOutcome, onboard } from "./onboard.ts";

/** What could not be decided is looked at again after this. */
const LATER_MS = 30_000;
/** Between two looks at a repo that has nothing to onboard: at first soon, since whoever installs often pushes right after. */
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** What rollouts are proposed from: scan.ts reads no other files. */
const MATTERS = /\.(?:ya?ml|json)$/;

interface Nothing {
  /** Undefined: there was no commit. */
  base: string | undefined;
  /** Epoch milliseconds of the last look, and the wait until there may be another. */
  at: number;
  waitMs: number;
}

const nothing = new WeakMap<RepoContext, Nothing>();

/** `settled`: this process asks no more. `wakeAt`: to be called again then, in epoch milliseconds; absent: with the next change. */
export interface Onboarding {
  settled: boolean;
  wakeAt?: number;
}

/**
 * Whether the repo wants to be onboarded, each time it may want to anew: one that had nothing of Argo CD's (it was empty, or its
 * ApplicationSets were not pushed yet) is looked through again when its base has moved in files that matter, at most every ten
 * minutes. Never throws.
 */
export async function onboardOnceWanted(context: RepoContext, baseBranch: string): Promise<Onboarding> {
  try {
    const before = nothing.get(context);
    const base = await context.mirror.head(baseBranch);
    if (before !== undefined) {
      if (before.base === base) return { settled: false };
      const due = before.at + before.waitMs;
      if (context.clock.now() < due) return { settled: false, wakeAt: due };
      if (!(await mattered(context, before.base, base))) {
        before.base = base;
        return { settled: false };
      }
    }
    return noted(context, base, before, await onboard(context, baseBranch));
  } catch (error) {
    context.log.warn({ repository: context.repository, error: String(error) }, "onboarding failed; trying again");
    return { settled: false, wakeAt: context.clock.now() + LATER_MS };
  }
}

function noted(context: RepoContext, base: string | undefined, before: Nothing | undefined, outcome: OnboardingOutcome): Onboarding {
  const now = context.clock.now();
  if (outcome === "later") return { settled: false, wakeAt: now + LATER_MS };
  if (outcome !== "nothing yet") return { settled: true };
  const waitMs = before === undefined ? FIRST_WAIT_MS : Math.min(2 * before.waitMs, LONGEST_WAIT_MS);
  nothing.set(context, { base, at: now, waitMs });
  return { settled: false };
}

/** Where it cannot be told what changed, it is looked at. */
async function mattered(context: RepoContext, from: string | undefined, to: string | undefined): Promise<boolean> {
  if (to === undefined) return false;
  if (from === undefined) return true;
  try {
    return (await context.mirror.changedPaths(from, to)).some((path) => MATTERS.test(path));
  } catch {
    return true;
  }
}
