/**
 * What is asked of hooks, as it is kept and followed. Each request is journalled before it is made; its answer comes back with
 * the world. A request whose answer was lost in a crash is made again: same event, same id, so a hook can tell.
 */

import { reasonsOf, sameWords, type Words } from "../../base/reason.ts";
import { epoch, iso } from "../../base/time.ts";
import type { CheckReasons } from "../../reasons/checks.ts";
import type { HookRef } from "../../reasons/refs.ts";
import type { Command } from "../../spec/commands.ts";
import type { HookWhen } from "../../spec/rollout.ts";
import { failRun } from "../outcome/failures.ts";
import { change, type Draft, pause, wakeAt } from "../state/draft.ts";
import { type HookAnswer, type HookCall, hookTryKey } from "../state/hooks-types.ts";
import type { Run } from "../state/run.ts";

/** Requests in a row without a usable answer, after which a person is asked. */
export const MOST_ERRORS = 5;
const FIRST_RETRY_MS = 2000;
const RETRY_FACTOR = 4;

const check = reasonsOf<CheckReasons>();

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

/** `hook 1 before stage "eu-west-1" (hooks.example.com)`. Of the address the host only: the rest may hold a secret. */
export function hookTitle(run: Run, { stage, when, index }: HookPlace): string {
  const of = `stage "${run.plan.stages[stage]?.name ?? ""}"`;
  const host = hookHost(run.spec.stages[stage]?.hooks?.[when][index]?.url ?? "");
  const place = when === "onFailure" ? `on failure of ${of}` : `${when} ${of}`;
  return `hook ${index + 1} ${place}${host === "" ? "" : ` (${host})`}`;
}

export function hookHost(url: string): string {
  return /^https?:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(url)?.[1] ?? "";
}

/** Journals a new event and has it sent. */
export function callHook(draft: Draft, place: HookPlace, attempt: number, failures?: HookCall["failures"]): void {
  const { rollout, number } = draft.run;
  const { stage, when, index } = place;
  const call: HookCall = {
    id: `${rollout}/${number}/${stage + 1}/${when}/${index + 1}/${attempt}`,
    ...{ stage, when, index, attempt },
    phase: "Calling",
    why: check("HOOK_ASKED", { again: false }),
    tries: 1,
    errors: 0,
    since: draft.at,
    ...(failures === undefined ? {} : { failures }),
  };
  const calls = draft.run.hooks ?? [];
  const others = when === "onFailure" ? calls : calls.filter((one) => one.stage !== stage || one.when !== when || one.index !== index);
  change(draft, { hooks: [...others, call] }, check("HOOK_ASKED", { hook: hookRef(draft.run, place), again: false }));
  // The event that it replaces is not sent any more, were it in this very round.
  const gone = calls.filter((one) => !others.includes(one)).map((one) => one.id);
  const at = draft.effects.findIndex((effect) => effect.kind === "CallHook" && gone.includes(effect.hook));
  if (at >= 0) draft.effects.splice(at, 1);
  draft.effects.push({ kind: "CallHook", hook: call.id, request: 1 });
}

function put(draft: Draft, call: HookCall, event?: Words): void {
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
  put(draft, { ...rest, phase: "Calling", tries: call.tries + 1 }, check("HOOK_ASKED", { hook: hookRef(draft.run, call), again: true }));
  draft.effects.push({ kind: "CallHook", hook: call.id, request: call.tries + 1 });
}

function take(draft: Draft, call: HookCall, answer: HookAnswer): void {
  switch (answer.kind) {
    case "go":
      end(draft, call, "Done", answer.message === "" ? check("HOOK_SAID", { said: "go" }) : answer.message);
      return;
    case "fail":
      end(draft, call, "Failed", answer.message === "" ? check("HOOK_SAID", { said: "fail" }) : answer.message);
      return;
    case "hold":
      hold(draft, call, answer);
      return;
    case "error":
      retry(draft, call, answer);
  }
}

