import { PLAN_CHECK, type PlanCheckWords } from "../../core/report/plan/plan-check.ts";
import { nothingMore } from "../../core/report/plan/plan-comment.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";
import { lacksPermission } from "../round/permissions.ts";
import { REFUSED_MARKER } from "./plan-check.ts";
import type { KnownPull } from "./plans.ts";

/** Sends what differs; a comment of ours that is no longer true is put right, whoever of our processes wrote it. */
export async function putComments(context: RepoContext, pull: number, known: KnownPull): Promise<void> {
  const wanted = known.verdict?.of.comments ?? new Map<string, string>();
  if (known.comments === undefined) {
    if (wanted.size === 0 && known.verdict?.of.concerns !== true) return;
    known.comments = await ourComments(context, pull);
  }
  for (const [marker, body] of wanted) await put(marker, body);
  for (const marker of known.comments.keys()) {
    // Where it cannot be said now what the PR does, what was said of it stands.
    const over = marker === REFUSED_MARKER ? known.verdict?.of.readable : known.verdict?.of.settled;
    if (wanted.has(marker) || over !== true) continue;
    const rollout = marker.split(":")[2];
    await put(marker, marker === REFUSED_MARKER ? nothingMore("solved") : nothingMore("noRelease", rollout));
  }
  async function put(marker: string, body: string): Promise<void> {
    if (known.comments?.get(marker) === body) return;
    await context.forge.stickyComment(pull, marker, body);
    known.comments?.set(marker, body);
  }
}

/** Markers of the comments about plans that are there already; what they say is not known. */
async function ourComments(context: RepoContext, pull: number): Promise<Map<string, string>> {
  const markers = new Map<string, string>();
  for (const { ours, body } of await context.forge.comments(pull)) {
    const marker = /^<!-- (stagecoach:(?:refused|rollout:[a-z0-9.-]+)) -->/.exec(body)?.[1];
    if (ours && marker !== undefined) markers.set(marker, "");
  }
  return markers;
}

/** Where it may not be written none is due: nothing is noted as said until it is. */
export function isCheckDue(memory: RepoMemory, known: KnownPull): boolean {
  const words = known.verdict?.of.check;
  if (words === undefined || memory.permissions.isForbidden("checks")) return false;
  return known.check !== JSON.stringify(words) || memory.reruns.isAsked(known.head, PLAN_CHECK);
}

export async function putCheck(context: RepoContext, memory: RepoMemory, known: KnownPull): Promise<void> {
  const words = known.verdict?.of.check;
  if (words === undefined || !isCheckDue(memory, known)) return;
  if (await sendCheck(context, memory, known.head, words)) known.check = JSON.stringify(words);
}

/** An App without `checks: write` has no check, and then nobody can require it. False: it was not sent for that reason. */
export async function sendCheck(context: RepoContext, memory: RepoMemory, head: string, words: PlanCheckWords): Promise<boolean> {
  if (memory.permissions.isForbidden("checks")) return false;
  try {
    await memory.reruns.send(head, PLAN_CHECK, (afresh) =>
      context.forge.putCheck({ name: PLAN_CHECK, head, ...words, ...(afresh ? { afresh } : {}) }),
    );
    return true;
  } catch (error) {
    if (!lacksPermission(error)) throw error;
    memory.permissions.forbid("checks", error);
    return false;
  }
}
