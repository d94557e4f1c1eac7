import { ForgeError } from "../forge/port.ts";
import { PLAN_CHECK, type PlanCheckWords } from "../report/plan-check.ts";
import { nothingMore } from "../report/plan-comment.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { REFUSED_MARKER } from "./plan-check.ts";
import type { KnownPull } from "./plan-pulls.ts";

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

export function isCheckDue(known: KnownPull): boolean {
  const words = known.verdict?.of.check;
  return words !== undefined && known.check !== JSON.stringify(words);
}

export async function putCheck(context: RepoContext, memory: RepoMemory, known: KnownPull): Promise<void> {
  const words = known.verdict?.of.check;
  if (words === undefined || !isCheckDue(known)) return;
  await sendCheck(context, memory, known.head, words);
  known.check = JSON.stringify(words);
}

/** An App without `checks: write` has no check, and then nobody can require it. */
export async function sendCheck(context: RepoContext, memory: RepoMemory, head: string, words: PlanCheckWords): Promise<void> {
  if (memory.forbidden.has("checks")) return;
  try {
    await context.forge.putCheck({ name: PLAN_CHECK, head, ...words });
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== "Forbidden") throw error;
    memory.forbidden.add("checks");
    context.log.warn({ error: error.message }, "the App may not write checks: stagecoach/plan is left out");
  }
}