function end(draft: Draft, call: HookCall, phase: HookCall["phase"], why: Words): void {
  put(draft, { ...call, phase, why, endedAt: draft.at }, check("HOOK_ENDED", { hook: hookRef(draft.run, call), phase, because: why }));
}

function hold(draft: Draft, call: HookCall, { message, forMs }: Extract<HookAnswer, { kind: "hold" }>): void {
  const why = message === "" ? check("HOOK_SAID", { said: "wait" }) : message;
  const most = draft.run.spec.waitingDeadlineMs;
  // Nobody waits for the answer of those that are only told.
  if (call.when === "onFailure") end(draft, call, "Done", why);
  else if (draft.now - epoch(call.since) >= most) end(draft, call, "Error", check("HOOK_HELD_TOO_LONG", { forMs: most, because: why }));
  else {
    const nextAt = iso(draft.now + forMs);
    const event = sameWords(call.why, why) ? undefined : check("HOOK_HOLDS", { hook: hookRef(draft.run, call), because: why });
    put(draft, { ...call, phase: "Held", why, errors: 0, nextAt }, event);
    wakeAt(draft, draft.now + forMs);
  }
}

function retry(draft: Draft, call: HookCall, { message, again }: Extract<HookAnswer, { kind: "error" }>): void {
  const errors = call.errors + 1;
  if (!again || errors >= MOST_ERRORS) {
    end(draft, { ...call, errors }, "Error", errors === 1 ? message : check("HOOK_ASKED_OFTEN", { times: errors, because: message }));
    return;
  }
  const wait = FIRST_RETRY_MS * RETRY_FACTOR ** (errors - 1);
  put(
    draft,
    { ...call, phase: "Waiting", why: message, errors, nextAt: iso(draft.now + wait) },
    check("HOOK_NOT_ANSWERED", { hook: hookRef(draft.run, call), because: message }),
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

/** What a hook said fails the run goes by the policy; one that cannot be asked says nothing of the release: somebody is asked. */
export function judgeHooks(draft: Draft): void {
  const bad = (draft.run.hooks ?? []).filter((call) => isBadHook(call) && !isToleratedHook(draft.run, call));
  const failed = bad.find((call) => call.phase === "Failed");
  if (failed !== undefined) {
    const why = check("HOOK_FAILED_RUN", { hook: hookRef(draft.run, failed), because: failed.why });
    failRun(draft, why, check("ASK_FAILED_CHECK", { again: "asks" }));
    return;
  }
  const [first] = bad;
  if (first === undefined) return;
  const why = check("HOOK_UNDECIDED", { hook: hookRef(draft.run, first), because: first.why });
  pause(draft, "Undecided", "stagecoach", why, check("ASK_UNDECIDED_CHECK", { again: "asks" }));
}

export function failedHooks(run: Run): HookRef[] {
  return (run.hooks ?? []).flatMap((call) => (isBadHook(call) && isToleratedHook(run, call) ? [hookRef(run, call)] : []));
}

/** `/resume`: those that had ended badly when it was written do not hold any more. */
export function acceptHooks(draft: Draft, command: Command): HookRef[] {
  const accepted: HookRef[] = [];
  for (const call of draft.run.hooks ?? []) {
    if (!isBadHook(call) || epoch(call.endedAt ?? draft.at) > epoch(command.createdAt) + 999) continue;
    const hook = hookRef(draft.run, call);
    const event = check("ANALYSIS_ACCEPTED", { check: hook, by: command.actor });
    put(draft, { ...call, accepted: { by: command.actor, at: draft.at } }, event);
    accepted.push(hook);
  }
  return accepted;
}

/** `/retry`: those that ended badly are asked anew, with an event of their own. */
export function retryHooks(draft: Draft): HookRef[] {
  const again: HookRef[] = [];
  for (const call of draft.run.hooks ?? []) {
    if (!isBadHook(call)) continue;
    callHook(draft, call, call.attempt + 1);
    again.push(hookRef(draft.run, call));
    if (call.stage < draft.run.stage) change(draft, { stage: call.stage });
  }
  return again;
}
