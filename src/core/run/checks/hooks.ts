/**
 * What is asked of hooks, as it is kept and followed. Each request is journalled before it is made; its answer comes back with
 * the world. A request whose answer was lost in a crash is made again: same event, same id, so a hook can tell.
 */
import { type AnyReason, sameReason } from "../../base/reason.ts";
import { epoch, iso } from "../../base/time.ts";
import type { HookRef } from "../../reasons/refs.ts";
import { runReason, said } from "../../reasons/run.ts";
import type { HookWhen } from "../../spec/rollout.ts";
import { change, type Draft, wakeAt } from "../state/draft.ts";
import { type HookAnswer, type HookCall, type HookFailure, hookTryKey } from "../state/hooks-types.ts";
import type { Run } from "../state/run.ts";

/** Requests in a row without a usable answer, after which a person is asked. */
const MOST_ERRORS = 5;
const FIRST_RETRY_MS = 2000;
const RETRY_FACTOR = 4;

export interface HookPlace {
  stage: number;
  when: HookWhen;
  index: number;
}

export function hookCallAt(run: Pick<Run, "hooks">, place: HookPlace): HookCall | undefined {
  return run.hooks?.findLast((call) => call.stage === place.stage && call.when === place.when && call.index === place.index);
}

/** Returns a hook as reasons name it. */
export function hookRef(run: Run, { stage, when, index }: HookPlace): HookRef {
  const host = hookHost(run.spec.stages[stage]?.hooks?.[when][index]?.url ?? "");
  return { number: index + 1, when, stage: run.plan.stages[stage]?.name ?? "", host };
}

export function hookHost(url: string): string {
  return /^https?:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(url)?.[1] ?? "";
}

/** Journals a new event and has it sent. */
export function callHook(draft: Draft, place: HookPlace, attempt: number, failures?: HookFailure[]): void {
  const { rollout, number } = draft.run;
  const { stage, when, index } = place;
  const call: HookCall = {
    id: `${rollout}/${number}/${stage + 1}/${when}/${index + 1}/${attempt}`,
    ...{ stage, when, index, attempt },
    phase: "Calling",
    why: runReason("HOOK_ASKED", { again: false }),
    tries: 1,
    errors: 0,
    since: draft.at,
    failures,
  };
  const calls = draft.run.hooks ?? [];
  const others = when === "onFailure" ? calls : calls.filter((one) => one.stage !== stage || one.when !== when || one.index !== index);
  change(draft, { hooks: [...others, call] }, runReason("HOOK_ASKED", { hook: hookRef(draft.run, place), again: false }));
  // The event that it replaces is not sent any more, were it in this very round.
  const gone = calls.filter((one) => !others.includes(one)).map((one) => one.id);
  const at = draft.effects.findIndex((effect) => effect.kind === "CallHook" && gone.includes(effect.hook));
  if (at >= 0) draft.effects.splice(at, 1);
  draft.effects.push({ kind: "CallHook", hook: call.id, request: 1 });
}

export function putHook(draft: Draft, call: HookCall, event?: AnyReason): void {
  const hooks = (draft.run.hooks ?? []).map((one) => (one.id === call.id ? call : one));
  change(draft, { hooks }, event);
}

/** Takes in what hooks answered, and has them asked again that are to be. */
export function followHooks(draft: Draft): void {
  for (const call of draft.run.hooks ?? []) {
    if (call.phase === "Calling") follow(draft, call);
    else if (call.phase === "Waiting" || call.phase === "Held") askAgain(draft, call);
  }
}

function follow(draft: Draft, call: HookCall): void {
  const answer = draft.world.hooks?.get(hookTryKey(call.id, call.tries));
  if (answer !== undefined) take(draft, call, answer);
  else if (draft.world.hooks !== undefined) draft.effects.push({ kind: "CallHook", hook: call.id, request: call.tries });
}

function askAgain(draft: Draft, call: HookCall): void {
  const due = epoch(call.nextAt ?? draft.at);
  if (draft.now < due) {
    wakeAt(draft, due);
    return;
  }
  const { nextAt: _, ...rest } = call;
  putHook(
    draft,
    { ...rest, phase: "Calling", tries: call.tries + 1 },
    runReason("HOOK_ASKED", { hook: hookRef(draft.run, call), again: true }),
  );
  draft.effects.push({ kind: "CallHook", hook: call.id, request: call.tries + 1 });
}

function take(draft: Draft, call: HookCall, answer: HookAnswer): void {
  switch (answer.kind) {
    case "go":
      end(draft, call, "Done", saidOr("go", answer.message));
      return;
    case "fail":
      end(draft, call, "Failed", saidOr("fail", answer.message));
      return;
    case "hold":
      hold(draft, call, answer);
      return;
    case "error":
      retry(draft, call, answer);
  }
}

/** What it said, in its own words where it used any. */
function saidOr(answer: "go" | "fail" | "wait", message: string): AnyReason {
  return message === "" ? runReason("HOOK_SAID", { said: answer }) : said(message);
}

function end(draft: Draft, call: HookCall, phase: HookCall["phase"], why: AnyReason): void {
  putHook(
    draft,
    { ...call, phase, why, endedAt: draft.at },
    runReason("HOOK_ENDED", { hook: hookRef(draft.run, call), phase, because: why }),
  );
}

function hold(draft: Draft, call: HookCall, { message, forMs }: Extract<HookAnswer, { kind: "hold" }>): void {
  const why = saidOr("wait", message);
  const most = draft.run.spec.waitingDeadlineMs;
  // Nobody waits for the answer of those that are only told.
  if (call.when === "onFailure") end(draft, call, "Done", why);
  else if (draft.now - epoch(call.since) >= most) end(draft, call, "Error", runReason("HOOK_HELD_TOO_LONG", { forMs: most, because: why }));
  else {
    const nextAt = iso(draft.now + forMs);
    const event = sameReason(call.why, why) ? undefined : runReason("HOOK_HOLDS", { hook: hookRef(draft.run, call), because: why });
    putHook(draft, { ...call, phase: "Held", why, errors: 0, nextAt }, event);
    wakeAt(draft, draft.now + forMs);
  }
}

function retry(draft: Draft, call: HookCall, { message: because, again }: Extract<HookAnswer, { kind: "error" }>): void {
  const errors = call.errors + 1;
  if (!again || errors >= MOST_ERRORS) {
    end(draft, { ...call, errors }, "Error", errors === 1 ? because : runReason("HOOK_ASKED_OFTEN", { times: errors, because }));
    return;
  }
  const wait = FIRST_RETRY_MS * RETRY_FACTOR ** (errors - 1);
  putHook(
    draft,
    { ...call, phase: "Waiting", why: because, errors, nextAt: iso(draft.now + wait) },
    runReason("HOOK_NOT_ANSWERED", { hook: hookRef(draft.run, call), because }),
  );
  wakeAt(draft, draft.now + wait);
}

/** Failed where the policy is to go on all the same. */
export function isToleratedHook(run: Run, { phase }: Pick<HookCall, "phase">): boolean {
  return run.spec.onFailure.action === "Continue" && phase === "Failed";
}

/** Over, and not as it should be; nobody has accepted it. Those that are only told are recorded, and change nothing. */
export function isBadHook(call: HookCall): boolean {
  return call.when !== "onFailure" && (call.phase === "Failed" || call.phase === "Error") && call.accepted === undefined;
}
